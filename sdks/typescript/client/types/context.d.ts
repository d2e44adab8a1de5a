/** What a client knows about its caller, from the places where Trailblaze puts it. */
/** Where a client connects, and which call, session and device its calls belong to. */
export type Identity = {
    baseUrl?: string;
    invocationId?: string;
    sessionId?: string;
    deviceId?: string;
    platform?: string;
};
/**
 * Reads the context of a request handler: of both generations of the official MCP SDK, of @trailblaze/scripting, or the request
 * or its `_meta` itself. Undefined if the call did not come from Trailblaze.
 */
export declare function identityOf(context: unknown): Identity | undefined;
/** The cancellation of a request handler. */
export declare function signalOf(context: unknown): AbortSignal | undefined;
/** A call that is about to be made: what it calls, and whether that is a query, which only answers. */
export type AboutCall = {
    readonly name: string;
    readonly isQuery?: boolean;
};
/** Is given a call before it is made; makes it, or refuses to, and returns what its caller gets. */
export type Track = <T>(make: () => Promise<T>, about: AboutCall) => Promise<T>;
/** How the context of @trailblaze/scripting follows the calls of a handler. */
export declare function trackOf(context: unknown): Track | undefined;
/** Reads the argument `_trailblaze` of a tool. */
export declare function identityOfArgument(argument: unknown): Identity;
