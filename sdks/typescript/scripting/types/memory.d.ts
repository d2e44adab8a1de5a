/** The memory of a session, as a tool sees and changes it. */
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
export type MemoryChanges = {
    memoryDelta: Record<string, unknown>;
    memoryDeletions: string[];
};
export declare class SessionMemory implements ToolMemory {
    #private;
    /** @param check Throws if nothing can be changed any more. */
    constructor(remembered: Record<string, unknown>, check: (change: string) => void);
    get<T = unknown>(key: string): T | undefined;
    has(key: string): boolean;
    keys(): string[];
    set(key: string, value: unknown): void;
    delete(key: string): boolean;
    changes(): MemoryChanges;
}
