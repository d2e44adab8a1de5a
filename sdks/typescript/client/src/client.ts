/** The client: the methods of the contract for one device. */

import { HttpTransport, type Transport } from './connect.ts';
import { identityOf, identityOfArgument, signalOf, trackOf, type Identity, type Track } from './context.ts';
import { DAEMON_ADDRESS, DaemonTransport } from './daemon.ts';
import { currentEngine, ENGINE_ADDRESS, EngineTransport } from './engine.ts';
import { withStackOf } from './errors.ts';
import {
  GROUPS,
  TRAILBLAZE_COMMANDS,
  TRAILBLAZE_MEMORY,
  TRAILBLAZE_SESSION,
  type CommandGroups,
  type ModelReply,
  type ScreenState,
  type TrailblazeCommands,
  type TrailblazeMemory,
  type TrailblazeSession,
} from './generated.ts';
import { isQuery, readAnswer, readArguments, type CallOptions, type Json, type MethodSpec } from './method.ts';
import { Sampling } from './sampling.ts';
import { parseAddress } from './transport.ts';

const DEFAULT_ADDRESS = 'http://127.0.0.1:52525';

/** The names of the commands that every device has. */
export const COMMAND_NAMES = Object.keys(TRAILBLAZE_COMMANDS) as readonly (keyof TrailblazeCommands)[];
/** The names of the groups of further commands. */
export const GROUP_NAMES = Object.keys(GROUPS) as readonly (keyof CommandGroups)[];

export type ClientOptions = {
  /** The tool call that the client's calls belong to. */
  invocationId?: string | undefined;
  /** The key of a session, from the key file of `trailblaze serve`. */
  key?: string | undefined;
  sessionId?: string | undefined;
  deviceId?: string | undefined;
  /** `android`, `ios`, `web` or `desktop`, if known: decides which of `maestro`, `playwright` and `desktop` are there. */
  platform?: string | undefined;
  /** The argument `_trailblaze` of a tool that declares it. */
  context?: unknown;
  /** Cancels all calls of the client. */
  signal?: AbortSignal | undefined;
  /** Replaces HTTP, for tests. */
  transport?: Transport | undefined;
  /** Is given every call before it is made; makes it, or refuses to, and returns what its caller gets. */
  track?: Track | undefined;
};

export interface TrailblazeClient extends TrailblazeCommands, TrailblazeMemory, TrailblazeSession, CommandGroups {}

/**
 * Calls Trailblaze. Actions throw `ActionFailed` and assertions `AssertionFailed` if they fail; queries answer, and never throw
 * because of what is on the screen. A call that is refused or not answered throws `TrailblazeError` with a code.
 */
export class TrailblazeClient {
  readonly baseUrl: string;
  /** `android`, `ios`, `web` or `desktop`; undefined if unknown. */
  readonly platform: string | undefined;
  /** Asks the model of the session, in the words of MCP. */
  readonly sampling = new Sampling((params, options) => this.askModel(params, options));
  readonly #ids: Json;
  readonly #signal: AbortSignal | undefined;
  readonly #transport: Transport;
  readonly #track: Track;
  readonly #groups = new Map<string, object | undefined>();

  /**
   * @param address Such as `localhost:52525`. Without it, and without an invocation and a key, the client uses the session of this
   * user's daemon that TRAILBLAZE_SESSION names, or the only one that is open. In a tool server that Trailblaze started, a client
   * without an invocation and without a key always uses TRAILBLAZE_BASE_URL, so that it cannot reach another run.
   */
  constructor(address?: string, options?: ClientOptions);
  constructor(options?: ClientOptions);
  constructor(first?: string | ClientOptions, second?: ClientOptions) {
    const [address, options] = typeof first === 'object' ? [undefined, first] : [first, second ?? {}];
    const context = identityOfArgument(options.context);
    const invocationId = options.invocationId ?? context.invocationId;
    this.platform = options.platform?.toLowerCase() ?? context.platform;
    const engine = currentEngine();
    const hasId = invocationId !== undefined || options.key !== undefined;
    const chosen = engine === undefined ? chooseAddress(address ?? context.baseUrl, hasId) : ENGINE_ADDRESS;
    this.baseUrl = chosen ?? DAEMON_ADDRESS;
    // Empty ids would be ids that nobody has.
    this.#ids = {
      ...given('deviceId', options.deviceId ?? context.deviceId),
      ...given('sessionId', options.sessionId ?? context.sessionId),
      ...given('invocationId', invocationId),
    };
    this.#signal = options.signal;
    this.#track = options.track ?? ((make) => make());
    const overHttp = () => (chosen === undefined ? new DaemonTransport() : new HttpTransport(chosen, options.key?.trim()));
    this.#transport = options.transport ?? (engine === undefined ? overHttp() : new EngineTransport(engine));
  }

  /**
   * A client for the device of a tool call. `context` is what the handler of the tool got: the `extra` of the official MCP SDK
   * (its `ctx` in version 2), or the context of @trailblaze/scripting. Calls end when the tool call is cancelled.
   *
   * If an agent started the server by itself, the client uses the session of this user's daemon, as one without arguments does.
   */
  static fromContext(context: unknown): TrailblazeClient {
    const { baseUrl, ...ids }: Identity = identityOf(context) ?? {};
    return new TrailblazeClient(baseUrl, { ...ids, signal: signalOf(context), track: trackOf(context) });
  }

  /** Asks the model of the session, about the current screen if `screen` is given. */
  askLlm(prompt: string, screen?: boolean | ScreenState, options?: CallOptions): Promise<ModelReply> {
    return this.askModel({ prompt, screen: screen !== undefined && screen !== false }, options);
  }

  #call(spec: MethodSpec, args: readonly unknown[]): unknown {
    if (spec.answer === 'stream') {
      return this.#stream(spec, args);
    }
    return this.#track(() => this.#unary(spec, args), { name: spec.name, isQuery: isQuery(spec) });
  }

  async #unary(spec: MethodSpec, args: readonly unknown[]): Promise<unknown> {
    const call = new Error();
    const { params, options } = readArguments(spec, args);
    const [signal, release] = this.#signalOf(options);
    try {
      return readAnswer(spec, await this.#transport.unary(spec.path, { ...params, ...this.#ids }, { ...options, signal }));
    } catch (error) {
      throw withStackOf(call, error);
    } finally {
      release();
    }
  }

  async *#stream(spec: MethodSpec, args: readonly unknown[]): AsyncGenerator<unknown, void, void> {
    const { params, options } = readArguments(spec, args);
    const [signal, release] = this.#signalOf(options);
    try {
      for await (const message of this.#transport.stream(spec.path, { ...params, ...this.#ids }, { ...options, signal })) {
        yield readAnswer(spec, message);
      }
    } finally {
      release();
    }
  }

  /** The signals of the client and of the call as one, and how to stop listening to them. */
  #signalOf({ signal }: CallOptions): [AbortSignal | undefined, () => void] {
    const own = this.#signal;
    if (own === undefined || signal === undefined) {
      return [own ?? signal, () => {}];
    }
    const both = new AbortController();
    const abort = (): void => both.abort(own.aborted ? own.reason : signal.reason);
    const signals = [own, signal];
    signals.forEach((one) => one.addEventListener('abort', abort, { once: true }));
    if (own.aborted || signal.aborted) {
      abort();
    }
    return [both.signal, () => signals.forEach((one) => one.removeEventListener('abort', abort))];
  }

  #group(name: keyof typeof GROUPS): object | undefined {
    const { methods, platforms } = GROUPS[name];
    if (this.platform !== undefined && !(platforms as string[]).includes(this.platform)) {
      return undefined;
    }
    const known = this.#groups.get(name);
    const group = known ?? define({}, methods, (spec, args) => this.#call(spec, args));
    this.#groups.set(name, group);
    return group;
  }

  static {
    const call = (spec: MethodSpec, args: readonly unknown[], client: TrailblazeClient) => client.#call(spec, args);
    for (const methods of [TRAILBLAZE_COMMANDS, TRAILBLAZE_MEMORY, TRAILBLAZE_SESSION]) {
      define(this.prototype, methods, call as Call);
    }
    for (const name of GROUP_NAMES) {
      Object.defineProperty(this.prototype, name, {
        configurable: true,
        get(this: TrailblazeClient) {
          return this.#group(name);
        },
      });
    }
  }
}

type Call = (spec: MethodSpec, args: readonly unknown[], self: unknown) => unknown;

function define(target: object, methods: Readonly<Record<string, MethodSpec>>, call: Call): object {
  for (const [name, spec] of Object.entries(methods)) {
    const value = function (this: unknown, ...args: unknown[]): unknown {
      return call(spec, args, this);
    };
    Object.defineProperty(value, 'name', { value: name });
    Object.defineProperty(target, name, { value, configurable: true, writable: true });
  }
  return target;
}

let hasSaid = false;

/** Undefined if the session has to be looked for. */
function chooseAddress(address: string | undefined, hasId: boolean): string | undefined {
  const own = baseUrlOfEnvironment();
  const given = address === undefined ? undefined : parseAddress(address);
  if (own === undefined || hasId) {
    const otherwise = own ?? (hasId ? DEFAULT_ADDRESS : undefined);
    return given ?? (otherwise === undefined ? undefined : parseAddress(otherwise));
  }
  const chosen = parseAddress(own);
  if (given !== undefined && given !== chosen && !hasSaid) {
    hasSaid = true;
    console.error(
      `trailblaze: using ${chosen} instead of ${given}: this server was started by Trailblaze (TRAILBLAZE_BASE_URL)\n` +
        'hint: create the client with `TrailblazeClient.fromContext(ctx)`',
    );
  }
  return chosen;
}

function baseUrlOfEnvironment(): string | undefined {
  return globalThis.process?.env['TRAILBLAZE_BASE_URL'] || undefined;
}

function given(key: string, value: string | undefined): Json {
  return value === undefined || value === '' ? {} : { [key]: value };
}
