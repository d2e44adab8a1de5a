/** In what two texts differ, for people who compare what was expected with what was there. */

export interface Part {
  text: string;
  isDifferent: boolean;
}

/** Longer texts are not compared word by word. */
const MOST = 400;
/** How much two texts must have in common for the rest to be marked, in words and, if they are short, in letters. */
const ALIKE = 0.35;
const ALIKE_LETTERS = 0.6;
const SHORT = 80;

const words = (text: string): string[] => text.match(/\s+|[\p{L}\p{M}\p{N}_]+|[^\s\p{L}\p{M}\p{N}_]/gu) ?? [];

/** The parts of two texts, those marked that the other does not have; `null` if they have too little in common. */
export function difference(expected: string, saw: string): [expected: Part[], saw: Part[]] | null {
  if (expected === saw) return null;
  return (
    compared(words(expected), words(saw), ALIKE) ??
    (Math.max(expected.length, saw.length) <= SHORT ? compared([...expected], [...saw], ALIKE_LETTERS) : null)
  );
}

function compared(a: string[], b: string[], least: number): [Part[], Part[]] | null {
  if (!a.length || !b.length || a.length > MOST || b.length > MOST) return null;
  const common = longestCommon(a, b);
  if (share(a, b, common) < least) return null;
  const places = (side: 0 | 1) => common.map((pair) => pair[side]);
  return [parts(a, places(0)), parts(b, places(1))];
}

/** How much of the longer text the other has too, from 0 to 1. */
function share(a: string[], b: string[], common: [number, number][]): number {
  const whole = Math.max(weight(a), weight(b));
  return whole ? weight(common.map(([i]) => a[i]!)) / whole : 0;
}

/** How much two texts have in common, from 0 to 1, whatever the case of their letters. */
export function likeness(one: string, other: string): number {
  const [a, b] = [one.toLowerCase(), other.toLowerCase()];
  const of = (a: string[], b: string[]) => share(a, b, longestCommon(a, b));
  const inWords = of(words(a).slice(0, MOST), words(b).slice(0, MOST));
  if (Math.max(a.length, b.length) > SHORT) return inWords;
  const inLetters = of([...a], [...b]);
  return Math.max(inWords, inLetters >= ALIKE_LETTERS ? inLetters : 0);
}

/** Space and punctuation say little. */
const weight = (all: string[]): number => all.reduce((sum, word) => sum + (/[\p{L}\p{N}]/u.test(word) ? [...word].length : 0.2), 0);

function longestCommon(a: string[], b: string[]): [number, number][] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Float64Array(b.length + 1));
  const heavy = a.map((word) => weight([word]));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i]![j] = a[i] === b[j] ? lengths[i + 1]![j + 1]! + heavy[i]! : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
  const common: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;)
    if (a[i] === b[j] && lengths[i]![j] === lengths[i + 1]![j + 1]! + heavy[i]!) common.push([i++, j++]);
    else if (lengths[i + 1]![j]! >= lengths[i]![j + 1]!) i++;
    else j++;
  return common;
}

function parts(all: string[], common: number[]): Part[] {
  const isCommon = new Set(common);
  const found: Part[] = [];
  all.forEach((text, place) => {
    // Space between two marked words is marked with them.
    const isBetween = /^\s+$/.test(text) && !isCommon.has(place - 1) && !isCommon.has(place + 1) && place > 0 && place + 1 < all.length;
    const isDifferent = isBetween || !isCommon.has(place);
    const last = found.at(-1);
    if (last && last.isDifferent === isDifferent) last.text += text;
    else found.push({ text, isDifferent });
  });
  return found;
}

export interface Candidate {
  parts: Part[];
  isNearest: boolean;
}

export interface Compared {
  expected: Part[];
  /** What was there: one text, or several candidates, the nearest first. */
  saw: Candidate[];
  kind:
    /** What was there. */
    | 'instead'
    /** All that was there, of which the first is alike. */
    | 'nearest'
    /** Nothing was there, only what is alike, or not even that. */
    | 'none';
}

const plain = (text: string): Part[] => (text ? [{ text, isDifferent: false }] : []);

/** Compares what was expected with what was there: a value, names such as `` `Fern`, `Check out` ``, or that nothing was there. */
export function compare(expected: string, saw: string): Compared {
  const none = /^nothing on the screen [\s\S]*; the nearest (?:is|are) ([\s\S]+)$/.exec(saw);
  if (none) return withCandidates(expected, separated(none[1]!), 'none');
  if (/^nothing on the screen /.test(saw))
    return { expected: plain(expected), saw: [{ parts: plain(saw), isNearest: false }], kind: 'none' };
  const names = separated(saw);
  const isQuoted = names.every((name) => /^([`"])[^`"]*\1$/.test(name));
  if (isQuoted && names.length > 1)
    return withCandidates(
      expected,
      names.map((name) => name.slice(1, -1)),
      'instead',
    );
  const [before, value, after] = lastQuoted(expected);
  if (isQuoted && after !== null) {
    const both = difference(value, saw.slice(1, -1));
    if (both)
      return {
        expected: [...plain(before), ...both[0], ...plain(after)],
        saw: [{ parts: [...plain(saw[0]!), ...both[1], ...plain(saw.at(-1)!)], isNearest: false }],
        kind: 'instead',
      };
  }
  const both = difference(expected, saw);
  return { expected: both?.[0] ?? plain(expected), saw: [{ parts: both?.[1] ?? plain(saw), isNearest: false }], kind: 'instead' };
}

function withCandidates(expected: string, texts: string[], kind: 'instead' | 'none'): Compared {
  const [before, value, after] = lastQuoted(expected);
  const candidates = texts.map((text) => ({ text, ...inside(text, value) }));
  let nearest = -1;
  candidates.forEach(({ alike }, place) => {
    if (alike > (candidates[nearest]?.alike ?? ALIKE)) nearest = place;
  });
  const found = candidates[nearest];
  const saw = candidates.map(({ text, both, start, end }, place) => ({
    parts: place === nearest && both ? [...plain(text.slice(0, start)), ...both[1], ...plain(text.slice(end))] : plain(text),
    isNearest: place === nearest,
  }));
  saw.sort((a, b) => Number(b.isNearest) - Number(a.isNearest));
  return {
    expected: found?.both ? [...plain(before), ...found.both[0], ...plain(after ?? '')] : plain(expected),
    saw,
    kind: kind === 'none' ? 'none' : found ? 'nearest' : 'instead',
  };
}

/** The part of a candidate that is most like a value: one of its quoted parts, or all of it. */
function inside(text: string, value: string): { alike: number; both: [Part[], Part[]] | null; start: number; end: number } {
  const quoted = [...text.matchAll(/([`"])([^`"]*)\1/g)].map((match) => ({
    start: match.index + 1,
    end: match.index + match[0].length - 1,
  }));
  const all = (quoted.length ? quoted : [{ start: 0, end: text.length }]).map(({ start, end }) => ({
    start,
    end,
    alike: likeness(value, text.slice(start, end)),
  }));
  const best = all.reduce((a, b) => (b.alike > a.alike ? b : a));
  return { ...best, both: difference(value, text.slice(best.start, best.end)) };
}

/** A text before, within and after its last quotes; all of it, if there are none. */
function lastQuoted(text: string): [before: string, value: string, after: string | null] {
  const match = /^([\s\S]*)([`"])([^`"]+)\2([^`"]*)$/.exec(text);
  return match ? [match[1]! + match[2]!, match[3]!, match[2]! + match[4]!] : ['', text, null];
}

/** The parts of a list, whose commas within quotes separate nothing. */
const separated = (text: string): string[] => (text.match(/(?:`[^`]*`|"[^"]*"|(?!, )[\s\S])+/g) ?? [text]).map((part) => part.trim());
