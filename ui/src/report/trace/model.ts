/** An attempt as the trace shows it: steps and calls in one list, and what was on the screen and said at each time. */
import type { Activity, Attempt, Call, Detail, Place, Step, Touch } from '../../generated/data.ts';
import type { HarEntry, TraceData, TraceDocument, TraceFrame } from './data.ts';

/** A line of the list: a step, or a call below it. */
export interface Entry {
  key: string;
  /** The place of the step, or of the step that a call is in; `null` for calls outside of any. */
  nthStep: number | null;
  step: Step | null;
  /** `null` for a step itself. */
  call: Call | null;
  /** 0 for steps and for calls outside of any. */
  depth: number;
  at: number;
  until: number;
  /** When what follows it began, which is after all that it caused at once. */
  next: number;
  /** How many requests failed and errors were written until then. */
  nTroubles: number;
}

export interface TraceModel {
  attempt: Attempt;
  entries: Entry[];
  frames: TraceFrame[];
  /** In the order of time, each with its place in the trace. */
  documents: { document: TraceDocument; nth: number }[];
  activity: Activity[];
  exchanges: HarEntry[];
  /** When the run started, in milliseconds since 1970; `NaN` if that is unknown. */
  startedAt: number;
  /** The part of the run that is shown. */
  from: number;
  to: number;
}

export function modelOf(attempt: Attempt, detail: Detail, data: TraceData | null, startedAt = NaN): TraceModel {
  const from = attempt.at;
  const to = Math.max(attempt.at + attempt.micros, from + 1);
  const entries = entriesOf(detail, from, to);
  return {
    attempt,
    entries,
    frames: data?.frames.length ? data.frames : framesOfPictures(detail, from),
    documents: (data?.documents ?? []).map((document, nth) => ({ document, nth })).sort((a, b) => a.document.at - b.document.at),
    activity: detail.activity ?? [],
    exchanges: data?.exchanges ?? [],
    startedAt,
    from,
    to,
  };
}

const endOf = (call: Call, otherwise: number): number => (call.micros === null ? otherwise : call.at + call.micros);

function entriesOf(detail: Detail, from: number, to: number): Entry[] {
  const entries: Entry[] = [];
  const entry = (more: Pick<Entry, 'key' | 'nthStep' | 'step' | 'call' | 'depth' | 'at' | 'until'>) =>
    entries.push({ ...more, next: to, nTroubles: 0 });
  let last = from;
  const loose = [...detail.loose];
  const addLoose = (before: number) => {
    while (loose.length && loose[0]!.at < before) {
      const call = loose.shift()!;
      entry({ key: `call ${call.id}`, nthStep: null, step: null, call, depth: 0, at: call.at, until: endOf(call, to) });
    }
  };
  detail.steps.forEach((step, nthStep) => {
    const ends = step.calls.map((call) => endOf(call, to));
    const at = step.at ?? step.calls[0]?.at ?? last;
    const until = step.micros === null ? to : Math.max(at + step.micros, ...ends);
    addLoose(at);
    entry({ key: `step ${nthStep}`, nthStep, step, call: null, depth: 0, at, until });
    for (const call of step.calls)
      entry({ key: `call ${call.id}`, nthStep, step, call, depth: call.depth + 1, at: call.at, until: endOf(call, to) });
    last = until;
  });
  addLoose(Infinity);
  const troubles = (detail.activity ?? []).filter((said) => said.isTrouble);
  entries.forEach((one, place) => {
    const next = entries.slice(place + 1).find((other) => other.depth <= one.depth);
    one.next = Math.max(one.until, next?.at ?? to);
    one.nTroubles = troubles.filter((said) => isDuring(said, one)).length;
  });
  return entries;
}

/** Without a film there are the pictures of the report. */
function framesOfPictures(detail: Detail, from: number): TraceFrame[] {
  const taken = detail.steps.flatMap((step) => {
    const calls = step.calls.flatMap((call) =>
      call.pictures.map((picture) => ({ picture, at: picture.at ?? (picture.moment === 'before' ? call.at : endOf(call, call.at)) })),
    );
    const own = step.pictures.map((picture) => {
      const start = step.at ?? step.calls[0]?.at ?? from;
      return { picture, at: picture.at ?? (picture.moment === 'before' ? start : start + (step.micros ?? 0)) };
    });
    return [...own, ...calls];
  });
  return taken
    .sort((a, b) => a.at - b.at)
    .map(({ picture, at }) => ({ at, file: picture.file, kept: picture.kept, width: picture.screen.width, height: picture.screen.height }))
    .filter((frame, nth, all) => frame.file !== all[nth - 1]?.file);
}

/** The place of the picture that was on the screen at a time: the last one until then, or else the first. -1 if there is none. */
export function frameAt(frames: { at: number }[], at: number): number {
  let [low, high] = [0, frames.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (frames[middle]!.at <= at) low = middle + 1;
    else high = middle;
  }
  return frames.length ? Math.max(0, low - 1) : -1;
}

export type Side = 'before' | 'after';

/** The time that a side of an entry is about. A touch is shown on what was there when it happened. */
export function timeOf(model: TraceModel, entry: Entry, side: Side): number {
  const documents = model.documents.filter(({ document }) => isOwn(document, entry));
  if (side === 'before') {
    const touch = touchesOf(entry)[0];
    return touch ? (touch.at ?? entry.at) : entry.at;
  }
  const after = documents.filter(({ document }) => document.moment !== 'before').at(-1)?.document.at;
  // What follows a call on the screen may come a moment after its answer.
  return Math.max(entry.until, after ?? Math.min(entry.next - 1, entry.until + 500_000));
}

export const frameOf = (model: TraceModel, entry: Entry, side: Side): TraceFrame | null =>
  model.frames[frameAt(model.frames, timeOf(model, entry, side))] ?? null;

/** The touches of a call, or of all calls of a step. */
export function touchesOf(entry: Entry): Touch[] {
  if (entry.call) return entry.call.touches;
  return [];
}

/** What was touched around a time. */
export function touchesAt(model: TraceModel, at: number): Touch[] {
  return model.entries.flatMap((entry) =>
    entry.call ? entry.call.touches.filter((touch) => Math.abs((touch.at ?? entry.at) - at) <= 400_000) : [],
  );
}

const isOwn = (document: TraceDocument, entry: Entry): boolean =>
  entry.call ? document.call === entry.call.id : Boolean(entry.step?.calls.some((call) => call.id === document.call));

export interface FoundDocument {
  nth: number;
  document: TraceDocument;
  /** Whether it was taken for this entry and side, before the next call, or is only the nearest one. */
  taken: 'own' | 'next' | 'nearest';
}

/**
 * The document of a side of an entry. What followed a call is often taken only before the next one, which is the same. Else the
 * nearest document that was there then.
 */
export function documentOf(model: TraceModel, entry: Entry | null, side: Side, at: number): FoundDocument | null {
  const { documents } = model;
  if (entry) {
    const own = documents.filter(({ document }) => isOwn(document, entry) && (document.moment === 'before') === (side === 'before'));
    const exact = side === 'before' ? own[0] : own.at(-1);
    if (exact) return { ...exact, taken: 'own' };
    const next = side === 'after' && documents.find(({ document }) => document.at >= entry.until && !isOwn(document, entry));
    if (next) return { ...next, taken: 'next' };
  }
  const time = entry ? (side === 'before' ? entry.at : entry.until) : at;
  const times = documents.map(({ document }) => document);
  const near = documents[frameAt(times, time)];
  return near ? { ...near, taken: 'nearest' } : null;
}

/** What a device said from the start of an entry until the next one. */
export function activityOf(model: TraceModel, entry: Entry | null): Activity[] {
  if (!entry) return model.activity;
  return model.activity.filter((said) => isDuring(said, entry));
}

const isDuring = ({ at }: Activity, entry: Entry): boolean => at >= entry.at && at < Math.max(entry.next, entry.at + 1);

/** The entry that was going on at a time: the innermost that had begun last. */
export function entryAt(model: TraceModel, at: number): Entry | null {
  let found: Entry | null = null;
  for (const entry of model.entries) if (entry.at <= at && (!found || entry.at >= found.at)) found = entry;
  return found ?? model.entries[0] ?? null;
}

/** Of at most so many places along the time, which picture each shows. */
export function filmOf(model: TraceModel, n: number): { frame: TraceFrame; from: number; to: number }[] {
  const { frames, from, to } = model;
  if (!frames.length || n < 1) return [];
  const film: { frame: TraceFrame; from: number; to: number }[] = [];
  for (let nth = 0; nth < n; nth++) {
    const [start, end] = [from + ((to - from) * nth) / n, from + ((to - from) * (nth + 1)) / n];
    // In the middle of its part, which is as far from what it does not show as it can be.
    const frame = frames[frameAt(frames, (start + end) / 2)]!;
    film.push({ frame, from: start, to: end });
  }
  return film;
}

/** The headers and bodies of a request: those of its number, else those of the same address that began nearest to it. */
export function harOf(model: TraceModel, activity: Activity): HarEntry | null {
  const { exchange } = activity;
  if (!exchange) return null;
  const own = model.exchanges.find((one) => one._request !== undefined && one._request === exchange.request);
  if (own) return own;
  const same = model.exchanges.filter((one) => one.request?.url === exchange.url && one.request?.method === exchange.method);
  const at = (one: HarEntry) => one.at ?? (Date.parse(one.startedDateTime ?? '') - model.startedAt) * 1000;
  const far = (one: HarEntry) => (isNaN(at(one)) ? 0 : Math.abs(at(one) - activity.at));
  return same.reduce<HarEntry | null>((best, one) => (!best || far(one) < far(best) ? one : best), null);
}

/** A value of an argument that is a template, and what it became. */
export interface Resolved {
  name: string;
  written: string;
  /** `null` if it is not known. */
  value: string | null;
}

const TEMPLATE = /\{\{\s*(?:memory\.)?([\w.-]+)\s*\}\}|\$\{\s*(?:memory\.)?([\w.-]+)\s*\}/g;

/** The arguments of a call that contain templates, with the values that the attempt had remembered by then. Secrets are never known. */
export function resolvedArgs(model: TraceModel, call: Call): Resolved[] {
  const known = new Map<string, string>();
  for (const { call: other } of model.entries) {
    if (!other || other.at + (other.micros ?? 0) > call.at || other.id === call.id) continue;
    for (const [name, value] of other.answer?.outcome?.remembered ?? []) known.set(name, value);
    for (const name of other.answer?.outcome?.forgotten ?? []) known.delete(name);
  }
  return call.args.flatMap(([name, written]) => {
    if (!written.match(TEMPLATE)) return [];
    let isKnown = true;
    const value = written.replace(TEMPLATE, (whole: string, one?: string, other?: string) => {
      const found = known.get(one ?? other ?? '');
      if (found === undefined) isKnown = false;
      return found ?? whole;
    });
    return [{ name, written, value: isKnown ? value : null }];
  });
}

/** Where an entry is written: its own place, or that of the call or step around it. */
export function placeOf(model: TraceModel, entry: Entry): Place | null {
  if (entry.call?.place) return entry.call.place;
  const here = model.entries.indexOf(entry);
  for (let nth = here, { depth } = entry; nth >= 0 && depth >= 0; nth--) {
    const around = model.entries[nth]!;
    if (around.nthStep !== entry.nthStep || (nth < here && around.depth >= depth)) continue;
    const place = around.call ? around.call.place : around.step?.place;
    if (place) return place;
    depth = around.depth;
  }
  return null;
}
