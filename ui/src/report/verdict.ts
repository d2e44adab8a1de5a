/** How a run ended, in words. */
import { count, plural, time } from '../shared/words.ts';
import type { AttemptState, Exit, Run } from '../generated/data.ts';

export const STATES: AttemptState[] = ['failed', 'errored', 'bug', 'invalid', 'unfinished', 'cancelled', 'passed', 'skipped'];

export const EXITS: Record<Exit, [state: AttemptState, name: string]> = {
  passed: ['passed', 'Passed'],
  failed: ['failed', 'Failed'],
  invalid: ['invalid', 'Invalid'],
  environment: ['errored', 'Environment failed'],
  bug: ['bug', 'Bug in Trailblaze'],
};

export function exitOf(run: Run, isLive: boolean): [state: AttemptState, name: string] {
  const { cancelled, notRun, errored } = run.counts;
  if (run.exit === 'environment' && cancelled + notRun > 0 && !errored) return ['cancelled', 'Stopped'];
  return run.exit ? EXITS[run.exit] : ['unfinished', isLive ? 'Running' : 'Did not finish'];
}

export function headline(run: Run, isLive: boolean): string {
  const { counts } = run;
  const word = (name: AttemptState) => (isLive && name === 'unfinished' ? 'running' : name);
  const parts = STATES.filter((name) => name !== 'passed' && counts[name]).map((name) => `${count(counts[name])} ${word(name)}`);
  if (counts.notRun) parts.push(`${count(counts.notRun)} not run`);
  if (counts.flaky) parts.push(`${count(counts.flaky)} flaky`);
  if (counts.healed) parts.push(`${count(counts.healed)} healed`);
  const passed = `${count(counts.passed)} of ${plural(counts.total, 'trail')} passed`;
  return [passed, ...parts].join(', ') + ` in ${time(run.micros)}`;
}
