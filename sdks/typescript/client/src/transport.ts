/**
 * HTTP to Trailblaze, for this package and @trailblaze/scripting. Not `fetch`, because Bun's sends even requests to this machine
 * through the proxy of HTTP_PROXY; an agent of our own keeps Node from doing so.
 *
 * Connections are kept and reused. A request is sent a second time in one case only: it was written to a kept connection, and
 * that connection closed before a single byte of a response. That is what a server does that closed the idle connection at the
 * same moment, without having read the request.
 */

import type { Agent, ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';

import { messageOf, TrailblazeError } from './errors.ts';

/** Trailblaze's own limit for a call, with or without progress. */
export const LONGEST_CALL_MS = 600_000;
/** Longer than Trailblaze's own limit, so that its response, which has the reason, arrives first. */
export const DEFAULT_DEADLINE_MS = LONGEST_CALL_MS + 30_000;
/** More than the largest screen with a picture. */
export const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
/** How long a server may take to begin a stream. */
const STREAM_START_MS = 30_000;

export type Outgoing = {
  headers: OutgoingHttpHeaders;
  body: Uint8Array;
  signal?: AbortSignal | undefined;
  /** Throws `deadline_exceeded` after this time. Default for a stream: none. */
  deadlineMs?: number | undefined;
  /** Throws `resource_exhausted` for a larger response. Default: 64 MiB. */
  maxBytes?: number | undefined;
};

export type Reply = { status: number; contentType: string; text: string };

/** Reads an address such as `localhost:52525` or `http://127.0.0.1:52525/`. Returns it without a slash at the end. */
export function parseAddress(address: string): string {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `http://${address}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.protocol !== 'http:' || url.username !== '' || url.search !== '' || url.hash !== '') {
    throw new TrailblazeError(
      'invalid_argument',
      `the address of Trailblaze must be an http address such as http://127.0.0.1:52525, got \`${address}\``,
    );
  }
  return url.href.replace(/\/+$/, '');
}

/** Sends a request and reads the whole response, whatever its status. */
export async function post(address: string, outgoing: Outgoing): Promise<Reply> {
  const watch = new Watch(address, outgoing.signal, outgoing.deadlineMs ?? DEFAULT_DEADLINE_MS);
  try {
    const response = await send(address, outgoing, watch);
    const text = await watch.unless(bodyOf(address, response, outgoing.maxBytes ?? MAX_RESPONSE_BYTES));
    return { status: response.statusCode ?? 0, contentType: contentTypeOf(response), text };
  } finally {
    watch.end();
  }
}

export type Opened =
  | { reply: Reply }
  | { chunks: AsyncGenerator<Buffer, void, void> };

/** Sends a request and returns the parts of a response with this content type as they arrive; any other is read to its end. */
export async function open(address: string, contentType: string, outgoing: Outgoing): Promise<Opened> {
  const watch = new Watch(address, outgoing.signal, outgoing.deadlineMs);
  const start = setTimeout(() => watch.fail(late(address, STREAM_START_MS)), STREAM_START_MS);
  let response: IncomingMessage;
  try {
    response = await send(address, outgoing, watch);
    if (response.statusCode !== 200 || !contentTypeOf(response).startsWith(contentType)) {
      const text = await watch.unless(bodyOf(address, response, outgoing.maxBytes ?? MAX_RESPONSE_BYTES));
      watch.end();
      return { reply: { status: response.statusCode ?? 0, contentType: contentTypeOf(response), text } };
    }
  } catch (error) {
    watch.end();
    throw error;
  } finally {
    clearTimeout(start);
  }
  return { chunks: chunksOf(address, response, watch) };
}

async function* chunksOf(address: string, response: IncomingMessage, watch: Watch): AsyncGenerator<Buffer, void, void> {
  const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let isAtEnd = false;
  try {
    for (;;) {
      const next = await watch.unless(chunks.next().catch((error: unknown) => Promise.reject(brokenOff(address, error))));
      if (next.done === true) {
        isAtEnd = true;
        return;
      }
      yield next.value;
    }
  } finally {
    watch.end();
    if (!isAtEnd) {
      watch.destroy();
      response.destroy();
    }
  }
}

/** Cancellation and deadline of one request. */
class Watch {
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = (): void => this.fail(this.#signal?.reason);
  readonly #failed: Promise<never>;
  #reject: (reason: unknown) => void = () => {};
  #isOver = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #request: ClientRequest | undefined;

  constructor(address: string, signal: AbortSignal | undefined, deadlineMs: number | undefined) {
    signal?.throwIfAborted();
    this.#signal = signal;
    this.#failed = new Promise((_, reject) => {
      this.#reject = reject;
    });
    this.#failed.catch(() => {});
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (deadlineMs !== undefined) {
      this.#timer = setTimeout(() => this.fail(late(address, deadlineMs)), deadlineMs);
    }
  }

  /** Waits for it, but not beyond the deadline. */
  async unless<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#failed]);
  }

  /** Watches a request. It is not sent if it was cancelled before. */
  on(request: ClientRequest): void {
    this.#request = request;
    if (this.#isOver) {
      request.destroy();
    }
  }

  fail(reason: unknown): void {
    this.#isOver = true;
    this.#reject(reason);
    this.destroy();
  }

  /** Closes the connection, which also tells the server that nobody waits any more. */
  destroy(): void {
    this.#request?.destroy();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }
}

type Http = { request: typeof import('node:http').request; kept: Agent; single: Agent };

let loading: Promise<Http> | undefined;

/** Loaded with the first call, so that importing the package costs nothing. */
function http(): Promise<Http> {
  loading ??= load().then(({ Agent, request }) => ({
    request,
    kept: new Agent({ keepAlive: true, maxFreeSockets: 16, noDelay: true } as object),
    single: new Agent({ keepAlive: false, noDelay: true } as object),
  }));
  return loading;
}

/** `import()` under Node reads all that the module exports, and with it loads the code of `fetch`, which takes 30 ms. */
async function load(): Promise<typeof import('node:http')> {
  const isNode = process.versions['bun'] === undefined;
  return (isNode ? process.getBuiltinModule?.('node:http') : undefined) ?? import('node:http');
}

async function send(address: string, outgoing: Outgoing, watch: Watch): Promise<IncomingMessage> {
  const { request, kept, single } = await http();
  try {
    return await watch.unless(sendOn(kept));
  } catch (error) {
    if (!(error instanceof ClosedWhileIdle)) {
      throw error;
    }
    // Not on another kept connection, which may be closed too.
    return watch.unless(sendOn(single));
  }

  function sendOn(agent: Agent): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-length': outgoing.body.length, 'accept-encoding': 'identity', ...outgoing.headers };
      const asking = request(address, { method: 'POST', agent, headers });
      watch.on(asking);
      let before = 0;
      asking.on('socket', (socket) => {
        before = socket.bytesRead ?? 0;
      });
      asking.on('response', resolve);
      asking.on('error', (error: Error & { code?: string }) => {
        const isClosed = error.code === 'ECONNRESET' || error.code === 'EPIPE';
        const isSilent = (asking.socket?.bytesRead ?? 0) === before;
        reject(isClosed && asking.reusedSocket && isSilent ? new ClosedWhileIdle() : unreachable(address, error));
      });
      asking.end(outgoing.body);
    });
  }
}

/** A kept connection was closed before a byte of the response. */
class ClosedWhileIdle extends Error {}

function bodyOf(address: string, response: IncomingMessage, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const expected = Number(response.headers['content-length'] ?? Number.NaN);
    const tooLarge = () => {
      const limit = `${Math.floor(maxBytes / 1024 / 1024)} MiB`;
      reject(new TrailblazeError('resource_exhausted', `the response of ${address} is larger than ${limit}`));
      response.destroy();
    };
    if (expected > maxBytes) {
      return tooLarge();
    }
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) {
        tooLarge();
      } else {
        chunks.push(chunk);
      }
    });
    response.on('error', (error) => reject(brokenOff(address, error)));
    response.on('aborted', () => reject(brokenOff(address)));
    response.on('end', () => {
      if (expected > size || !response.complete) {
        reject(brokenOff(address));
      } else {
        resolve(Buffer.concat(chunks).toString('utf8'));
      }
    });
  });
}

function contentTypeOf(response: IncomingMessage): string {
  return response.headers['content-type'] ?? '';
}

function late(address: string, deadlineMs: number): TrailblazeError {
  return new TrailblazeError('deadline_exceeded', `${address} did not answer within ${deadlineMs} ms`);
}

/** Nobody listens at the address, or the connection broke. */
class Unreachable extends TrailblazeError {}

function unreachable(address: string, error: unknown): TrailblazeError {
  return new Unreachable('unavailable', `Trailblaze cannot be reached at ${address}: ${messageOf(error)}`, { cause: error });
}

export function isUnreachable(error: unknown): boolean {
  return error instanceof Unreachable;
}

export function brokenOff(address: string, cause?: unknown): TrailblazeError {
  const message = `Trailblaze cannot be reached at ${address}: the connection was closed in the middle of the response`;
  return new Unreachable('unavailable', message, { cause });
}
