/** Defines tools. */

import type { CallToolResult, ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';

import type { ToolContext } from './context.ts';
import { checkedInput, type Args, type CheckedInput, type Input, type JsonSchema } from './input.ts';
import { atPlace, NO_RUNTIME, type Runtime } from './runtime.ts';
import { toMeta, type ToolFlags, type TrailblazeTool, type TrailblazeToolMeta } from './tool-meta.ts';

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

export type Handler<I extends Input | undefined = undefined> = (
  args: Args<I>,
  ctx: ToolContext,
) => HandlerResult | Promise<HandlerResult>;

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

const defined = new Map<string, DefinedTool>();

let placeOf: Runtime['placeOf'] = NO_RUNTIME.placeOf;

/** From now on, what is wrong with a definition is told with its place. */
export function usePlaces(places: Runtime['placeOf']): void {
  placeOf = places;
}

/** Defines a tool. `run()` serves it under exactly this name. */
export function tool<I extends Input | undefined = undefined>(
  name: string,
  spec: ToolSpec<I>,
  handler: Handler<I>,
): DefinedTool {
  return add(defined, name, spec, handler);
}

/** Adds a tool to a list of tools. */
export function add(
  tools: Map<string, DefinedTool>,
  name: string,
  spec: Partial<ToolSpec>,
  handler: DefinedTool['handler'],
  takesContext = false,
): DefinedTool {
  const definedAt = String(new Error().stack ?? '');
  const place = placeOf(definedAt);
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
    throw new TypeError(atPlace(`\`${name}\` is not a valid tool name: models accept up to 64 letters, digits, _ and -`, place));
  }
  const first = tools.get(name);
  if (first !== undefined) {
    const places = [placeOf(first.definedAt), place].filter((known) => known !== undefined).join(' and ');
    throw new TypeError(`${atPlace(`two tools are named \`${name}\``, places === '' ? undefined : places)}; rename one`);
  }
  const { description, title, annotations, _meta } = spec;
  const input = checkedInput(name, spec.input);
  const meta = { ..._meta, ...toMeta(spec) };
  const definition: TrailblazeTool = {
    name,
    ...(description === undefined ? {} : { description }),
    inputSchema: input.schema,
    ...(title === undefined ? {} : { title }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }),
  };
  if (typeof handler !== 'function') {
    throw new TypeError(atPlace(`the handler of \`${name}\` must be a function, got ${typeof handler}`, place));
  }
  const made: DefinedTool = { name, definition, input, handler, takesContext, definedAt };
  tools.set(name, made);
  return made;
}

/** All defined tools, in order. */
export function definedTools(): DefinedTool[] {
  return [...defined.values()];
}
