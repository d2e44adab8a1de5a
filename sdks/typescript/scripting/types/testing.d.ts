/** Testing a tool without a server and without Trailblaze. */
import type { CallToolResult, LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import { type ToolContext } from './context.ts';
import type { TrailblazeDevice } from './envelope.ts';
import { type DefinedTool } from './tool.ts';
export { fakeScreen, type FakeElement } from '@trailblaze/client/testing';
/**
 * Returns the text of the tool, or for a typed command such as `ctx.isVisible` what that returns. What is no text becomes JSON where a
 * text is expected, and the other way round.
 */
export type FakeTool = (args: Record<string, unknown>) => unknown;
export type FakeOptions = {
    /** Differences from an Android phone. */
    device?: Partial<TrailblazeDevice>;
    /** The memory at the start. */
    memory?: Record<string, unknown>;
    /** The tools that it may call. One that throws is a tool that fails. */
    tools?: Record<string, FakeTool>;
    /** Cancels the call. */
    signal?: AbortSignal;
};
/** A context that records what the tool did. */
export interface FakeContext extends ToolContext {
    readonly calls: readonly {
        name: string;
        args: Record<string, unknown>;
    }[];
    readonly logs: readonly {
        level: LoggingLevel;
        message: string;
    }[];
    readonly progressed: readonly string[];
}
export type Called = {
    /** The whole result; `result.structuredContent` is what a trail binds with `as:`. */
    result: CallToolResult;
    /** The first text of the result. */
    text: string;
    isError: boolean;
    /** The values that Trailblaze would remember from this result. */
    memoryDelta: Record<string, unknown>;
    memoryDeletions: string[];
    /** The calls that it made. */
    calls: FakeContext['calls'];
};
/** A context as under Trailblaze. */
export declare function fakeContext(options?: FakeOptions): FakeContext;
/** A context as under another MCP client: without device, session, memory and client. */
export declare function fakeForeignContext(): FakeContext;
/**
 * Calls a tool as the server does: arguments are validated, and an exception becomes an error result. So does a result that
 * Trailblaze refuses, such as one with a misspelled key. Use each context for one call only.
 */
export declare function callTool(toolOrName: DefinedTool | string, args?: Record<string, unknown>, ctx?: FakeContext): Promise<Called>;
