/** One method of the contract: its arguments in, its answer out. */

import { ActionFailed, AssertionFailed, messageOf, TrailblazeError } from './errors.ts';

export type CallOptions = {
  /** Cancels the call, also on the device. The call rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
  /**
   * How long the whole call may take, in milliseconds. Trailblaze ends the call then; if it does not say so, the client gives up
   * half a second later. Default: a little longer than Trailblaze's own limit of ten minutes. A stream has no limit by default.
   */
  deadlineMs?: number | undefined;
};

export type MethodSpec = {
  readonly path: string;
  readonly name: string;
  /**
   * `action`, `assertion` and `tool` throw if they fail; `value` is a message with a lone `value`; `stream` is a series of
   * messages.
   */
  readonly answer: 'action' | 'actionValue' | 'assertion' | 'tool' | 'value' | 'message' | 'stream';
  readonly params: readonly string[];
  /** The parameters that are accepted by position, and how many of them must be given in that form. */
  readonly positional: readonly string[];
  readonly needed: number;
  /** What an absent `value` means. Default: null. */
  readonly zero?: unknown;
  /** The paths of fields that are base64 in JSON. */
  readonly bytes?: readonly (readonly string[])[];
};

/** Whether a method only answers, so that calling it without using the answer is a mistake. */
export function isQuery({ name, answer }: MethodSpec): boolean {
  return answer === 'value' || (answer === 'message' && name !== 'reloadTools');
}

export type Json = Readonly<Record<string, unknown>>;

export type Arguments = { params: Record<string, unknown>; options: CallOptions };

/** Reads the arguments of a method: parameters in an object, or by position with an object for the others; then options. */
export function readArguments(spec: MethodSpec, args: readonly unknown[]): Arguments {
  const { name, positional, params: names } = spec;
  const isByPosition = positional.length > 0 && args[0] !== undefined && !isRecord(args[0]);
  const params: Record<string, unknown> = {};
  let next = 0;
  if (isByPosition) {
    for (const key of positional) {
      const value = args[next];
      if (value === undefined && next < spec.needed) {
        throw wrong(`\`${name}\` needs ${list(positional.slice(0, spec.needed))} by position, or an object of parameters`);
      }
      params[key] = value;
      next += 1;
    }
  }
  if (names.length > (isByPosition ? positional.length : 0)) {
    const more = args[next] ?? {};
    next += 1;
    if (!isRecord(more)) {
      throw wrong(`the parameters of \`${name}\` must be an object, got ${describe(more)}`);
    }
    for (const [key, value] of Object.entries(more)) {
      if (!names.includes(key)) {
        throw wrong(`\`${name}\` has no parameter \`${key}\`; its parameters are ${list(names)}`);
      }
      if (params[key] !== undefined) {
        throw wrong(`\`${key}\` of \`${name}\` is given twice`);
      }
      params[key] = value;
    }
  }
  const options = args[next] ?? {};
  if (!isRecord(options) || args.length > next + 1) {
    throw wrong(`\`${name}\` takes ${list(names)} and then options, got ${args.map(describe).join(', ')}`);
  }
  return { params, options: readOptions(name, options) };
}

const OPTIONS = ['signal', 'deadlineMs'];

function readOptions(name: string, options: Json): CallOptions {
  for (const key of Object.keys(options)) {
    if (!OPTIONS.includes(key)) {
      throw wrong(`\`${name}\` has no option \`${key}\`; the options are ${list(OPTIONS)}`);
    }
  }
  const { deadlineMs } = options as CallOptions;
  // Timers of Node end at once if they are asked to wait longer.
  if (deadlineMs !== undefined && !(Number.isFinite(deadlineMs) && deadlineMs > 0 && deadlineMs < 2 ** 31 - 1000)) {
    throw wrong(`\`deadlineMs\` must be a number of milliseconds above 0, got ${describe(deadlineMs)}`);
  }
  return options as CallOptions;
}

/** Reads a response. Throws if it says that an action or assertion failed. */
export function readAnswer(spec: MethodSpec, response: unknown): unknown {
  if (!isRecord(response)) {
    throw new TrailblazeError('internal', `Trailblaze answered \`${spec.name}\` with ${describe(response)}, not with an object`);
  }
  switch (spec.answer) {
    case 'value':
      return response['value'] ?? spec.zero ?? null;
    case 'actionValue':
      return succeeded(spec, response)['value'] ?? null;
    case 'message':
    case 'stream':
      return withElements(withBytes(spec, response));
    default:
      return succeeded(spec, response);
  }
}

function succeeded(spec: MethodSpec, response: Json): Json {
  if (response['success'] === true) {
    return response;
  }
  const { message, variant: sent } = response;
  const variant = typeof sent === 'string' ? sent : '';
  const text = typeof message === 'string' && message !== '' ? message : `\`${spec.name}\` failed`;
  const isAssertion = spec.answer === 'assertion' || (spec.answer === 'tool' && variant === 'AssertionFailed');
  throw isAssertion ? new AssertionFailed(text, variant) : new ActionFailed(text, variant);
}

function withBytes(spec: MethodSpec, response: Json): Json {
  for (const path of spec.bytes ?? []) {
    const parents = path.slice(0, -1);
    const key = path.at(-1) ?? '';
    const holder = parents.reduce<unknown>((value, part) => (isRecord(value) ? value[part] : undefined), response);
    if (isRecord(holder) && typeof holder[key] === 'string') {
      (holder as Record<string, unknown>)[key] = bytesOf(holder[key]);
    }
  }
  return response;
}

/** Adds the elements of a screen as a list. It is not part of its JSON. */
export function withElements(response: Json): Json {
  const { root } = response;
  if (isRecord(root)) {
    const get = (): Json[] => walk(root);
    Object.defineProperty(response, 'elements', { get, configurable: true, enumerable: false });
  }
  return response;
}

function walk(element: Json): Json[] {
  const { children } = element;
  return [element, ...(Array.isArray(children) ? children.filter(isRecord).flatMap(walk) : [])];
}

function bytesOf(base64: string): Uint8Array {
  // The script engine has no `Buffer`.
  const isNode = typeof Buffer === 'function';
  return isNode ? new Uint8Array(Buffer.from(base64, 'base64')) : Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0));
}

export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function wrong(message: string): TrailblazeError {
  return new TrailblazeError('invalid_argument', message);
}

function list(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ') || 'none';
}

function describe(value: unknown): string {
  try {
    return typeof value === 'string' || isRecord(value) ? JSON.stringify(value) : String(value);
  } catch (thrown) {
    return messageOf(thrown);
  }
}
