/** What `trace.js` of an attempt contains, and how it is read. Times are microseconds since the run started. */
import type { FileInPage } from '../../generated/data.ts';

export interface TraceData {
  /** Sorted by time. */
  frames: TraceFrame[];
  documents: TraceDocument[];
  /** Requests with headers and bodies, as in a HAR. */
  exchanges: HarEntry[];
}

/** A picture of the screen, which stays until the next one. */
export interface TraceFrame {
  at: number;
  /** The file in the run folder. */
  file: string;
  /** In the pixels that points and bounds use. */
  width: number;
  height: number;
  /** Where the page finds it; next to it, if absent. */
  kept?: FileInPage;
}

/** A page as it was before or after a call. */
export interface TraceDocument {
  at: number;
  call: string;
  moment: 'before' | 'after' | 'failure';
  url: string;
  title: string;
  /** The size of the window, in the pixels that points and bounds use. */
  width: number;
  height: number;
  /** The page and the frames in it. */
  frames: DocumentFrame[];
  /** The place of the page among them. */
  root: number;
}

export interface DocumentFrame {
  url: string;
  base: string;
  scroll: [x: number, y: number];
  sheets: Sheet[];
  /** As it is written; see `decode.ts`. */
  node: unknown;
}

/** A style sheet: a file of the run folder, or its text. */
export type Sheet = string | { text: string };

/** An entry of a HAR, as far as it is shown. What begins with `_` is our own. */
export interface HarEntry {
  /** The number of the request. */
  _request?: number;
  at?: number;
  startedDateTime?: string;
  /** What a rule of the trail did to it, such as `mocked`. */
  _rule?: string;
  time?: number;
  request?: { method?: string; url?: string; headers?: HarPair[]; postData?: HarBody };
  response?: {
    status?: number;
    statusText?: string;
    headers?: HarPair[];
    content?: HarBody;
  };
  timings?: Record<string, number>;
}

export interface HarBody {
  mimeType?: string;
  size?: number;
  text?: string;
  encoding?: string;
  /** Whether the rest of it was left out. */
  _cut?: boolean;
}

export interface HarPair {
  name: string;
  value: string;
}

/** Reads `trailblazeTrace("a1", {…});` without evaluating it. */
export function parseTrace(text: string): TraceData {
  const [from, to] = [text.indexOf('('), text.lastIndexOf(')')];
  if (from < 0 || to < from) throw new Error('it is not the trace of an attempt');
  const [, data] = JSON.parse(`[${text.slice(from + 1, to)}]`) as [string, unknown];
  return completed(data);
}

/** What a newer or older build left out is empty. */
export function completed(data: unknown): TraceData {
  const { frames, documents, exchanges } = (data ?? {}) as Partial<TraceData>;
  const all = Array.isArray(frames) ? frames : [];
  return {
    frames: all.every((frame, nth) => !nth || all[nth - 1]!.at <= frame.at) ? all : [...all].sort((a, b) => a.at - b.at),
    documents: Array.isArray(documents) ? documents : [],
    exchanges: Array.isArray(exchanges) ? exchanges : [],
  };
}
