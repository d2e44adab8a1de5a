/** What the card of an attempt that did not pass says, and in which form. */
import { plural } from '../shared/words.ts';
import type { Attempt, AttemptState, Note } from '../generated/data.ts';

export type CardForm =
  /** It counts: the trail did not pass. */
  | 'failure'
  /** It counts, and consists of soft checks: the steps after them were carried out. */
  | 'soft'
  /** The trail passed later, without a change. */
  | 'flaky'
  /** The trail passed later, with repaired calls. */
  | 'healed'
  /** It was retried, and the trail did not pass. */
  | 'retried';

/** The attempts at one trail on one device, in the order of their numbers. */
export function attemptsOf(attempt: Attempt, attempts: Attempt[]): Attempt[] {
  return attempts
    .filter((other) => isSameTrail(other, attempt) && other.lane === attempt.lane && other.repeat === attempt.repeat)
    .sort((a, b) => a.number - b.number);
}

/** The form of the card of an attempt, and the attempt that passed later, if one did. */
export function formOf(attempt: Attempt, attempts: Attempt[]): { form: CardForm; passed: Attempt | null } {
  if (attempt.standing !== 'retried') return { form: softFailures(messageOf(attempt)) ? 'soft' : 'failure', passed: null };
  const last = attemptsOf(attempt, attempts).at(-1);
  if (last?.standing === 'healed' || last?.standing === 'flaky') return { form: last.standing, passed: last };
  return { form: 'retried', passed: null };
}

/** Groups of attempts that were retried, by what became of their trails. Those that are alike stay together. */
export function byForm(groups: number[][], attempts: Attempt[]): Record<'flaky' | 'healed' | 'retried', number[][]> {
  const all: Record<'flaky' | 'healed' | 'retried', number[][]> = { healed: [], flaky: [], retried: [] };
  for (const group of groups)
    for (const form of ['healed', 'flaky', 'retried'] as const) {
      const own = group.filter((place) => formOf(attempts[place]!, attempts).form === form);
      if (own.length) all[form].push(own);
    }
  return all;
}

const ALIKE: Partial<Record<AttemptState, string>> = {
  failed: 'failed alike',
  errored: 'errored alike',
  invalid: 'were invalid alike',
  bug: 'met the same bug',
  unfinished: 'did not finish',
  cancelled: 'were cancelled alike',
};

/** Says of several attempts that ended alike how many trails they are about. */
export function alikeWords(group: Attempt[]): string {
  const nTrails = new Set(group.map((attempt) => trailKey(attempt))).size;
  const ended = ALIKE[group[0]!.state] ?? 'ended alike';
  if (nTrails === group.length) return `${plural(nTrails, 'trail')} ${ended}`;
  const trails = nTrails === 1 ? 'one trail' : `${plural(nTrails, 'trail')}`;
  return `${plural(group.length, 'attempt')} of ${trails} ${ended}`;
}

const trailKey = ({ trail }: Attempt): string => `${trail.path}\n${trail.id}\n${trail.row ?? ''}`;
const isSameTrail = (a: Attempt, b: Attempt): boolean => trailKey(a) === trailKey(b);

export const messageOf = (attempt: Attempt): string => attempt.trouble?.message || attempt.message;

export interface SoftFailures {
  /** What ended the trail at last; `null` if nothing but checks failed. */
  own: string | null;
  /** The checks, each with its continuation lines. */
  checks: string[];
}

/** Notes that say the same as one, with how many there are. */
export function countEqual(notes: Note[]): [Note, number][] {
  const found = new Map<string, [Note, number]>();
  for (const note of notes) {
    const key = `${note.level}\n${note.text}`;
    const known = found.get(key);
    if (known) known[1]++;
    else found.set(key, [note, 1]);
  }
  return [...found.values()];
}

/** The soft checks of a message: `2 checks failed:` or `also failed:`, and indented lines. */
export function softFailures(message: string): SoftFailures | null {
  const match = /^(?:(\d+ checks failed:)|([\s\S]*?)\nalso failed:)\n((?: {2}.*(?:\n|$))+)$/.exec(message);
  if (!match) return null;
  const checks: string[] = [];
  for (const line of match[3]!.split('\n').filter(Boolean)) {
    const text = line.slice(2);
    if (text.startsWith(' ') && checks.length) checks[checks.length - 1] += `\n${text.trim()}`;
    else checks.push(text.trim());
  }
  return { own: match[1] ? null : match[2]!, checks };
}
