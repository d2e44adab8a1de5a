/**
 * Version 1 of the requests that a tool sends to `POST {baseUrl}/scripting/callback`, and of the responses.
 * `wire/callback-v1.json` has an example of each; Trailblaze's own tests read the same file.
 */
export declare const CALLBACK_PATH = "/scripting/callback";
export declare const CALLBACK_VERSION = 1;
export type CallbackRequest = {
    version: typeof CALLBACK_VERSION;
    session_id: string;
    invocation_id: string;
    action: CallbackAction;
};
export type CallbackAction = {
    type: 'call_tool';
    tool_name: string;
    /** JSON in a string, so that the callback is independent of the arguments of tools. */
    arguments_json: string;
};
export type CallbackAnswer = {
    result: CallbackResult;
};
export type CallbackResult = {
    type: 'call_tool_result';
    success: boolean;
    textContent: string;
    errorMessage: string;
} | {
    type: 'error';
    message: string;
};
export declare function callToolRequest(call: {
    sessionId: string;
    invocationId: string;
}, toolName: string, args: Record<string, unknown>): CallbackRequest;
/** Reads a response. Empty strings may be omitted; everything else is required. */
export declare function readAnswer(json: unknown): CallbackAnswer;
/** Returns the text of a tool that succeeded; throws if it failed. */
export declare function toText(toolName: string, { result }: CallbackAnswer): string;
/** Shortens an unexpected response for a message. */
export declare function shorten(value: unknown): string;
