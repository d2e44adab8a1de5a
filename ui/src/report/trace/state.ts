/** What is chosen in the trace of an attempt. All that changes while somebody looks at it is here. */
import { store, type Store } from '../../shared/store.ts';
import type { Placed } from './decode.ts';
import { entryAt, frameAt, touchesOf, type Entry, type Side, type TraceModel } from './model.ts';

export const TABS = ['call', 'element', 'console', 'network', 'source', 'attachments', 'about'] as const;
export type Tab = (typeof TABS)[number];

export interface TraceState {
  /** The key of the entry that is looked at. */
  chosen: string | null;
  /** Where the scrubber is. */
  at: number;
  /** Whether the stage shows what was there at `at`, rather than a side of the entry. */
  isAtTime: boolean;
  stage: 'picture' | 'both' | 'document';
  side: Side;
  /** Whether a person chose the side, which is then kept for other entries. */
  isSideKept: boolean;
  tab: Tab;
  /** Whether the console and the network show everything. */
  isEverything: boolean;
  /** The element of the document that was picked. */
  picked: Placed | null;
  /** Whether the list is hidden, where the window is narrow. */
  isListFolded: boolean;
  /** The places of steps whose calls are not listed. */
  folded: ReadonlySet<number>;
}

/** More lines than fit on a page: then only the steps are listed at first. */
const MANY = 60;

export function firstState(model: TraceModel, failingStep: number | null): TraceState {
  const steps = model.entries.flatMap((entry) => (entry.call === null && entry.nthStep !== null ? [entry.nthStep] : []));
  const isLong = model.entries.length > MANY;
  const chosen = firstChosen(model, failingStep);
  const state: TraceState = {
    chosen: null,
    at: model.from,
    isAtTime: false,
    stage: 'picture',
    side: 'after',
    isSideKept: false,
    tab: 'call',
    isEverything: false,
    picked: null,
    isListFolded: false,
    folded: new Set(isLong ? steps.filter((nth) => nth !== failingStep) : []),
  };
  return chosen ? withChosen(state, model, chosen) : state;
}

/** What went wrong, or else the beginning. */
function firstChosen(model: TraceModel, failingStep: number | null): Entry | null {
  const own = model.entries.filter((entry) => entry.nthStep === failingStep && failingStep !== null);
  const isWrong = ({ call }: Entry) => {
    if (!call) return false;
    return Boolean(call.answer?.fault) || (call.answer?.outcome !== undefined && call.answer.outcome.variant !== 'success');
  };
  return own.find(isWrong) ?? own[0] ?? model.entries[0] ?? null;
}

export function withChosen(state: TraceState, model: TraceModel, entry: Entry): TraceState {
  const side = state.isSideKept ? state.side : touchesOf(entry).length ? 'before' : 'after';
  const folded = new Set(state.folded);
  if (entry.call && entry.nthStep !== null) folded.delete(entry.nthStep);
  const at = Math.min(Math.max(side === 'before' ? entry.at : entry.until, model.from), model.to);
  return { ...state, chosen: entry.key, at, side, isAtTime: false, picked: null, folded };
}

/** The entries that are listed: those of folded steps are not. */
export const listed = (model: TraceModel, state: TraceState): Entry[] =>
  model.entries.filter((entry) => !entry.call || entry.nthStep === null || !state.folded.has(entry.nthStep));

export interface TraceControl {
  model: TraceModel;
  state: Store<TraceState>;
  /** Where the pointer is on the film. It moves often, and only the film shows it. */
  hovered: Store<number | null>;
  choose(key: string): void;
  /** Chooses the entry so many lines further down. */
  chooseBy(by: number): void;
  /** Shows what was there at a time. */
  moveTo(at: number): void;
  /** Shows the picture so many pictures later. */
  moveBy(by: number): void;
  showSide(side: Side): void;
  fold(nthStep: number): void;
  foldAll(isFolded: boolean): void;
  set(change: Partial<TraceState>): void;
}

export function traceControl(model: TraceModel, failingStep: number | null): TraceControl {
  const state = store(firstState(model, failingStep));
  const set = (change: Partial<TraceState>) => state.set({ ...state.value, ...change });
  const choose = (key: string) => {
    const entry = model.entries.find((one) => one.key === key);
    if (entry) state.set(withChosen(state.value, model, entry));
  };
  const moveTo = (time: number) => {
    const at = Math.min(Math.max(time, model.from), model.to);
    set({ at, isAtTime: true, chosen: entryAt(model, at)?.key ?? null, picked: null });
  };
  return {
    model,
    state,
    hovered: store<number | null>(null),
    choose,
    chooseBy(by) {
      const lines = listed(model, state.value);
      const here = lines.findIndex((entry) => entry.key === state.value.chosen);
      // The chosen one may be folded away: then the next one is that after its step.
      const nth = here >= 0 ? here : lines.findLastIndex((entry) => entry.at <= state.value.at);
      const next = lines[Math.min(Math.max(nth + by, 0), lines.length - 1)];
      if (next) choose(next.key);
    },
    moveTo,
    moveBy(by) {
      const { frames } = model;
      const next = frames[Math.min(Math.max(frameAt(frames, state.value.at) + by, 0), frames.length - 1)];
      if (next) moveTo(next.at);
    },
    showSide(side) {
      const entry = model.entries.find((one) => one.key === state.value.chosen);
      const kept = { ...state.value, side, isSideKept: true, isAtTime: false };
      state.set(entry ? withChosen(kept, model, entry) : kept);
    },
    fold(nthStep) {
      const folded = new Set(state.value.folded);
      if (!folded.delete(nthStep)) folded.add(nthStep);
      set({ folded });
    },
    foldAll(isFolded) {
      const steps = model.entries.flatMap((entry) => (entry.call === null && entry.nthStep !== null ? [entry.nthStep] : []));
      set({ folded: new Set(isFolded ? steps : []) });
    },
    set,
  };
}
