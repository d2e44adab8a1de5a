/** The context of a call: what a handler gets besides its arguments. */
import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import { type CommandGroups, type Track, type TrailblazeClient, type TrailblazeCommands } from '@trailblaze/client';
import type { ReceivedMeta, TrailblazeDevice } from './envelope.ts';
import { type Runtime } from './runtime.ts';
import { type MemoryChanges, type ToolMemory } from './memory.ts';
/**
 * The typed commands of the device, and what belongs to the call. If an agent started the server by itself and makes the call, the
 * device is that of the session of this user's daemon that TRAILBLAZE_SESSION names, or of the only one that is open. If there is
 * none, reading a command, `device`, `memory` or `client` throws, and the call fails with a message that says so.
 */
export interface ToolContext extends TrailblazeCommands, CommandGroups {
    /** The same as `captureScreen`. */
    readonly screen: TrailblazeCommands['captureScreen'];
    /** Asks the model of the run. Throws `failed_precondition` if there is none, or the server may not use it. */
    readonly askLlm: TrailblazeClient['askLlm'];
    /** The same in the words of MCP. */
    readonly sampling: TrailblazeClient['sampling'];
    /** Whether Trailblaze makes the call. */
    readonly isTrailblaze: boolean;
    readonly device: TrailblazeDevice;
    /** The ids of a call that Trailblaze makes; in others, reading it throws. */
    readonly session: ToolSession;
    readonly memory: ToolMemory;
    /** Calls other tools of the session, on the same device. */
    readonly client: ToolClient;
    /** `_meta` of the call, from which `TrailblazeClient.fromContext(ctx)` makes a client with the whole API. */
    readonly _meta: Readonly<Record<string, unknown>> | undefined;
    /** Aborts when the call is cancelled or the server stops. */
    readonly signal: AbortSignal;
    /** Adds a line to the log of the run. */
    log(level: LoggingLevel, message: string): void;
    /** Reports progress. This also renews the idle timeout: a call that is silent for too long is cancelled. */
    progress(text: string): void;
}
export type ToolSession = {
    id: string;
    invocationId: string;
    baseUrl: string;
};
declare global {
    /** The tools of the session, in the file that `trailblaze types` writes. Without it, every name is accepted. */
    interface TrailblazeTools {
    }
}
/** The name of a tool of the session. */
export type ToolName = [keyof TrailblazeTools] extends [never] ? string : keyof TrailblazeTools & string;
/** What follows the name of a tool: its arguments, which may be left out if none is required, and options. */
export type ToolCallArgs<N> = N extends keyof TrailblazeTools ? TrailblazeTools[N] extends (args: infer A) => unknown ? Parameters<TrailblazeTools[N]> extends [unknown] ? [args: A, options?: CallOptions] : [args?: A, options?: CallOptions] : never : [args?: Record<string, unknown>, options?: CallOptions];
export interface ToolClient {
    /** Calls a tool and returns its text; throws `TrailblazeToolError` if the tool fails. */
    callTool<N extends ToolName>(name: N, ...rest: ToolCallArgs<N>): Promise<ToolAnswer>;
}
/** The same for names that are only known at run time. */
export interface AnyToolClient {
    callTool(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<ToolAnswer>;
}
export type ToolAnswer = {
    text: string;
};
export type CallOptions = {
    /** How long to wait for the result. Default: a little longer than Trailblaze's limit of ten minutes. */
    timeoutMs?: number;
};
/** What a context is made from: the connection in a server, fakes in a test. */
export type Surroundings = {
    meta: ReceivedMeta | undefined;
    /** Whether another MCP client makes the call, and `meta` is about a session that was found. */
    isOutside?: boolean;
    /** Why there is no `meta`. */
    problem?: string | undefined;
    /** `_meta` as it was received. */
    raw: Readonly<Record<string, unknown>> | undefined;
    commands: () => TrailblazeClient;
    client: (session: () => ToolSession) => AnyToolClient;
    signal: AbortSignal;
    /** `isDoubt`: the tool may not have done what it says, although it passes. */
    log: (level: LoggingLevel, message: string, isDoubt?: boolean) => void;
    progress: (text: string) => void;
    /** Tells people of something that happened after the call had ended, to which its log does not belong. */
    warnLate: (message: string) => void;
    runtime: Runtime;
};
/** The tool of a call that has ended. */
type EndedTool = {
    readonly name: string;
    readonly definedAt: string;
};
export interface CallContext extends TrailblazeCommands, CommandGroups, Pick<TrailblazeClient, 'askLlm' | 'sampling'> {
}
export declare class CallContext implements ToolContext {
    #private;
    readonly isTrailblaze: boolean;
    readonly _meta: Readonly<Record<string, unknown>> | undefined;
    readonly signal: AbortSignal;
    readonly runtime: Runtime;
    /** What calls to Trailblaze failed with. */
    readonly failures: unknown[];
    constructor(around: Surroundings);
    get device(): TrailblazeDevice;
    get session(): ToolSession;
    get memory(): ToolMemory;
    get client(): ToolClient;
    /** Makes a call to Trailblaze and follows it, for a handler that may not wait for it. Refuses it if the handler's own call has ended. */
    readonly track: Track;
    /** From now on, what the code of the tool does in this context is refused. */
    end(tool: EndedTool): void;
    /** Warns that the tool may not have done what it says, although it passes. */
    doubt(message: string): void;
    /** Tells people of something that happened after the call had ended. */
    warnLate(message: string): void;
    /** The first query whose answer nothing has waited for: the handler went on as if a promise were the answer. */
    overlooked(): MadeCall | undefined;
    /** The first call that nothing has waited for: code that uses its promise as if it were the answer throws a `TypeError`. */
    forgotten(): MadeCall | undefined;
    /** Waits for the calls that the handler did not wait for: they end with its own call. */
    settled(): Promise<void>;
    get screen(): TrailblazeCommands['captureScreen'];
    /** The client behind the commands. */
    commands(wanted: string): TrailblazeClient;
    readonly log: (level: LoggingLevel, message: string) => void;
    readonly progress: (text: string) => void;
    memoryChanges(): MemoryChanges;
}
/** What a handler called, and the stack of the call. */
export type MadeCall = {
    name: string;
    isQuery: boolean;
    stack: string;
};
/** The type of a handler's context. Also a value, because runtimes that only strip types import it. */
export type Context = ToolContext;
export declare const Context: typeof CallContext;
export {};
