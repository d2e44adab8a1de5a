/** What Bun and Node know about the code of a tool. */
import { type Runtime } from './runtime.ts';
export declare const PROCESS_RUNTIME: Runtime;
/**
 * Fails the calls that rejections and uncaught exceptions belong to, such as one in `queueMicrotask`. Rejections that belong to none must
 * not end the server with its other tools; an exception that belongs to none does, as without this package.
 */
export declare function watchFailures(): void;
/** Follows the timers that the code of tools sets, because nothing else notices if one is left running, or fails. */
export declare function watchTimers(): void;
/** Follows the processes that the code of tools starts, because nothing else notices that a tool did not wait for one. */
export declare function watchProcesses(): void;
/** Follows the requests that the code of tools makes with `fetch`: what they fail with has neither its line nor, in Bun, its call. */
export declare function watchRequests(): void;
