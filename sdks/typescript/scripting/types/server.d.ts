/** A list of tools and resources of its own, for code in the style of MCP's SDKs. How they are served, subclasses know. */
import { type WithTrailblazeContext } from './envelope.ts';
import type { RunningServer, RunOptions, ServeOptions } from './serving.ts';
import type { ToolContext } from './context.ts';
import { type Args, type Input, type ToolSpec } from './tool.ts';
export type ServerOptions = Omit<RunOptions, 'tools' | 'args'>;
/** What MCP's SDKs register a tool with: everything about it but its name. */
export type RegisteredTool<I extends Input | undefined = undefined> = Omit<Partial<ToolSpec<I>>, 'input'> & {
    /** The arguments. Without it, or if it is empty, any object is accepted. */
    inputSchema?: I;
};
/** The arguments of a handler of `registerTool`. Those of a tool that accepts any object are whatever the handler takes them for. */
export type RegisteredArgs<I> = WithTrailblazeContext<[keyof I] extends [never] ? Record<string, any> : Args<I>>;
type RegisteredHandler<I extends Input | undefined> = (args: RegisteredArgs<I>, ctx: ToolContext) => unknown;
/**
 * Handlers return a string, nothing, a result of `@trailblaze/scripting/result`, or an object, which becomes the structured
 * content of the result. One that throws has failed.
 */
export declare abstract class ServerOfTools {
    #private;
    /** @param _mcp What MCP's own `Server` takes as its options. It is not used: the capabilities follow from what is added. */
    constructor(options?: ServerOptions, _mcp?: object);
    /** Adds a tool that accepts any object. */
    tool<A = Record<string, any>>(name: string, handler: (args: A, ctx: ToolContext) => unknown): this;
    /** Adds a tool whose arguments are validated. */
    tool<I extends Input | undefined = undefined>(name: string, spec: Partial<ToolSpec<I>>, handler: (args: Args<I>, ctx: ToolContext) => unknown): this;
    /**
     * Adds a tool as MCP's SDKs do. Unlike MCP's `McpServer`, which removes arguments that a tool does not declare, this passes
     * `_trailblazeContext` to the handler: what Trailblaze says about the device and remembers, or undefined if another MCP client
     * makes the call.
     */
    registerTool<I extends Input | undefined = undefined>(tool: RegisteredTool<I> & {
        name: string;
    }, handler: RegisteredHandler<I>): this;
    registerTool<I extends Input | undefined = undefined>(name: string, tool: RegisteredTool<I>, handler: RegisteredHandler<I>): this;
    /** Adds a resource, such as `trailblaze://registry`. What is not a string is sent as JSON. */
    resource(uri: string, read: () => unknown): this;
    /** Serves the tools, as `run()` does: over stdio, or over HTTP with `--transport http --port N`. */
    abstract run(options?: Pick<RunOptions, 'args'>): Promise<RunningServer>;
    protected served({ args }?: Pick<RunOptions, 'args'>): ServeOptions;
}
export {};
