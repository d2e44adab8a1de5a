/** Results of tools. Each is an ordinary MCP result; what is specific to Trailblaze is in `_meta.trailblaze`. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
export type Variant = 'Success' | 'ExceptionThrown' | 'FatalError' | 'MissingRequiredArgs' | 'AssertionFailed' | 'MaestroValidationError' | 'Unsupported';
/** `_meta.trailblaze` of a result. */
export type TrailblazeResultMeta = {
    variant?: Variant;
    missing?: string[];
    memoryDelta?: Record<string, unknown>;
    memoryDeletions?: string[];
};
/** A call that Trailblaze makes, and records instead of the tool's own. */
export type Delegate = {
    tool: string;
    args?: Record<string, unknown>;
};
export declare function success(text?: string, structuredContent?: Record<string, unknown>): CallToolResult;
/** The tool failed. */
export declare function error(text: string): CallToolResult;
/** The tool failed and the trail must end. Never retried or repaired. */
export declare function fatalError(text: string): CallToolResult;
/** A check failed. Never repaired. */
export declare function assertionFailed(text: string): CallToolResult;
/** The device does not support this. */
export declare function unsupported(text: string): CallToolResult;
export declare function missingRequiredArgs(missing: readonly string[], text?: string): CallToolResult;
/** Delegates to other tools, which Trailblaze calls in order. */
export declare function delegates(calls: readonly Delegate[], text?: string): CallToolResult;
