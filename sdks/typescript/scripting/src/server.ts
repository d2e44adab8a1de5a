/** A list of tools and resources of its own, for code in the style of MCP's SDKs. How they are served, subclasses know. */

import { isRecord, type WithTrailblazeContext } from './envelope.ts';
import { success } from './result.ts';
import type { RunningServer, RunOptions, ServedResource, ServeOptions } from './serving.ts';
import type { ToolContext } from './context.ts';
import { add, type Args, type DefinedTool, type HandlerResult, type Input, type ToolSpec } from './tool.ts';

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
export abstract class ServerOfTools {
  readonly #options: ServerOptions;
  readonly #tools = new Map<string, DefinedTool>();
  readonly #resources: ServedResource[] = [];

  /** @param _mcp What MCP's own `Server` takes as its options. It is not used: the capabilities follow from what is added. */
  constructor(options: ServerOptions = {}, _mcp: object = {}) {
    this.#options = options;
  }

  /** Adds a tool that accepts any object. */
  // `any`, because callers declare the type of the arguments, and nothing checks it.
  tool<A = Record<string, any>>(name: string, handler: (args: A, ctx: ToolContext) => unknown): this;
  /** Adds a tool whose arguments are validated. */
  tool<I extends Input | undefined = undefined>(
    name: string,
    spec: Partial<ToolSpec<I>>,
    handler: (args: Args<I>, ctx: ToolContext) => unknown,
  ): this;
  tool(name: string, ...rest: [unknown, unknown?]): this {
    const [spec, handler] = (rest.length === 1 ? [{ input: { type: 'object' } }, rest[0]] : rest) as [Partial<ToolSpec>, Call];
    add(this.#tools, name, spec, async (args, ctx) => toResult(await handler(args, ctx)));
    return this;
  }

  /**
   * Adds a tool as MCP's SDKs do. Unlike MCP's `McpServer`, which removes arguments that a tool does not declare, this passes
   * `_trailblazeContext` to the handler: what Trailblaze says about the device and remembers, or undefined if another MCP client
   * makes the call.
   */
  registerTool<I extends Input | undefined = undefined>(
    tool: RegisteredTool<I> & { name: string },
    handler: RegisteredHandler<I>,
  ): this;
  registerTool<I extends Input | undefined = undefined>(
    name: string,
    tool: RegisteredTool<I>,
    handler: RegisteredHandler<I>,
  ): this;
  registerTool(...given: unknown[]): this {
    const [name, tool, handler] = (given.length === 2 ? [(given[0] as { name: string }).name, ...given] : given) as [
      string,
      RegisteredTool<Input | undefined>,
      Call,
    ];
    const { inputSchema, ...spec } = tool;
    const isOpen = inputSchema === undefined || Object.keys(inputSchema).length === 0;
    const input: Input = isOpen ? { type: 'object' } : inputSchema;
    add(this.#tools, name, { ...spec, input }, async (args, ctx) => toResult(await handler(args, ctx)), true);
    return this;
  }

  /** Adds a resource, such as `trailblaze://registry`. What is not a string is sent as JSON. */
  resource(uri: string, read: () => unknown): this {
    if (this.#resources.some((resource) => resource.uri === uri)) {
      throw new TypeError(`two resources have the address \`${uri}\`; rename one`);
    }
    this.#resources.push({ uri, read: async () => textOf(await read()) });
    return this;
  }

  /** Serves the tools, as `run()` does: over stdio, or over HTTP with `--transport http --port N`. */
  abstract run(options?: Pick<RunOptions, 'args'>): Promise<RunningServer>;

  protected served({ args }: Pick<RunOptions, 'args'> = {}): ServeOptions {
    const tools = [...this.#tools.values()];
    return { ...this.#options, tools, resources: this.#resources, ...(args === undefined ? {} : { args }) };
  }
}

type Call = (args: unknown, ctx: ToolContext) => unknown;

function toResult(returned: unknown): HandlerResult {
  if (returned === undefined || returned === null || typeof returned === 'string') {
    return returned ?? undefined;
  }
  if (isRecord(returned)) {
    // An MCP result is returned as it is.
    return Array.isArray(returned['content']) ? (returned as never) : success(textOf(returned), returned);
  }
  if (JSON.stringify(returned) === undefined) {
    throw new TypeError(`the result is a ${typeof returned}, which JSON does not have`);
  }
  return textOf(returned);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
