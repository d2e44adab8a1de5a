/** A list of tools and resources of its own, for code in the style of MCP's SDKs. How they are served, subclasses know. */

import { isRecord } from './envelope.ts';
import { success } from './result.ts';
import type { RunningServer, RunOptions, ServedResource, ServeOptions } from './serving.ts';
import type { ToolContext } from './context.ts';
import { add, type Args, type DefinedTool, type HandlerResult, type Input, type ToolSpec } from './tool.ts';

export type ServerOptions = Omit<RunOptions, 'tools' | 'args'>;

/**
 * Handlers return a string, nothing, a result of `@trailblaze/scripting/result`, or an object, which becomes the structured
 * content of the result. One that throws has failed.
 */
export abstract class ServerOfTools {
  readonly #options: ServerOptions;
  readonly #tools = new Map<string, DefinedTool>();
  readonly #resources: ServedResource[] = [];

  constructor(options: ServerOptions = {}) {
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
  return textOf(returned);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
