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
  text: string;
  parts: Part[];
  isNearest: boolean;
}

export interface Compared {
  expected: Part[];
  /** What was there: one text, or several candidates of which one may be the nearest. */
  saw: Candidate[];
  isList: boolean;
}

/** Compares what was expected with what was there, which may be a list of names such as `` `Fern`, `Check out` ``. */
export function compare(expected: string, saw: string): Compared {
  const plain = (text: string): Part[] => [{ text, isDifferent: false }];
  const names = listed(saw);
  if (!names) {
    const both = difference(expected, saw);
    return {
      expected: both?.[0] ?? plain(expected),
      saw: [{ text: saw, parts: both?.[1] ?? plain(saw), isNearest: false }],
      isList: false,
    };
  }
  const quoted = /^([^`]*`)([^`]+)(`[^`]*)$/.exec(expected);
  const value = quoted ? quoted[2]! : expected;
  let [nearest, most] = [-1, ALIKE];
  names.forEach((name, place) => {
    const alike = likeness(value, name);
    if (alike > most) [nearest, most] = [place, alike];
  });
  const both = nearest < 0 ? null : difference(value, names[nearest]!);
  const around = (inner: Part[]): Part[] => (quoted ? [...plain(quoted[1]!), ...inner, ...plain(quoted[3]!)] : inner);
  const candidates = names.map((text, place) => ({
    text,
    parts: place === nearest && both ? both[1] : plain(text),
    isNearest: place === nearest,
  }));
  candidates.sort((a, b) => Number(b.isNearest) - Number(a.isNearest));
  return { expected: around(both?.[0] ?? plain(value)), saw: candidates, isList: true };
}

/** The names of a list of quoted names; `null` if the text is something else. */
function listed(text: string): string[] | null {
  if (!/^`[^`]*`(?:, `[^`]*`)+$/.test(text.trim())) return null;
  return text.match(/`[^`]*`/g)!.map((name) => name.slice(1, -1));
}
