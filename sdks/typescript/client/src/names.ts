/** Messages about names that do not exist. */

/** Says that a name is unknown, and which one was probably meant or may be used. */
export function unknownName(what: string, name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  if (near !== undefined) {
    return `unknown ${what} \`${name}\`; did you mean \`${near}\`?`;
  }
  return `unknown ${what} \`${name}\`; ${known.length === 0 ? 'none are accepted' : `expected one of: ${known.join(', ')}`}`;
}

const LETTERS_PER_MISTAKE = 3;

/** The known name that was probably meant. Words may be joined in another way: `memory_delta`. */
export function misspelled(name: string, known: readonly string[]): string | undefined {
  const plain = (text: string) => text.toLowerCase().replaceAll('_', '');
  return known.find((candidate) => plain(candidate) === plain(name)) ?? nearest(name, known);
}

function nearest(name: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((candidate) => ({ candidate, far: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, far }) => far <= Math.floor(Math.max(name.length, candidate.length) / LETTERS_PER_MISTAKE))
    .sort((one, other) => one.far - other.far);
  return best?.candidate;
}

/** How many letters to insert, remove or replace. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1];
    for (let j = 0; j < other.length; j += 1) {
      const replaced = (row[j] ?? 0) + (letter === other[j] ? 0 : 1);
      next.push(Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, replaced));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
