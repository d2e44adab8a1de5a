/** What the parts of a trace share. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Attempt, Detail } from '../../generated/data.ts';
import { use } from '../../shared/store.ts';
import { DocumentIndex } from './selectors.ts';
import { placed, type Placed, type SnapshotNode } from './decode.ts';
import type { Entry, FoundDocument } from './model.ts';
import type { TraceControl, TraceState } from './state.ts';

export interface TraceView {
  attempt: Attempt;
  detail: Detail;
  control: TraceControl;
  /** The element of a document around everything, and what is known of its elements. */
  documentAt(nth: number): { root: Placed; index: DocumentIndex } | null;
}

export const TraceContext = createContext<TraceView | null>(null);

export function useTrace(): TraceView & { state: TraceState; chosen: Entry | null } {
  const view = useContext(TraceContext)!;
  const state = use(view.control.state);
  const chosen = view.control.model.entries.find((entry) => entry.key === state.chosen) ?? null;
  return { ...view, state, chosen };
}

/** Documents are put together when they are first shown. */
export function documentsOf(nodes: (SnapshotNode | null)[][], roots: number[]): TraceView['documentAt'] {
  const made = new Map<number, { root: Placed; index: DocumentIndex } | null>();
  return (nth) => {
    let found = made.get(nth);
    if (found === undefined) {
      const root = placed(nodes[nth] ?? [], roots[nth] ?? 0);
      found = root && { root, index: new DocumentIndex(root) };
      made.set(nth, found);
    }
    return found;
  };
}

export type { FoundDocument };
