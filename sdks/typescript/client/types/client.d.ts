/** The client: the methods of the contract for one device. */
import { type Transport } from './connect.ts';
import { type Track } from './context.ts';
import { type CommandGroups, type ModelReply, type ScreenState, type TrailblazeCommands, type TrailblazeMemory, type TrailblazeSession } from './generated.ts';
import { type CallOptions } from './method.ts';
import { Sampling } from './sampling.ts';
/** The names of the commands that every device has. */
export declare const COMMAND_NAMES: readonly (keyof TrailblazeCommands)[];
/** The names of the groups of further commands. */
export declare const GROUP_NAMES: readonly (keyof CommandGroups)[];
export type ClientOptions = {
    /** The tool call that the client's calls belong to. */
    invocationId?: string | undefined;
    /** The key of a session, from the key file of `trailblaze serve`. */
    key?: string | undefined;
    sessionId?: string | undefined;
    deviceId?: string | undefined;
    /** `android`, `ios`, `web` or `desktop`, if known: decides which of `maestro`, `playwright` and `desktop` are there. */
    platform?: string | undefined;
    /** The argument `_trailblaze` of a tool that declares it. */
    context?: unknown;
    /** Cancels all calls of the client. */
    signal?: AbortSignal | undefined;
    /** Replaces HTTP, for tests. */
    transport?: Transport | undefined;
    /** Is given every call before it is made; makes it, or refuses to, and returns what its caller gets. */
    track?: Track | undefined;
};
export interface TrailblazeClient extends TrailblazeCommands, TrailblazeMemory, TrailblazeSession, CommandGroups {
}
/**
 * Calls Trailblaze. Actions throw `ActionFailed` and assertions `AssertionFailed` if they fail; queries answer, and never throw
 * because of what is on the screen. A call that is refused or not answered throws `TrailblazeError` with a code.
 */
export declare class TrailblazeClient {
    #private;
    readonly baseUrl: string;
    /** `android`, `ios`, `web` or `desktop`; undefined if unknown. */
    readonly platform: string | undefined;
    /** Asks the model of the session, in the words of MCP. */
    readonly sampling: Sampling;
    /**
     * @param address Such as `localhost:52525`. Without it, and without an invocation and a key, the client uses the session of this
     * user's daemon that TRAILBLAZE_SESSION names, or the only one that is open. In a tool server that Trailblaze started, a client
     * without an invocation and without a key always uses TRAILBLAZE_BASE_URL, so that it cannot reach another run.
     */
    constructor(address?: string, options?: ClientOptions);
    constructor(options?: ClientOptions);
    /**
     * A client for the device of a tool call. `context` is what the handler of the tool got: the `extra` of the official MCP SDK
     * (its `ctx` in version 2), or the context of @trailblaze/scripting. Calls end when the tool call is cancelled.
     *
     * If an agent started the server by itself, the client uses the session of this user's daemon, as one without arguments does.
     */
    static fromContext(context: unknown): TrailblazeClient;
    /** Asks the model of the session, about the current screen if `screen` is given. */
    askLlm(prompt: string, screen?: boolean | ScreenState, options?: CallOptions): Promise<ModelReply>;
}
