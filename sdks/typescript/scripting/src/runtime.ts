/** What the runtime knows about the code of a tool: where it threw, which rejections nothing handled, and what it left running. */

import { TrailblazeError } from '@trailblaze/client';

import type { CallContext } from './context.ts';
import { messageOf } from './errors.ts';

export interface Runtime {
  /** The place in the author's code that a stack leads to, such as `tools/orders.ts:12:9`. */
  placeOf(stack: string): string | undefined;
  /** Where something was thrown that is no Error, as a stack; empty if that is not known. */
  stackOf(thrown: unknown): string;
  /** Runs the handler of a call of a tool. */
  run<T>(call: CallContext, tool: string, handler: () => Promise<T>): Promise<T>;
  /** Something that was rejected during a call in progress, and that nothing handled. */
  unhandled(call: CallContext): Promise<{ reason: unknown } | undefined>;
  /** Where the author's code set the timers of a call that have not fired. */
  timers(call: CallContext): string[];
  /** Where the author's code started the processes of a call that have not ended, and whose end something listens for. */
  processes(call: CallContext): string[];
}

/** Unit tests compare messages, so these have no places; and test runners report unhandled rejections themselves. */
export const NO_RUNTIME: Runtime = {
  placeOf: () => undefined,
  stackOf: () => '',
  run: (_call, _tool, handler) => handler(),
  unhandled: async () => undefined,
  timers: () => [],
  processes: () => [],
};

/**
 * The message of something that was thrown, and its place: `it broke (tools/orders.ts:12:9)`. If that is not known, as it is for a text
 * in Bun and Node, the place is where the tool is defined.
 */
export function explain(thrown: unknown, runtime: Runtime, definedAt = ''): string {
  const stack = thrown instanceof Error ? String(thrown.stack ?? '') : runtime.stackOf(thrown);
  return atPlace(described(thrown), runtime.placeOf(stack) ?? runtime.placeOf(definedAt));
}

function described(thrown: unknown): string {
  if (!(thrown instanceof Error)) {
    return typeof thrown === 'string' ? thrown : `it threw ${shown(thrown)}, which is not an Error`;
  }
  if (thrown instanceof TrailblazeError) {
    return messageOf(thrown);
  }
  const isNamed = thrown.name !== 'Error' && thrown.message !== '';
  return `${isNamed ? `${thrown.name}: ` : ''}${messageOf(thrown)}${causeOf(thrown)}`;
}

/** Node says only in the cause why `fetch` failed. */
function causeOf({ message, cause }: Error): string {
  if (!(cause instanceof Error)) {
    return '';
  }
  // Where several addresses were tried, the cause has a code and no message.
  const text = cause.message === '' && 'code' in cause ? String(cause.code) : messageOf(cause);
  return message.includes(text) ? '' : `: ${text}`;
}

function shown(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

/** A message with a place, which comes ahead of a hint. */
export function atPlace(message: string, place: string | undefined): string {
  if (place === undefined) {
    return message;
  }
  const hint = message.lastIndexOf('\nhint: ');
  const end = hint < 0 ? message.length : hint;
  return `${message.slice(0, end)} (${place})${message.slice(end)}`;
}

/** The call that a rejection belongs to: the one whose command failed with it, or the only one. */
export function ownerOf(calls: Iterable<CallContext>, isReason: (failure: unknown) => boolean): CallContext | undefined {
  const open = [...calls];
  return open.find((call) => call.failures.some(isReason)) ?? (open.length === 1 ? open[0] : undefined);
}
