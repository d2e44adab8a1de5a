/** The state of the work page, and what can be done with its session. */
import { follow, type Status } from '../../api/client.ts';
import type {
  ActRequest,
  BrowserTab,
  Inspection,
  LogEntry,
  LogUpdate,
  ScreenElement,
  ScreenUpdate,
  StepsUpdate,
  StudioStep,
} from '../../generated/messages.ts';
import { store, type Store } from '../../shared/store.ts';
import { api, ask, done, known, locked, say, trouble } from '../app.ts';
import { isSameAt, sameElement, screenOf, type Screen } from '../hit.ts';

export type Mode = 'act' | 'assert' | 'inspect';
export type Tab = 'steps' | 'tree' | 'tools' | 'memory' | 'log';
export type Action = Omit<ActRequest, 'workspace' | 'session' | 'generation'>;

export interface Session {
  name: string;
  screen: Store<Screen | null>;
  /** What the screen shows besides elements. */
  about: Store<{ app: string; leftOut: number; lost: string }>;
  /** The tabs of a browser. */
  tabs: Store<BrowserTab[]>;
  steps: Store<StepsUpdate | null>;
  log: Store<LogEntry[]>;
  status: Store<Status>;
  mode: Store<Mode>;
  tab: Store<Tab>;
  /** Places of elements: the one under the pointer, the one that was picked, and those that a selector matches. */
  hovered: Store<number>;
  picked: Store<number>;
  matches: Store<number[]>;
  /** Text that was typed on the picture and not sent yet. */
  typed: Store<string>;
  /** What an input method is composing on the picture. It becomes typed text when it is done. */
  composing: Store<string>;
  /** Whether keys go to the device. */
  hasKeys: Store<boolean>;
  /** Text that was refused, so that the user can send it again. */
  unsent: Store<string>;
  /** How many actions are on their way. */
  pending: Store<number>;
  /** Counts the actions that were refused because the screen had changed. */
  refused: Store<number>;
  onPicture: ((base64: string, type: string) => void) | undefined;
  inspections: Map<string, Promise<Inspection | undefined>>;
}

export function session(name: string): Session {
  return {
    name,
    screen: store<Screen | null>(null),
    about: store({ app: '', leftOut: 0, lost: '' }),
    tabs: store<BrowserTab[]>([]),
    steps: store<StepsUpdate | null>(null),
    log: store<LogEntry[]>([]),
    status: store<Status>('connecting'),
    mode: store<Mode>('act'),
    tab: store<Tab>('steps'),
    hovered: store(-1),
    picked: store(-1),
    matches: store<number[]>([]),
    typed: store(''),
    composing: store(''),
    hasKeys: store(false),
    unsent: store(''),
    pending: store(0),
    refused: store(0),
    onPicture: undefined,
    inspections: new Map(),
  };
}

/** The platform of the session's device, such as `web`; empty while it is not known. */
export function platformOf(of: Session): string {
  const platform = known.value?.sessions.find((one) => one.name === of.name)?.platform ?? '';
  return platform || (/^(https?|file|about|data|chrome):/.test(of.about.value.app) ? 'web' : '');
}

// ---- Following.

/** Follows the session. Returns a function that ends it. */
export function watch(of: Session): () => void {
  return follow(
    (signal) => api.watchSession({ session: of.name }, signal),
    ({ screen, steps, log }) => {
      if (screen) takeScreen(of, screen);
      if (steps) of.steps.set(steps);
      if (log) takeLog(of, log);
    },
    (status) => {
      if (typeof status === 'object' && status.code === 'unauthenticated') trouble(status);
      of.status.set(status);
    },
  );
}

function takeScreen(of: Session, update: ScreenUpdate): void {
  const { generation, width, height, app, leftOut, lost } = update;
  const about = of.about.value;
  if (about.app !== app || about.leftOut !== leftOut || about.lost !== lost) of.about.set({ app, leftOut, lost });
  if (JSON.stringify(of.tabs.value) !== JSON.stringify(update.tabs)) of.tabs.set(update.tabs);
  const old = of.screen.value;
  if (update.hasElements || !old || old.generation !== generation || old.width !== width || old.height !== height) {
    const screen = screenOf(generation, update.hasElements || !old ? update.elements : old.elements, width, height);
    of.inspections.clear();
    // What was picked stays picked if it is still there.
    const picked = old?.elements[of.picked.value];
    const still = picked && sameElement(picked, screen);
    of.screen.set(screen);
    of.picked.set(still ? still.index : -1);
  }
  if (update.picture) of.onPicture?.(update.picture, update.pictureType);
}

const MOST_ENTRIES = 2000;

function takeLog(of: Session, { isReset, entries }: LogUpdate): void {
  const numbers = new Map((isReset ? [] : of.log.value).map((entry) => [entry.number, entry]));
  for (const entry of entries) numbers.set(entry.number, entry);
  of.log.set([...numbers.values()].sort((a, b) => a.number - b.number).slice(-MOST_ENTRIES));
}

/** How an element can be found. Asked once per element and screen. */
export function inspect(of: Session, element: number): Promise<Inspection | undefined> {
  const generation = of.screen.value?.generation ?? 0;
  const key = `${generation}/${element}`;
  let asked = of.inspections.get(key);
  if (!asked) {
    asked = api.inspect({ session: of.name, generation, element }).then(
      (found) => (found.isStale ? undefined : found),
      () => undefined,
    );
    of.inspections.set(key, asked);
  }
  return asked;
}

// ---- Acting. One after the other, each aimed at the screen that the user saw.

let queue: Promise<unknown> = Promise.resolve();

/**
 * Acts on the screen that was shown when the user aimed. Returns whether it was done.
 * With `isExtra`, nothing is said if the screen changed: the second click of a double click is often not meant.
 */
export function act(of: Session, action: Action, aimedAt = of.screen.value, isExtra = false): Promise<boolean> {
  release();
  if (!aimedAt || locked.value) return Promise.resolve(false);
  const typed = takeTyped(of);
  return inOrder(of, async () => {
    if (!typed) return send(of, aimedAt.generation, action, isExtra);
    if (!(await type(of, typed))) return false;
    // Typing changed the screen. The action is still meant if its target did not change.
    const screen = (await until(of.screen, (now) => now?.generation !== aimedAt.generation)) ?? aimedAt;
    const target = aimedAt.elements[action.element ?? -1];
    const still = target && sameElement(target, screen);
    const isCovered = action.x !== undefined && action.y !== undefined && !isSameAt(aimedAt, screen, action.x, action.y);
    if (isCovered || (target && !still)) return refuse(of, isExtra);
    return send(of, screen.generation, { ...action, element: still?.index ?? -1 }, isExtra);
  });
}

async function send(of: Session, generation: number, action: Action, isExtra = false): Promise<boolean> {
  const reply = await ask(api.act({ session: of.name, generation, element: -1, ...action }));
  if (!reply) return false;
  if (reply.isStale) return refuse(of, isExtra);
  if (!reply.isDone) say(reply.text || 'It was not done.', 'error');
  return reply.isDone;
}

function refuse(of: Session, isExtra: boolean): false {
  if (isExtra) return false;
  of.refused.set(of.refused.value + 1);
  say('The screen changed; nothing was done.', 'error');
  return false;
}

/** A tap that waits for a moment, because a second click would make it a double click. */
let held: { of: Session; go: () => void; timer: ReturnType<typeof setTimeout> } | undefined;

export function hold(of: Session, ms: number, go: () => void): void {
  release();
  of.pending.set(of.pending.value + 1);
  held = { of, go, timer: setTimeout(release, ms) };
}

/** Forgets the tap that waits. Returns whether there was one. */
export function takeHeld(): boolean {
  if (!held) return false;
  clearTimeout(held.timer);
  held.of.pending.set(held.of.pending.value - 1);
  held = undefined;
  return true;
}

/** Sends the tap that waits, so that what comes now comes after it. */
export function release(): void {
  const go = held?.go;
  if (takeHeld()) go?.();
}

async function inOrder<T>(of: Session, work: () => Promise<T>): Promise<T> {
  of.pending.set(of.pending.value + 1);
  const mine = queue.then(work, work);
  queue = mine.catch(() => undefined);
  try {
    return await mine;
  } finally {
    of.pending.set(of.pending.value - 1);
  }
}

/** Waits until a store holds what is wanted, but not long. */
function until<T>(from: Store<T>, isWanted: (value: T) => boolean): Promise<T> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      stop();
      resolve(from.value);
    };
    const timer = setTimeout(finish, 1000);
    const stop = from.follow((value) => {
      if (isWanted(value)) finish();
    });
    if (isWanted(from.value)) finish();
  });
}

// ---- Typing: collected, and sent after a pause or before the next action.

const PAUSE_MS = 700;
let pause: ReturnType<typeof setTimeout> | undefined;

export function typeMore(of: Session, text: string): void {
  release();
  of.typed.set(text);
  clearTimeout(pause);
  pause = setTimeout(() => void flush(of), PAUSE_MS);
}

export function flush(of: Session): Promise<boolean> {
  const typed = takeTyped(of);
  return typed ? inOrder(of, () => type(of, typed)) : Promise.resolve(true);
}

function takeTyped(of: Session): string {
  clearTimeout(pause);
  const typed = of.typed.value;
  of.typed.set('');
  return typed;
}

/** Types into the field that has the focus. */
async function type(of: Session, text: string): Promise<boolean> {
  const generation = of.screen.value?.generation ?? 0;
  const isDone = await send(of, generation, { action: 'type', text });
  if (!isDone) of.unsent.set(of.unsent.value + text);
  return isDone;
}

/** Types what was refused before. */
export function sendAgain(of: Session): Promise<boolean> {
  const text = of.unsent.value;
  of.unsent.set('');
  return inOrder(of, () => type(of, text));
}

// ---- Steps.

/** Makes new steps; `undefined` if what it was meant for is gone. */
type Change = (steps: StudioStep[]) => StudioStep[] | undefined;
let edits: Promise<unknown> = Promise.resolve();

/** Changes the steps, one change after the other. If somebody else changed them, what the user wrote is kept in a message. */
export function edit(of: Session, change: Change, kept?: string): Promise<boolean> {
  const mine = edits.then(() => changeSteps(of, change, kept));
  edits = mine.catch(() => undefined);
  return mine;
}

async function changeSteps(of: Session, change: Change, kept?: string): Promise<boolean> {
  const current = of.steps.value;
  if (!current) return false;
  const steps = change(current.steps);
  if (!steps) {
    say('That step was changed elsewhere. Nothing was overwritten.', 'error', kept);
    return false;
  }
  // Shown at once; the stream brings what the daemon made of it.
  of.steps.set({ ...current, steps });
  const reply = await ask(api.editSteps({ session: of.name, revision: current.revision, steps }));
  if (reply?.isDone) {
    // The next change must name the revision that this one made.
    await until(of.steps, (now) => now?.revision !== current.revision);
    return true;
  }
  if (of.steps.value?.revision === current.revision) of.steps.set(current);
  if (reply) say(reply.isStale ? 'The steps were changed elsewhere. Nothing was overwritten.' : reply.text, 'error', kept);
  else if (kept !== undefined) say('This was not saved:', 'error', kept);
  return false;
}

export function undo(of: Session, redo = false): Promise<boolean> {
  const steps = of.steps.value;
  if (!steps || !(redo ? steps.canRedo : steps.canUndo)) return Promise.resolve(false);
  return done(api.undoSteps({ session: of.name, revision: steps.revision, redo }));
}

/** Calls a tool as a new step, in words that are made from the call if there are none. */
export function call(of: Session, tool: string, args: Record<string, unknown>, text = ''): Promise<boolean> {
  release();
  return inOrder(of, () => done(api.callStudioTool({ session: of.name, tool, arguments: args, text })));
}

/** An element in one line, such as `EditText "Email" · id email`. */
export function described({ role, name, id }: ScreenElement): string {
  return `${role}${name ? ` "${name.slice(0, 80)}"` : ''}${id ? ` · id ${id}` : ''}`;
}

export const describe = (element: ScreenElement): string =>
  [element.role, element.name && `“${element.name}”`, element.id && `#${element.id}`].filter(Boolean).join(' ');
