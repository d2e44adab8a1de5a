/** The memory of a session, as a tool sees and changes it. */

import { unlikeJson } from './json.ts';

/**
 * The memory at the start of the call, with this tool's changes. Trailblaze receives the changes with the result, unless it is
 * an error.
 */
export interface ToolMemory {
  get<T = unknown>(key: string): T | undefined;
  has(key: string): boolean;
  keys(): string[];
  /** Sets any JSON value. */
  set(key: string, value: unknown): void;
  /** Returns whether the key existed. */
  delete(key: string): boolean;
}

export type MemoryChanges = { memoryDelta: Record<string, unknown>; memoryDeletions: string[] };

/** Trailblaze sets these names itself, and would refuse the result. */
function refuseReserved(key: string): void {
  const prefix = ['target.', 'args.'].find((reserved) => key.startsWith(reserved));
  if (prefix !== undefined) {
    throw new TypeError(`\`${key}\` cannot be changed in memory: names that begin with \`${prefix}\` are set by Trailblaze`);
  }
}

export class SessionMemory implements ToolMemory {
  readonly #known: ReadonlyMap<string, unknown>;
  readonly #set = new Map<string, unknown>();
  readonly #deleted = new Set<string>();

  readonly #check: (change: string) => void;

  /** @param check Throws if nothing can be changed any more. */
  constructor(remembered: Record<string, unknown>, check: (change: string) => void) {
    this.#known = new Map(Object.entries(remembered));
    this.#check = check;
  }

  get<T = unknown>(key: string): T | undefined {
    if (this.#deleted.has(key)) {
      return undefined;
    }
    const value = this.#set.has(key) ? this.#set.get(key) : this.#known.get(key);
    // A copy, because changes inside of it would not be remembered.
    return structuredClone(value) as T | undefined;
  }

  has(key: string): boolean {
    return this.#set.has(key) || (this.#known.has(key) && !this.#deleted.has(key));
  }

  keys(): string[] {
    return [...new Set([...this.#known.keys(), ...this.#set.keys()])].filter((key) => this.has(key));
  }

  set(key: string, value: unknown): void {
    this.#check('set');
    refuseReserved(key);
    const lost = typeof value === 'function' || typeof value === 'symbol' ? undefined : unlikeJson(value);
    if (lost !== undefined) {
      throw new TypeError(`\`${key}\` cannot be remembered: ${lost}`);
    }
    const json = JSON.stringify(value);
    if (json === undefined) {
      throw new TypeError(`\`${key}\` cannot be remembered: JSON has no ${typeof value}\nhint: \`delete\` removes a key`);
    }
    this.#deleted.delete(key);
    this.#set.set(key, JSON.parse(json));
  }

  delete(key: string): boolean {
    this.#check('delete');
    refuseReserved(key);
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
