/** Errors between a tool and Trailblaze. A handler that does not catch one fails with its message. */
import { ActionFailed, TrailblazeError, type ErrorCode } from '@trailblaze/client';
/** A tool that was called through `client.callTool` failed. */
export declare class TrailblazeToolError extends ActionFailed {
    name: string;
    readonly toolName: string;
    constructor(toolName: string, message: string);
}
/** Trailblaze could not be reached, refused to call the tool, or returned a response that this version cannot read. */
export declare class TrailblazeCallbackError extends TrailblazeError {
    name: string;
    constructor(message: string, code?: ErrorCode);
}
/** A tool used its context after its call had ended. Log a warning wherever this is created: nothing may catch it. */
export declare class LateUse extends TrailblazeError {
    name: string;
    constructor(tool: string, what: string);
}
export declare function messageOf(thrown: unknown): string;
