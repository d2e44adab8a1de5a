/** Reruns in words. */
import type { Workspace, WorkspaceRun } from '../generated/messages.ts';
import { plural } from '../shared/words.ts';

/** The time of a run for people. */
export function startOf({ startedAt, id }: WorkspaceRun): string {
  const started = new Date(startedAt);
  if (isNaN(started.getTime())) return startedAt || id;
  return started.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

/** Why a run is a rerun, such as `Rerun: a file changed`; empty if it is none. */
export function rerunWords({ rerun }: WorkspaceRun, runs: readonly WorkspaceRun[]): string {
  if (!rerun) return '';
  if (rerun === 'change') return 'Rerun: a file changed';
  const first = runs.find((run) => run.id === rerun);
  return first ? `Rerun of ${startOf(first)}` : 'Rerun';
}

/**
 * What to announce when the runs of a project changed: reruns that a change of a file has started, and those that ended.
 * The page of a run announces its end itself.
 */
export function rerunNews(before: Workspace | null, after: Workspace, shownRun = ''): { text: string; isBad: boolean }[] {
  if (!before) return [];
  const old = new Map(before.runs.map((run) => [run.id, run]));
  return after.runs.flatMap((run) => {
    const was = old.get(run.id);
    const isRunning = run.state === 'running';
    if (!run.rerun || run.id === shownRun || was?.state === run.state) return [];
    if (isRunning) return run.rerun === 'change' ? [{ text: 'A file changed: the trails run again.', isBad: false }] : [];
    const totals = run.totals || plural(run.trails.length, 'trail');
    return [{ text: `Rerun ended: ${totals}`, isBad: run.state !== 'passed' }];
  });
}
