/** What the runtime knows about the code of a tool: where it threw, and which rejections nothing handled. */

import { TrailblazeError } from '@trailblaze/client';

import type { CallContext } from './context.ts';
import { messageOf } from './errors.ts';

export interface Runtime {
  /** The place in the author's code that a stack leads to, such as `tools/orders.ts:12:9`. */
  placeOf(stack: string): string | undefined;
  /** Runs the handler of a call. */
  run<T>(call: CallContext, handler: () => Promise<T>): Promise<T>;
  /** Something that was rejected during a call in progress, and that nothing handled. */
  unhandled(call: CallContext): Promise<{ reason: unknown } | undefined>;
}

/** Unit tests compare messages, so these have no places; and test runners report unhandled rejections themselves. */
export const NO_RUNTIME: Runtime = {
  placeOf: () => undefined,
  run: (_, handler) => handler(),
  unhandled: async () => undefined,
};

/** The message of something that was thrown, and its place ahead of a hint: `it broke (tools/orders.ts:12:9)`. */
export function explain(thrown: unknown, runtime: Runtime): string {
  if (!(thrown instanceof Error)) {
    return messageOf(thrown);
  }
  const isNamed = thrown.name !== 'Error' && thrown.message !== '' && !(thrown instanceof TrailblazeError);
  const message = isNamed ? `${thrown.name}: ${thrown.message}` : messageOf(thrown);
  const place = runtime.placeOf(String(thrown.stack ?? ''));
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
