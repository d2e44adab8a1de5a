/** Trailblaze itself, for code that runs in its script engine: calls are made without a connection. */

import type { Transport } from './connect.ts';
import { CODES, TrailblazeError, type RpcCode } from './errors.ts';
import { isRecord, type CallOptions, type Json } from './method.ts';

/** What the script engine offers. */
export type Engine = {
  /** Asks Trailblaze for something on behalf of a call in progress, named by its invocation id. */
  request(invocationId: string, operation: string, payload: unknown): Promise<unknown>;
  /** Says which tools the program has. */
  serve(served: Served): void;
  /** The place in a source of the program that a stack leads to. */
  placeOf(stack: string): string | undefined;
  /** Where a value was thrown that is no Error, as a stack; empty if that is not known. */
  stackOf(thrown: unknown): string;
  /** Where the author's code set the timers that have not fired. */
  openTimers(): string[];
  /** What promises were rejected with that nothing has handled. */
  unhandled(): { name: string; message: string; stack: string }[];
  /** Removes one of them. */
  takeUnhandled(index: number): void;
};

/** What a program serves. */
export type Served = {
  list(): unknown;
  call(params: Json, about: { signal: AbortSignal }): Promise<unknown>;
  read(params: Json): Promise<unknown>;
};

/** What stands for the address of Trailblaze in the script engine. */
export const ENGINE_ADDRESS = 'trailblaze:engine';

/** The script engine that this code runs in; undefined in a process of its own. */
export function currentEngine(): Engine | undefined {
  return (globalThis as { __trailblaze?: Engine }).__trailblaze;
}

export class EngineTransport implements Transport {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async unary(path: string, request: Json, options: CallOptions): Promise<unknown> {
    const { invocationId } = request;
    if (typeof invocationId !== 'string') {
      throw new TrailblazeError(
        'failed_precondition',
        'in the script engine, a client belongs to a tool call\nhint: create it with `TrailblazeClient.fromContext(ctx)`',
      );
    }
    const answer = await within(this.#engine.request(invocationId, 'rpc', { method: path, request }), path, options);
    const error = isRecord(answer) ? answer['error'] : undefined;
    if (isRecord(error)) {
      const code = (CODES as readonly unknown[]).includes(error['code']) ? (error['code'] as RpcCode) : 'unknown';
      throw new TrailblazeError(code, String(error['message']));
    }
    return isRecord(answer) ? answer['response'] : answer;
  }

  async *stream(path: string): AsyncGenerator<unknown, void, void> {
    throw new TrailblazeError('unimplemented', `${path} is a stream, which the script engine does not have`);
  }
}

/** Waits for an answer, but not beyond the deadline, nor after the call is cancelled. */
export async function within<T>(work: Promise<T>, what: string, { signal, deadlineMs }: CallOptions): Promise<T> {
  signal?.throwIfAborted();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let abort = (): void => {};
  const over = new Promise<never>((_, reject) => {
    abort = () => reject(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    if (deadlineMs !== undefined) {
      const late = new TrailblazeError('deadline_exceeded', `${what} was not answered within ${deadlineMs} ms`);
      timer = setTimeout(() => reject(late), deadlineMs);
    }
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}
