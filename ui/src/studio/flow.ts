/** Calls as text, as trails have them: `- tap: {text: Pay}`. What is in braces may be YAML's short form or JSON. */

/** A value on one line. */
export function writeFlow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeFlow).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([key, inner]) => `${scalar(key)}: ${writeFlow(inner)}`)
      .join(', ')}}`;
  }
  return typeof value === 'string' ? scalar(value) : (JSON.stringify(value) ?? 'null');
}

/** Plain only where it cannot be read as anything else. */
function scalar(text: string): string {
  const isPlain =
    /^[A-Za-zÀ-ɏ_][\wÀ-ɏ .,/@+-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text) && !/[ .,]$|, |,/.test(text);
  return isPlain ? text : JSON.stringify(text);
}

export function writeCalls(calls: readonly unknown[]): string {
  return calls
    .map((call) => {
      const [tool, args] = Object.entries((call ?? {}) as object)[0] ?? ['', {}];
      return `- ${tool}: ${writeFlow(args)}`;
    })
    .join('\n');
}

export type Read<T> = { value: T; problem?: undefined } | { problem: string; value?: undefined };

/** Reads what `writeCalls` writes. A call starts with `- tool:` or `tool:` and may go on over several lines. */
export function readCalls(text: string): Read<unknown[]> {
  const calls: unknown[] = [];
  const lines = text.split('\n');
  for (let nth = 0; nth < lines.length;) {
    const start = nth;
    const head = /^(?:- *)?([A-Za-z_][\w.-]*) *:(?: (.*)|$)/.exec(lines[nth]!);
    if (!head) {
      if (lines[nth]!.trim() === '') {
        nth += 1;
        continue;
      }
      return { problem: `line ${nth + 1}: expected a call, such as \`- tap: {text: Pay}\`` };
    }
    const parts = [head[2] ?? ''];
    for (nth += 1; nth < lines.length && /^\s+\S|^[}\]]/.test(lines[nth]!); nth += 1) parts.push(lines[nth]!);
    const inner = parts.join('\n').trim();
    const args = inner === '' ? { value: {} } : readFlow(inner);
    if (args.problem !== undefined) return { problem: `line ${start + 1}: ${args.problem}` };
    calls.push({ [head[1]!]: args.value });
  }
  return { value: calls };
}

/** Reads a value in YAML's short form, of which JSON is a part. */
export function readFlow(text: string): Read<unknown> {
  try {
    const parser = new Parser(text);
    const value = parser.value('');
    parser.end();
    return { value };
  } catch (thrown) {
    return { problem: (thrown as Error).message };
  }
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  end(): void {
    this.#space();
    if (this.#at < this.#text.length) throw this.#wrong('expected nothing more');
  }

  /** Reads a value. A plain scalar ends before any of `stops`. */
  value(stops: string): unknown {
    this.#space();
    const c = this.#text[this.#at];
    if (c === '{') return this.#map();
    if (c === '[') return this.#list();
    if (c === '"' || c === "'") return this.#quoted(c);
    const plain = this.#plain(stops);
    if (plain === '' || plain === '~' || plain === 'null') return null;
    if (plain === 'true' || plain === 'false') return plain === 'true';
    return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(plain) ? Number(plain) : plain;
  }

  #map(): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    this.#at += 1;
    while (!this.#takes('}')) {
      this.#space();
      const c = this.#text[this.#at];
      const key = c === '"' || c === "'" ? this.#quoted(c) : this.#plain(',}');
      if (key === '' && c !== '"' && c !== "'") throw this.#wrong('expected a name or `}`');
      map[key] = this.#takes(':') ? this.value(',}') : null;
      if (!this.#takes(',')) {
        if (this.#takes('}')) return map;
        throw this.#wrong('expected `,` or `}`');
      }
    }
    return map;
  }

  #list(): unknown[] {
    const list: unknown[] = [];
    this.#at += 1;
    while (!this.#takes(']')) {
      list.push(this.value(',]'));
      if (!this.#takes(',')) {
        if (this.#takes(']')) return list;
        throw this.#wrong('expected `,` or `]`');
      }
    }
    return list;
  }

  #quoted(quote: string): string {
    const rest = this.#text.slice(this.#at);
    const found = quote === '"' ? /^"(?:[^"\\]|\\.)*"/s.exec(rest) : /^'(?:[^']|'')*'/.exec(rest);
    if (!found) throw this.#wrong(`the text after ${quote} has no end`);
    this.#at += found[0].length;
    if (quote === "'") return found[0].slice(1, -1).replaceAll("''", "'");
    try {
      return JSON.parse(found[0].replaceAll('\n', ' ')) as string;
    } catch {
      throw this.#wrong('the text in quotes has an unknown escape');
    }
  }

  /** Text without quotes. A colon ends it only before a space, as in YAML. */
  #plain(stops: string): string {
    const start = this.#at;
    while (this.#at < this.#text.length) {
      const c = this.#text[this.#at]!;
      if (stops.includes(c)) break;
      if (c === ':' && stops.includes('}') && /^$|[\s,}[{"']/.test(this.#text[this.#at + 1] ?? '')) break;
      this.#at += 1;
    }
    return this.#text.slice(start, this.#at).trim();
  }

  #takes(c: string): boolean {
    this.#space();
    if (this.#text[this.#at] !== c) return false;
    this.#at += 1;
    return true;
  }

  #space(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at += 1;
  }

  #wrong(what: string): Error {
    const line = this.#text.slice(0, this.#at).split('\n').length;
    const near = this.#text.slice(this.#at, this.#at + 12).split('\n')[0];
    return new Error(`${what}${near ? ` before \`${near}\`` : ' at the end'}${line > 1 ? `, ${line - 1} lines below` : ''}`);
  }
}
