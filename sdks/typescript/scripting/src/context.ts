/** The context of a call: what a handler gets besides its arguments. */

import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';

import {
  COMMAND_NAMES,
  GROUP_NAMES,
  TrailblazeError,
  withStackOf,
  type CommandGroups,
  type Track,
  type TrailblazeClient,
  type TrailblazeCommands,
} from '@trailblaze/client';

import type { ReceivedMeta, TrailblazeDevice } from './envelope.ts';
import { LateUse } from './errors.ts';
import { explain, type Runtime } from './runtime.ts';
import { SessionMemory, type MemoryChanges, type ToolMemory } from './memory.ts';

/**
 * The typed commands of the device, and what belongs to the call. If an agent started the server by itself and makes the call, the
 * device is that of the session of this user's daemon that TRAILBLAZE_SESSION names, or of the only one that is open. If there is
 * none, reading a command, `device`, `memory` or `client` throws, and the call fails with a message that says so.
 */
export interface ToolContext extends TrailblazeCommands, CommandGroups {
  /** The same as `captureScreen`. */
  readonly screen: TrailblazeCommands['captureScreen'];
  /** Asks the model of the run. Throws `failed_precondition` if there is none, or the server may not use it. */
  readonly askLlm: TrailblazeClient['askLlm'];
  /** The same in the words of MCP. */
  readonly sampling: TrailblazeClient['sampling'];
  /** Whether Trailblaze makes the call. */
  readonly isTrailblaze: boolean;
  readonly device: TrailblazeDevice;
  /** The ids of a call that Trailblaze makes; in others, reading it throws. */
  readonly session: ToolSession;
  readonly memory: ToolMemory;
  /** Calls other tools of the session, on the same device. */
  readonly client: ToolClient;
  /** `_meta` of the call, from which `TrailblazeClient.fromContext(ctx)` makes a client with the whole API. */
  readonly _meta: Readonly<Record<string, unknown>> | undefined;
  /** Aborts when the call is cancelled or the server stops. */
  readonly signal: AbortSignal;
  /** Adds a line to the log of the run. */
  log(level: LoggingLevel, message: string): void;
  /** Reports progress. This also renews the idle timeout: a call that is silent for too long is cancelled. */
  progress(text: string): void;
}

export type ToolSession = { id: string; invocationId: string; baseUrl: string };

declare global {
  /** The tools of the session, in the file that `trailblaze types` writes. Without it, every name is accepted. */
  interface TrailblazeTools {}
}

/** The name of a tool of the session. */
export type ToolName = [keyof TrailblazeTools] extends [never] ? string : keyof TrailblazeTools & string;

/** What follows the name of a tool: its arguments, which may be left out if none is required, and options. */
export type ToolCallArgs<N> = N extends keyof TrailblazeTools
  ? TrailblazeTools[N] extends (args: infer A) => unknown
    ? Parameters<TrailblazeTools[N]> extends [unknown]
      ? [args: A, options?: CallOptions]
      : [args?: A, options?: CallOptions]
    : never
  : [args?: Record<string, unknown>, options?: CallOptions];

export interface ToolClient {
  /** Calls a tool and returns its text; throws `TrailblazeToolError` if the tool fails. */
  callTool<N extends ToolName>(name: N, ...rest: ToolCallArgs<N>): Promise<ToolAnswer>;
}

/** The same for names that are only known at run time. */
export interface AnyToolClient {
  callTool(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<ToolAnswer>;
}

export type ToolAnswer = { text: string };

export type CallOptions = {
  /** How long to wait for the result. Default: a little longer than Trailblaze's limit of ten minutes. */
  timeoutMs?: number;
};

/** What a context is made from: the connection in a server, fakes in a test. */
export type Surroundings = {
  meta: ReceivedMeta | undefined;
  /** Whether another MCP client makes the call, and `meta` is about a session that was found. */
  isOutside?: boolean;
  /** Why there is no `meta`. */
  problem?: string | undefined;
  /** `_meta` as it was received. */
  raw: Readonly<Record<string, unknown>> | undefined;
  commands: () => TrailblazeClient;
  client: (session: () => ToolSession) => AnyToolClient;
  signal: AbortSignal;
  /** `isDoubt`: the tool may not have done what it says, although it passes. */
  log: (level: LoggingLevel, message: string, isDoubt?: boolean) => void;
  progress: (text: string) => void;
  /** Tells people of something that happened after the call had ended, to which its log does not belong. */
  warnLate: (message: string) => void;
  runtime: Runtime;
};

/** The tool of a call that has ended. */
type EndedTool = { readonly name: string; readonly definedAt: string };

const NO_SESSION = 'no Trailblaze session is open\nhint: `trailblaze device connect` opens one';

export interface CallContext extends TrailblazeCommands, CommandGroups, Pick<TrailblazeClient, 'askLlm' | 'sampling'> {}

export class CallContext implements ToolContext {
  readonly isTrailblaze: boolean;
  readonly _meta: Readonly<Record<string, unknown>> | undefined;
  readonly signal: AbortSignal;
  readonly runtime: Runtime;
  /** What calls to Trailblaze failed with. */
  readonly failures: unknown[] = [];
  readonly #around: Surroundings;
  readonly #memory: SessionMemory;
  readonly #pending = new Set<Promise<void>>();
  readonly #unawaited = new Set<FollowedCall<unknown>>();
  #ended: EndedTool | undefined;
  #commands: TrailblazeClient | undefined;

  constructor(around: Surroundings) {
    this.#around = around;
    this.#memory = new SessionMemory(around.meta?.memory ?? {}, (change) => this.#refuseIfEnded(`memory.${change}`));
    this.isTrailblaze = around.meta !== undefined && around.isOutside !== true;
    this._meta = around.raw;
    this.signal = around.signal;
    this.runtime = around.runtime;
  }

  get device(): TrailblazeDevice {
    return present(this.#meta('device').device, 'device');
  }

  get session(): ToolSession {
    const meta = this.#meta('session');
    if (!this.isTrailblaze) {
      throw new TrailblazeError('failed_precondition', '`session` is known only if Trailblaze calls the tool');
    }
    return {
      id: present(meta.sessionId, 'sessionId'),
      invocationId: present(meta.invocationId, 'invocationId'),
      baseUrl: present(meta.baseUrl ?? baseUrlOfEnvironment(), 'baseUrl'),
    };
  }

  get memory(): ToolMemory {
    this.#meta('memory');
    return this.#memory;
  }

  get client(): ToolClient {
    this.#meta('client');
    const client = this.#around.client(() => this.session);
    const callTool: AnyToolClient['callTool'] = (name, args, options) => {
      const call = new Error();
      const make = () => client.callTool(name, args, options).catch((error: unknown) => Promise.reject(withStackOf(call, error)));
      return this.track(make, { name });
    };
    return { callTool } as ToolClient;
  }

  /** Makes a call to Trailblaze and follows it, for a handler that may not wait for it. Refuses it if the handler's own call has ended. */
  readonly track: Track = (make, { name, isQuery = false }) => {
    const late = this.#late(name);
    if (late !== undefined) {
      return Promise.reject(late);
    }
    return FollowedCall.of(this.#follow(make()), { name, isQuery }, this.#unawaited);
  };

  /** From now on, what the code of the tool does in this context is refused. */
  end(tool: EndedTool): void {
    this.#ended = tool;
  }

  /** Warns that the tool may not have done what it says, although it passes. */
  doubt(message: string): void {
    this.#around.log('warning', message, true);
  }

  /** Tells people of something that happened after the call had ended. */
  warnLate(message: string): void {
    this.#around.warnLate(message);
  }

  /** The error of something that the tool does after its call has ended, which people are told of too. Undefined while it runs. */
  #late(what: string): Error | undefined {
    if (this.#ended === undefined) {
      return undefined;
    }
    const late = new LateUse(this.#ended.name, what);
    this.warnLate(explain(late, this.runtime, this.#ended.definedAt));
    return late;
  }

  #refuseIfEnded(what: string): void {
    const late = this.#late(what);
    if (late !== undefined) {
      throw late;
    }
  }

  /** The first query whose answer nothing has waited for: the handler went on as if a promise were the answer. */
  overlooked(): MadeCall | undefined {
    return [...this.#unawaited].map(({ made }) => made).find(({ isQuery }) => isQuery);
  }

  /** The first call that nothing has waited for: code that uses its promise as if it were the answer throws a `TypeError`. */
  forgotten(): MadeCall | undefined {
    const [first] = this.#unawaited;
    return first?.made;
  }

  async #follow<T>(call: Promise<T>): Promise<T> {
    let settle = (): void => {};
    const settled = new Promise<void>((resolve) => (settle = resolve));
    this.#pending.add(settled);
    try {
      return await call;
    } catch (error) {
      this.failures.push(error);
      throw error;
    } finally {
      this.#pending.delete(settled);
      settle();
    }
  }

  /** Waits for the calls that the handler did not wait for: they end with its own call. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) {
      await Promise.all(this.#pending);
    }
  }

  get screen(): TrailblazeCommands['captureScreen'] {
    return this.captureScreen;
  }

  static {
    // Getters rather than methods, so that a handler can destructure the context: `({ text }, { tap }) => tap({ text })`.
    for (const name of COMMAND_NAMES) {
      define(this.prototype, name, (client) => (client[name] as (...args: unknown[]) => unknown).bind(client));
    }
    for (const name of GROUP_NAMES) {
      define(this.prototype, name, (client) => client[name]);
    }
    define(this.prototype, 'askLlm', (client) => client.askLlm.bind(client));
    define(this.prototype, 'sampling', (client) => client.sampling);
  }

  /** The client behind the commands. */
  commands(wanted: string): TrailblazeClient {
    this.#meta(wanted);
    this.#commands ??= this.#around.commands();
    return this.#commands;
  }

  // Functions rather than methods, so that a handler can destructure the context.
  readonly log = (level: LoggingLevel, message: string): void => {
    this.#refuseIfEnded('log');
    this.#around.log(level, message);
  };
  readonly progress = (text: string): void => {
    this.#refuseIfEnded('progress');
    this.#around.progress(text);
  };

  memoryChanges(): MemoryChanges {
    return this.#memory.changes();
  }

  #meta(wanted: string): ReceivedMeta {
    if (this.#around.meta === undefined) {
      throw new TrailblazeError(
        'failed_precondition',
        `this tool needs Trailblaze for \`${wanted}\`, and another MCP client called it: ${this.#around.problem ?? NO_SESSION}`,
      );
    }
    return this.#around.meta;
  }
}

/** What a handler called, and the stack of the call. */
export type MadeCall = { name: string; isQuery: boolean; stack: string };

/** A call that knows whether anything waits for it: `await` and `Promise.all` ask for `then`. */
class FollowedCall<T> extends Promise<T> {
  #made: MadeCall = { name: '', isQuery: false, stack: '' };
  #unawaited: Set<FollowedCall<unknown>> | undefined;

  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  /** Is among the calls in `unawaited` until something waits for it. */
  static of<T>(call: Promise<T>, about: Omit<MadeCall, 'stack'>, unawaited: Set<FollowedCall<unknown>>): FollowedCall<T> {
    const followed = new FollowedCall<T>((resolve) => resolve(call));
    followed.#made = { ...about, stack: String(new Error().stack ?? '') };
    followed.#unawaited = unawaited.add(followed);
    return followed;
  }

  get made(): MadeCall {
    return this.#made;
  }

  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#unawaited?.delete(this);
    return super.then(onFulfilled, onRejected);
  }
}

function define(prototype: CallContext, name: string, get: (client: TrailblazeClient) => unknown): void {
  Object.defineProperty(prototype, name, {
    configurable: true,
    get(this: CallContext) {
      return get(this.commands(name));
    },
  });
}

function present<T>(value: T | undefined, key: string): T {
  if (value === undefined) {
    throw new TrailblazeError('failed_precondition', `\`_meta.trailblaze\` of the call has no \`${key}\``);
  }
  return value;
}

function baseUrlOfEnvironment(): string | undefined {
  return globalThis.process?.env['TRAILBLAZE_BASE_URL'] || undefined;
}

/** The type of a handler's context. Also a value, because runtimes that only strip types import it. */
export type Context = ToolContext;
export const Context = CallContext;
