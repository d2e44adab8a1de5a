/** Trailblaze itself, for code that runs in its script engine: calls are made without a connection. */
import type { Transport } from './connect.ts';
import { type CallOptions, type Json } from './method.ts';
/** What the script engine offers. */
export type Engine = {
    /** Asks Trailblaze for something on behalf of a call in progress, named by its invocation id. */
    request(invocationId: string, operation: string, payload: unknown): Promise<unknown>;
    /** Says which tools the program has. */
    serve(served: Served): void;
    /** The place in a source of the program that a stack leads to. */
    placeOf(stack: string): string | undefined;
    /** Where a value was thrown that is no Error, as a stack; empty if that is not known. */
    stackOf(thrown: unknown): string;
    /** Where the author's code set the timers that have not fired. */
    openTimers(): string[];
    /** What promises were rejected with that nothing has handled. */
    unhandled(): {
        name: string;
        message: string;
        stack: string;
    }[];
    /** Removes one of them. */
    takeUnhandled(index: number): void;
};
/** What a program serves. */
export type Served = {
    list(): unknown;
    call(params: Json, about: {
        signal: AbortSignal;
    }): Promise<unknown>;
    read(params: Json): Promise<unknown>;
};
/** What stands for the address of Trailblaze in the script engine. */
export declare const ENGINE_ADDRESS = "trailblaze:engine";
/** The script engine that this code runs in; undefined in a process of its own. */
export declare function currentEngine(): Engine | undefined;
export declare class EngineTransport implements Transport {
    #private;
    constructor(engine: Engine);
    unary(path: string, request: Json, options: CallOptions): Promise<unknown>;
    stream(path: string): AsyncGenerator<unknown, void, void>;
}
/** Waits for an answer, but not beyond the deadline, nor after the call is cancelled. */
export declare function within<T>(work: Promise<T>, what: string, { signal, deadlineMs }: CallOptions): Promise<T>;
