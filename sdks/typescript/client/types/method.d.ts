/** One method of the contract: its arguments in, its answer out. */
export type CallOptions = {
    /** Cancels the call, also on the device. The call rejects with the reason of the signal. */
    signal?: AbortSignal | undefined;
    /**
     * How long the whole call may take, in milliseconds. Trailblaze ends the call then; if it does not say so, the client gives up
     * half a second later. Default: a little longer than Trailblaze's own limit of ten minutes. A stream has no limit by default.
     */
    deadlineMs?: number | undefined;
};
export type MethodSpec = {
    readonly path: string;
    readonly name: string;
    /**
     * `action`, `assertion` and `tool` throw if they fail; `value` is a message with a lone `value`; `stream` is a series of
     * messages.
     */
    readonly answer: 'action' | 'actionValue' | 'assertion' | 'tool' | 'value' | 'message' | 'stream';
    readonly params: readonly string[];
    /** The parameters that are accepted by position, and how many of them must be given in that form. */
    readonly positional: readonly string[];
    readonly needed: number;
    /** What an absent `value` means. Default: null. */
    readonly zero?: unknown;
    /** The paths of fields that are base64 in JSON. */
    readonly bytes?: readonly (readonly string[])[];
};
/** Whether a method only answers, so that calling it without using the answer is a mistake. */
export declare function isQuery({ name, answer }: MethodSpec): boolean;
export type Json = Readonly<Record<string, unknown>>;
export type Arguments = {
    params: Record<string, unknown>;
    options: CallOptions;
};
/** Reads the arguments of a method: parameters in an object, or by position with an object for the others; then options. */
export declare function readArguments(spec: MethodSpec, args: readonly unknown[]): Arguments;
/** Reads a response. Throws if it says that an action or assertion failed. */
export declare function readAnswer(spec: MethodSpec, response: unknown): unknown;
/** Adds the elements of a screen as a list. It is not part of its JSON. */
export declare function withElements(response: Json): Json;
export declare function isRecord(value: unknown): value is Json;
