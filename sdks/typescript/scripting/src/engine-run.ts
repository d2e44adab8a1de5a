/** Serves the tools in Trailblaze's script engine, which this code runs in. */

import { TrailblazeClient } from '@trailblaze/client';
import { currentEngine, ENGINE_ADDRESS, within, type Engine } from '@trailblaze/client/engine';

import { CallContext, type AnyToolClient } from './context.ts';
import { isRecord, readMeta } from './envelope.ts';
import { messageOf, TrailblazeCallbackError, TrailblazeToolError } from './errors.ts';
import { invoke } from './invoke.ts';
import { explain, ownerOf, type Runtime } from './runtime.ts';
import { ServerOfTools } from './server.ts';
import type { RunningServer, RunOptions, ServeOptions } from './serving.ts';
import { definedTools, usePlaces } from './tool.ts';

usePlaces((stack) => currentEngine()?.placeOf(stack));

/** Serves the tools. What concerns the process, such as `args`, has no meaning here. */
export function run(options: RunOptions = {}): Promise<RunningServer> {
  return serve(options);
}

/** A server of tools with a list of its own. */
export class Server extends ServerOfTools {
  run(options?: Pick<RunOptions, 'args'>): Promise<RunningServer> {
    return serve(this.served(options));
  }
}

async function serve(options: ServeOptions): Promise<RunningServer> {
  const engine = currentEngine();
  if (engine === undefined) {
    throw new Error('this build of @trailblaze/scripting runs in the script engine of Trailblaze only');
  }
  const runtime = new EngineRuntime(engine);
  const tools = new Map((options.tools ?? definedTools()).map((tool) => [tool.name, tool]));
  const { name = 'tools', version = '0.0.0', instructions, resources = [] } = options;
  engine.serve({
    list: () => ({
      serverInfo: { name, version },
      instructions,
      tools: [...tools.values()].map(({ definition, definedAt }) => {
        const place = runtime.placeOf(definedAt);
        return place === undefined ? definition : { ...definition, _meta: { ...definition._meta, 'trailblaze/definedAt': place } };
      }),
      resources: resources.map(({ uri }) => ({ uri, name: uri, mimeType: 'application/json' })),
    }),
    async call(params, { signal }) {
      const tool = tools.get(String(params['name']));
      if (tool === undefined) {
        throw new TypeError(`unknown tool \`${String(params['name'])}\``);
      }
      const raw = isRecord(params['_meta']) ? params['_meta'] : undefined;
      const meta = readMeta(raw);
      const invocationId = meta?.invocationId ?? '';
      const ctx: CallContext = new CallContext({
        meta: meta === undefined ? undefined : { baseUrl: ENGINE_ADDRESS, ...meta },
        raw,
        commands: () => TrailblazeClient.fromContext(ctx),
        client: () => toolClient(engine, invocationId, signal),
        signal,
        log: (level, message, isDoubt = false) => tell(engine.request(invocationId, 'log', { level, message, isDoubt })),
        progress: (message) => tell(engine.request(invocationId, 'progress', { message })),
        // Trailblaze shows what is wrong when no call is in progress.
        warnLate: (message) => console.error(message),
        runtime,
      });
      return invoke(tool, params['arguments'], ctx);
    },
    async read(params) {
      const resource = resources.find(({ uri }) => uri === params['uri']);
      if (resource === undefined) {
        throw new TypeError(`unknown resource \`${String(params['uri'])}\``);
      }
      return { contents: [{ uri: resource.uri, mimeType: 'application/json', text: await resource.read() }] };
    },
  });
  return { close: async () => {} };
}

/** What the script engine knows about the code of a tool. */
class EngineRuntime implements Runtime {
  readonly #engine: Engine;
  readonly #open = new Set<CallContext>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  placeOf(stack: string): string | undefined {
    return this.#engine.placeOf(stack);
  }

  stackOf(thrown: unknown): string {
    return this.#engine.stackOf(thrown);
  }

  async run<T>(call: CallContext, _tool: string, handler: () => Promise<T>): Promise<T> {
    this.#open.add(call);
    try {
      return await handler();
    } finally {
      this.#open.delete(call);
    }
  }

  async unhandled(call: CallContext): Promise<{ reason: unknown } | undefined> {
    if (call.failures.length > 0) {
      // What the failure of a command makes fail has to run first.
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    const rejected = this.#engine.unhandled().map(({ name, message, stack }) => Object.assign(new Error(message), { name, stack }));
    // From the end, because each that is taken changes the places of those after it.
    const found = [...rejected.entries()].reverse().filter(([at, reason]) => {
      const place = this.placeOf(reason.stack);
      const isReason = (failure: unknown) =>
        failure instanceof Error && failure.message === reason.message && this.placeOf(failure.stack ?? '') === place;
      const owner = ownerOf(this.#open, isReason);
      if (owner === undefined || owner === call) {
        this.#engine.takeUnhandled(at);
      }
      if (owner === undefined) {
        console.error(`unhandled promise rejection: ${explain(reason, this)}`);
      }
      return owner === call;
    });
    return found.map(([, reason]) => ({ reason })).at(-1);
  }

  timers(call: CallContext): string[] {
    // The engine does not know which call set a timer.
    return this.#open.size === 1 && this.#open.has(call) ? this.#engine.openTimers() : [];
  }

  processes(): string[] {
    return [];
  }
}

/** The engine takes what is told before the call ends; afterwards it may refuse to confirm that, which fails nothing. */
function tell(sending: Promise<unknown>): void {
  sending.catch(() => {});
}

function toolClient(engine: Engine, invocationId: string, signal: AbortSignal): AnyToolClient {
  return {
    async callTool(name, args = {}, { timeoutMs } = {}) {
      signal.throwIfAborted();
      let answer: unknown;
      try {
        const asked = engine.request(invocationId, 'call', { tool: name, args });
        answer = await within(asked, `\`${name}\``, { signal, deadlineMs: timeoutMs });
      } catch (error) {
        if (signal.aborted) {
          throw error;
        }
        throw new TrailblazeCallbackError(messageOf(error));
      }
      const { isError, text } = isRecord(answer) ? answer : {};
      if (isError === true) {
        throw new TrailblazeToolError(name, String(text ?? ''));
      }
      return { text: String(text ?? '') };
    },
  };
}
