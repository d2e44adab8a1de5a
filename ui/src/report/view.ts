/** What the parts of the report share: the run, where its files are, and which attempt is shown. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Attempt, Detail, FileInPage, Run } from '../generated/data.ts';

/** Where the report gets its data from: a page from disk, or the daemon. */
export interface Source {
  /** The details of an attempt, by its place. */
  attempt(place: number): Promise<Detail>;
  /** The address of a picture. */
  picture(file: string, kept: FileInPage): Promise<string>;
  /** The text of a tree. */
  tree(file: string, kept: FileInPage): Promise<string>;
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
  /** Shows a picture large. */
  enlarge(frame: HTMLElement): void;
}

export const ViewContext = createContext<View | null>(null);

export function useView(): View {
  return useContext(ViewContext)!;
}

export const isBad = (state: string): boolean => state !== 'passed' && state !== 'skipped';
export const KINDS = { trailhead: 'Trailhead', step: 'Step', verify: 'Verify' };
