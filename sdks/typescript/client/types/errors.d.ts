/** What the client throws. */
/** Why a call was refused or got no answer: the codes of Connect and gRPC. */
export declare const CODES: readonly ['canceled', 'unknown', 'invalid_argument', 'deadline_exceeded', 'not_found', 'already_exists', 'permission_denied', 'resource_exhausted', 'failed_precondition', 'aborted', 'out_of_range', 'unimplemented', 'internal', 'unavailable', 'data_loss', 'unauthenticated'];
export type RpcCode = (typeof CODES)[number];
/** `action_failed` and `assertion_failed` are results of the command; the others mean that there is no result. */
export type ErrorCode = RpcCode | 'action_failed' | 'assertion_failed';
export declare class TrailblazeError extends Error {
    name: string;
    readonly code: ErrorCode;
    constructor(code: ErrorCode, message: string, options?: {
        cause?: unknown;
    });
}
/** An action was carried out and failed, such as a tap on an element that did not appear. */
export declare class ActionFailed extends TrailblazeError {
    name: string;
    /** The kind of failure, such as `ExceptionThrown` or `MissingRequiredArgs`. */
    readonly variant: string;
    constructor(message: string, variant: string);
}
/** An assertion did not hold. */
export declare class AssertionFailed extends TrailblazeError {
    name: string;
    /** The kind of failure: `AssertionFailed`, or why it could not be checked. */
    readonly variant: string;
    constructor(message: string, variant: string);
}
/**
 * Gives an error the stack of the call that it is about, so that it leads to the caller's line: a stack does not go back beyond an
 * `await` in every engine. `call` is an error that was made when the call was.
 */
export declare function withStackOf(call: Error, error: unknown): unknown;
export declare function messageOf(thrown: unknown): string;
/** Shortens an unexpected response for a message. */
export declare function shorten(text: string): string;
