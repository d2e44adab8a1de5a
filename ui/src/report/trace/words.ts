/** How entries of a trace are called. */
import { cut } from '../../shared/words.ts';
import type { Call } from '../../generated/data.ts';
import { KINDS } from '../view.ts';
import type { Entry } from './model.ts';

/** The arguments of a call in one line. */
export const sumOf = (call: Call): string => call.args.map(([name, value]) => `${name}: ${cut(value.replace(/\s+/g, ' '), 80)}`).join(', ');

/** A step by its number and words, as everywhere; a call by its tool. */
export function entryWords(entry: Entry): string {
  if (entry.call) return `${entry.call.tool} ${sumOf(entry.call)}`.trim();
  const { step } = entry;
  if (!step) return '';
  return `${step.number === null ? KINDS[step.kind] : step.number}: ${step.text}`;
}
