/** Defines tools. */
import type { CallToolResult, ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import type { ToolContext } from './context.ts';
import { type Args, type CheckedInput, type Input, type JsonSchema } from './input.ts';
import { type Runtime } from './runtime.ts';
import { type ToolFlags, type TrailblazeTool, type TrailblazeToolMeta } from './tool-meta.ts';
export type { Args, Input, JsonSchema };
export type ToolSpec<I extends Input | undefined = Input | undefined> = ToolFlags & {
    /** What the tool does, for the model that chooses it. */
    description: string;
    /** A name for people. */
    title?: string;
    /** The arguments. Default: none. */
    input?: I;
    /** MCP's own hints, such as `readOnlyHint`. */
    annotations?: ToolAnnotations;
    /** Additional `_meta` of the tool. */
    _meta?: TrailblazeToolMeta;
};
/** A string, a result of `@trailblaze/scripting/result` (or any MCP result), or nothing. */
export type HandlerResult = string | CallToolResult | void;
export type Handler<I extends Input | undefined = undefined> = (args: Args<I>, ctx: ToolContext) => HandlerResult | Promise<HandlerResult>;
/** A defined tool: what clients see of it, and how it is called. */
export type DefinedTool = {
    readonly name: string;
    readonly definition: TrailblazeTool;
    readonly input: CheckedInput;
    readonly handler: (args: never, ctx: ToolContext) => HandlerResult | Promise<HandlerResult>;
    /** Whether the handler gets `_trailblazeContext` with its arguments. */
    readonly takesContext: boolean;
    /** The stack where it was defined. */
    readonly definedAt: string;
};
/** From now on, what is wrong with a definition is told with its place. */
export declare function usePlaces(places: Runtime['placeOf']): void;
/** Defines a tool. `run()` serves it under exactly this name. */
export declare function tool<I extends Input | undefined = undefined>(name: string, spec: ToolSpec<I>, handler: Handler<I>): DefinedTool;
/** Adds a tool to a list of tools. */
export declare function add(tools: Map<string, DefinedTool>, name: string, spec: Partial<ToolSpec>, handler: DefinedTool['handler'], takesContext?: boolean): DefinedTool;
/** All defined tools, in order. */
export declare function definedTools(): DefinedTool[];
