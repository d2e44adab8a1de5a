/** What the runtime knows about the code of a tool: where it threw, which rejections nothing handled, and what it left running. */
import type { CallContext } from './context.ts';
export interface Runtime {
    /** The place in the author's code that a stack leads to, such as `tools/orders.ts:12:9`. */
    placeOf(stack: string): string | undefined;
    /** Where something was thrown that is no Error, as a stack; empty if that is not known. */
    stackOf(thrown: unknown): string;
    /** Runs the handler of a call of a tool. */
    run<T>(call: CallContext, tool: string, handler: () => Promise<T>): Promise<T>;
    /** Something that was rejected during a call in progress, and that nothing handled. */
    unhandled(call: CallContext): Promise<{
        reason: unknown;
    } | undefined>;
    /** Where the author's code set the timers of a call that have not fired. */
    timers(call: CallContext): string[];
    /** Where the author's code started the processes of a call that have not ended, and whose end something listens for. */
    processes(call: CallContext): string[];
}
/** Unit tests compare messages, so these have no places; and test runners report unhandled rejections themselves. */
export declare const NO_RUNTIME: Runtime;
/**
 * The message of something that was thrown, and its place: `it broke (tools/orders.ts:12:9)`. If that is not known, as it is for a text
 * in Bun and Node, the place is where the tool is defined.
 */
export declare function explain(thrown: unknown, runtime: Runtime, definedAt?: string): string;
/** A message with a place, which comes ahead of a hint. */
export declare function atPlace(message: string, place: string | undefined): string;
/** The call that a rejection belongs to: the one whose command failed with it, or the only one. */
export declare function ownerOf(calls: Iterable<CallContext>, isReason: (failure: unknown) => boolean): CallContext | undefined;
