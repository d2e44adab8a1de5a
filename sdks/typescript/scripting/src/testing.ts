/** Testing a tool without a server and without Trailblaze. */

import type { CallToolResult, LoggingLevel } from '@modelcontextprotocol/sdk/types.js';

import { fakeClient, refusalOf } from '@trailblaze/client/testing';

import { CallContext, type ToolContext } from './context.ts';
import type { TrailblazeDevice } from './envelope.ts';
import { messageOf, TrailblazeCallbackError, TrailblazeToolError } from './errors.ts';
import { invoke } from './invoke.ts';
import { malformed } from './malformed.ts';
import { error } from './result.ts';
import { NO_RUNTIME } from './runtime.ts';
import { definedTools, type DefinedTool } from './tool.ts';

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
  readonly calls: readonly { name: string; args: Record<string, unknown> }[];
  readonly logs: readonly { level: LoggingLevel; message: string }[];
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

const PHONE: TrailblazeDevice = {
  id: 'android/fake-1',
  platform: 'android',
  widthPixels: 1080,
  heightPixels: 2400,
  driverType: 'android-ondevice-accessibility',
};

/** A context as under Trailblaze. */
export function fakeContext(options: FakeOptions = {}): FakeContext {
  return new Fake(options, true);
}

/** A context as under another MCP client: without device, session, memory and client. */
export function fakeForeignContext(): FakeContext {
  return new Fake({}, false);
}

/**
 * Calls a tool as the server does: arguments are validated, and an exception becomes an error result. So does a result that
 * Trailblaze refuses, such as one with a misspelled key. Use each context for one call only.
 */
export async function callTool(
  toolOrName: DefinedTool | string,
  args: Record<string, unknown> = {},
  ctx: FakeContext = fakeContext(),
): Promise<Called> {
  const tool = typeof toolOrName === 'string' ? find(toolOrName) : toolOrName;
  const returned = await invoke(tool, args, ctx as Fake);
  const problem = malformed(returned);
  const result = problem === undefined ? returned : error(`its answer is malformed: ${problem}`);
  const first = result.content.find((block) => block.type === 'text');
  const isError = result.isError === true;
  const trailblaze = (result._meta?.['trailblaze'] ?? {}) as Partial<Called>;
  const { memoryDelta = {}, memoryDeletions = [] } = isError ? {} : trailblaze;
  return { result, text: first?.text ?? '', isError, memoryDelta, memoryDeletions, calls: ctx.calls };
}

function find(name: string): DefinedTool {
  const tools = definedTools();
  const found = tools.find((tool) => tool.name === name);
  if (found === undefined) {
    const known = tools.map((tool) => `\`${tool.name}\``).join(', ') || 'none';
    throw new TypeError(`no tool \`${name}\` is defined; defined tools: ${known}\nhint: import the file that defines it`);
  }
  return found;
}

class Fake extends CallContext implements FakeContext {
  readonly calls: { name: string; args: Record<string, unknown> }[] = [];
  readonly logs: { level: LoggingLevel; message: string }[] = [];
  readonly progressed: string[] = [];

  constructor({ device, memory = {}, tools = {}, signal }: FakeOptions, isTrailblaze: boolean) {
    const meta = {
      baseUrl: 'http://127.0.0.1:0',
      sessionId: 'fake-session',
      invocationId: 'fake-invocation',
      device: { ...PHONE, ...device },
      memory,
      capabilities: { sampling: false },
    };
    const aborted = signal ?? new AbortController().signal;
    super({
      meta: isTrailblaze ? meta : undefined,
      raw: isTrailblaze ? { trailblaze: meta } : undefined,
      commands: () => {
        const { platform } = meta.device;
        return fakeClient((name, args) => this.#call(tools, name, args), { platform, signal: aborted, track: this.track });
      },
      client: () => ({
        callTool: async (name, args = {}) => ({ text: textOf(await this.#call(tools, name, args)) }),
      }),
      signal: aborted,
      log: (level, message) => void this.logs.push({ level, message }),
      progress: (text) => void this.progressed.push(text),
      warnLate: (message) => void this.logs.push({ level: 'warning', message }),
      runtime: NO_RUNTIME,
    });
  }

  async #call(tools: Record<string, FakeTool>, name: string, args: Record<string, unknown>): Promise<unknown> {
    this.signal.throwIfAborted();
    // Through JSON, as in a real call.
    const sent = JSON.parse(JSON.stringify(args)) as Record<string, unknown>;
    const refusal = refusalOf(name, sent);
    if (refusal !== undefined) {
      throw new TrailblazeCallbackError(refusal, 'invalid_argument');
    }
    this.calls.push({ name, args: sent });
    const fake = Object.hasOwn(tools, name) ? tools[name] : undefined;
    if (fake === undefined) {
      throw new TrailblazeToolError(name, `the test has no fake for \`${name}\``);
    }
    try {
      return await fake(sent);
    } catch (thrown) {
      throw new TrailblazeToolError(name, messageOf(thrown));
    }
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
}
