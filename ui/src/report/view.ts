/** What the parts of the report share: the run, where its files are, and which attempt is shown. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Attempt, Detail, FileInPage, Run, Trace } from '../generated/data.ts';
import type { TraceData } from './trace/data.ts';
import type { ReadySheet } from './trace/snapshot.ts';

/** Where the report gets its data from: a page from disk, or the daemon. */
export interface Source {
  /** The details of an attempt, by its place. */
  attempt(place: number): Promise<Detail>;
  /** The address of a picture. */
  picture(file: string, kept: FileInPage): Promise<string>;
  /** The text of a tree, or of a file of a trail. */
  tree(file: string, kept: FileInPage): Promise<string>;
  /** What was collected for the trace of an attempt. */
  trace(attempt: string, trace: Trace): Promise<TraceData>;
  /** A style sheet of a recorded document, by its file. */
  sheet(file: string): Promise<ReadySheet>;
  /** The address of a file of the run folder. */
  address(file: string): string;
}

export interface View {
  run: Run;
  source: Source;
  /** Whether the run is in progress. */
  isLive: boolean;
  /** Counts the updates of a run in progress. */
  version: number;
  /** The address that shows an attempt, or all of them. */
  link(attempt: Attempt | null): string;
  /** The address of the trace of an attempt. */
  traceLink(attempt: Attempt): string;
  /** Shows a picture large. */
  enlarge(frame: HTMLElement): void;
}

export const ViewContext = createContext<View | null>(null);

export function useView(): View {
  return useContext(ViewContext)!;
}

export const isBad = (state: string): boolean => state !== 'passed' && state !== 'skipped';
export const KINDS = { trailhead: 'Trailhead', step: 'Step', verify: 'Verify' };
