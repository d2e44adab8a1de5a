/** What a session remembers, as a tool sees and changes it. */

/**
 * What was remembered when the call began, with this tool's own changes. They reach Trailblaze with the tool's answer,
 * unless it is an error.
 */
export interface ToolMemory {
  get<T = unknown>(key: string): T | undefined;
  has(key: string): boolean;
  keys(): string[];
  /** Any value that JSON has. */
  set(key: string, value: unknown): void;
  /** Whether it was there. */
  delete(key: string): boolean;
}

export type MemoryChanges = { memoryDelta: Record<string, unknown>; memoryDeletions: string[] };

export class SessionMemory implements ToolMemory {
  readonly #known: ReadonlyMap<string, unknown>;
  readonly #set = new Map<string, unknown>();
  readonly #deleted = new Set<string>();

  constructor(remembered: Record<string, unknown>) {
    this.#known = new Map(Object.entries(remembered));
  }

  get<T = unknown>(key: string): T | undefined {
    if (this.#deleted.has(key)) {
      return undefined;
    }
    const value = this.#set.has(key) ? this.#set.get(key) : this.#known.get(key);
    // A copy: changing what is inside it would look like remembering, and would not be.
    return structuredClone(value) as T | undefined;
  }

  has(key: string): boolean {
    return this.#set.has(key) || (this.#known.has(key) && !this.#deleted.has(key));
  }

  keys(): string[] {
    return [...new Set([...this.#known.keys(), ...this.#set.keys()])].filter((key) => this.has(key));
  }

  set(key: string, value: unknown): void {
    const json = JSON.stringify(value);
    if (json === undefined) {
      throw new TypeError(`\`${key}\` cannot be remembered: JSON has no ${typeof value}\nhint: \`delete\` forgets a key`);
    }
    this.#deleted.delete(key);
    this.#set.set(key, JSON.parse(json));
  }

  delete(key: string): boolean {
    const wasThere = this.has(key);
    this.#set.delete(key);
    if (this.#known.has(key)) {
      this.#deleted.add(key);
    }
    return wasThere;
  }

  changes(): MemoryChanges {
    return { memoryDelta: Object.fromEntries(this.#set), memoryDeletions: [...this.#deleted] };
  }
}
