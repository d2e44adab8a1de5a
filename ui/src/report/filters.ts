/** Which attempts are shown: by words, state, device and tag. */
import type { Attempt } from '../generated/data.ts';

/** What is to be seen of a run; empty is everything. */
export interface Wanted {
  text: string;
  state: string;
  lane: string;
  tag: string;
}
export const EVERYTHING: Wanted = { text: '', state: '', lane: '', tag: '' };

/** What an attempt is counted as. */
export const category = (attempt: Attempt) => (attempt.standing === 'retried' ? 'retried' : attempt.state);

/** The text of an attempt that is searched, made when it is first needed. */
const haystacks = new WeakMap<Attempt, string>();

/** The attempts that match. */
export function filtered(attempts: Attempt[], lanes: { name: string }[], wanted: Wanted): Attempt[] {
  const words = wanted.text.toLowerCase().split(/\s+/).filter(Boolean);
  return attempts.filter((attempt) => {
    if (
      wanted.state &&
      (wanted.state === 'flaky' || wanted.state === 'healed' ? attempt.standing !== wanted.state : category(attempt) !== wanted.state)
    )
      return false;
    if (wanted.lane && String(attempt.lane) !== wanted.lane) return false;
    if (wanted.tag && !(attempt.trail.tags || []).includes(wanted.tag)) return false;
    let haystack = haystacks.get(attempt);
    haystack ??= [
      attempt.name,
      attempt.trail.id,
      attempt.trail.path,
      lanes[attempt.lane]?.name,
      attempt.message,
      attempt.trouble?.message,
      attempt.trouble?.step,
      ...(attempt.trail.tags || []),
    ]
      .join('\n')
      .toLowerCase();
    haystacks.set(attempt, haystack);
    return words.every((word) => haystack.includes(word));
  });
}
