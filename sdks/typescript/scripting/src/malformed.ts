/** What Trailblaze refuses about a result, because a misspelled key would have no effect. Only for tests: Trailblaze checks it itself. */

import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { misspelled } from '@trailblaze/client/testing';

import { isRecord } from './envelope.ts';

const OWN_KEYS = ['variant', 'missing', 'memoryDelta', 'memoryDeletions'];
const DELEGATES = '_trailblaze_delegates';

/** Undefined if nothing is wrong. */
export function malformed(result: CallToolResult): string | undefined {
  const meta = isRecord(result._meta) ? result._meta : {};
  const structured = isRecord(result.structuredContent) ? result.structuredContent : {};
  return (
    misspelledKey(result, ['content', 'isError', 'structuredContent'], '', sameWords) ??
    elsewhere(result as Record<string, unknown>, meta, structured) ??
    ownProblem(meta['trailblaze']) ??
    misspelledKey(structured, [DELEGATES], ' in `structuredContent`')
  );
}

type Meant = (key: string, known: readonly string[]) => string | undefined;

function misspelledKey(fields: object, known: readonly string[], where: string, meantBy: Meant = misspelled): string | undefined {
  for (const key of Object.keys(fields)) {
    const meant = known.includes(key) ? undefined : meantBy(key, known);
    if (meant !== undefined) {
      return `unknown key \`${key}\`${where}; did you mean \`${meant}\`?`;
    }
  }
  return undefined;
}

/** A server may have other keys, so that only another way to join the same words is a mistake. */
function sameWords(key: string, known: readonly string[]): string | undefined {
  const plain = (text: string) => text.toLowerCase().replaceAll('_', '');
  return known.find((candidate) => plain(candidate) === plain(key));
}

function elsewhere(...places: Record<string, unknown>[]): string | undefined {
  const lost = places.flatMap(Object.keys).find((key) => key === 'memoryDelta' || key === 'memoryDeletions');
  if (lost !== undefined) {
    return `\`${lost}\` has no effect there; put it into \`_meta.trailblaze\``;
  }
  const [, meta = {}] = places;
  const isOurs = (value: unknown) => isRecord(value) && OWN_KEYS.some((key) => key in value);
  return misspelledKey(Object.fromEntries(Object.entries(meta).filter(([, value]) => isOurs(value))), ['trailblaze'], ' in `_meta`');
}

function ownProblem(own: unknown): string | undefined {
  if (own === undefined || own === null) {
    return undefined;
  }
  if (!isRecord(own)) {
    return `\`_meta.trailblaze\` must be an object, got ${JSON.stringify(own)}`;
  }
  const isTexts = (value: unknown) => Array.isArray(value) && value.every((item) => typeof item === 'string');
  const wrong = (key: string, expected: string) => `\`${key}\` in \`_meta.trailblaze\` must be ${expected}, got ${JSON.stringify(own[key])}`;
  if (own['memoryDelta'] != null && !isRecord(own['memoryDelta'])) {
    return wrong('memoryDelta', 'an object');
  }
  const list = ['memoryDeletions', 'missing'].find((key) => own[key] != null && !isTexts(own[key]));
  return list === undefined ? misspelledKey(own, OWN_KEYS, ' in `_meta.trailblaze`') : wrong(list, 'a list of texts');
}
