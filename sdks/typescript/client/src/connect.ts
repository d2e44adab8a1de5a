/** The Connect protocol, with JSON, over our transport. */

import { CODES, messageOf, shorten, TrailblazeError, type RpcCode } from './errors.ts';
import { isRecord, type CallOptions, type Json } from './method.ts';
import { brokenOff, MAX_RESPONSE_BYTES, open, post, type Reply } from './transport.ts';

/** How requests reach Trailblaze. A test can have one that needs no server. */
export interface Transport {
  unary(path: string, request: Json, options: CallOptions): Promise<unknown>;
  stream(path: string, request: Json, options: CallOptions): AsyncIterable<unknown>;
}

/** How much later than Trailblaze the client gives up, so that Trailblaze's reason arrives first. */
const GRACE_MS = 500;
const STREAM_TYPE = 'application/connect+json';
const END_OF_STREAM = 0x02;
const COMPRESSED = 0x01;
const HEAD_BYTES = 5;

export class HttpTransport implements Transport {
  readonly #baseUrl: string;
  readonly #key: string | undefined;

  constructor(baseUrl: string, key: string | undefined) {
    this.#baseUrl = baseUrl;
    this.#key = key;
  }

  async unary(path: string, request: Json, options: CallOptions): Promise<unknown> {
    const address = `${this.#baseUrl}/${path}`;
    const body = Buffer.from(encode(request));
    const reply = await post(address, { ...this.#outgoing('application/json', options), body });
    if (reply.status !== 200) {
      throw errorOf(address, reply);
    }
    return parse(address, reply.text);
  }

  async *stream(path: string, request: Json, options: CallOptions): AsyncGenerator<unknown, void, void> {
    const address = `${this.#baseUrl}/${path}`;
    const outgoing = { ...this.#outgoing(STREAM_TYPE, options), body: envelope(encode(request)) };
    const opened = await open(address, STREAM_TYPE, outgoing);
    if ('reply' in opened) {
      throw errorOf(address, opened.reply);
    }
    for await (const { flags, text } of frames(address, opened.chunks)) {
      if ((flags & COMPRESSED) !== 0) {
        throw new TrailblazeError('internal', `${address} sent a compressed message, which was not asked for`);
      }
      const message = parse(address, text);
      if ((flags & END_OF_STREAM) === 0) {
        yield message;
        continue;
      }
      const error = isRecord(message) ? message['error'] : undefined;
      if (error !== undefined) {
        throw readError(error) ?? new TrailblazeError('unknown', `${address} ended the stream with ${shorten(text)}`);
      }
      return;
    }
    throw brokenOff(address);
  }

  #outgoing(contentType: string, { signal, deadlineMs }: CallOptions) {
    const headers: Record<string, string> = { 'content-type': contentType, 'connect-protocol-version': '1' };
    if (this.#key !== undefined) {
      headers['authorization'] = `Bearer ${this.#key}`;
    }
    if (deadlineMs !== undefined) {
      headers['connect-timeout-ms'] = String(Math.ceil(deadlineMs));
    }
    return { headers, signal, deadlineMs: deadlineMs === undefined ? undefined : deadlineMs + GRACE_MS };
  }
}

function encode(request: Json): string {
  try {
    return JSON.stringify(request);
  } catch (thrown) {
    throw new TrailblazeError('invalid_argument', `the parameters cannot be sent as JSON: ${messageOf(thrown)}`);
  }
}

function envelope(text: string): Buffer {
  const json = Buffer.from(text);
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(json.length, 1);
  return Buffer.concat([head, json]);
}

/** Splits a stream into its messages. */
async function* frames(address: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<{ flags: number; text: string }> {
  let parts: Buffer[] = [];
  let size = 0;
  let wanted = HEAD_BYTES;
  for await (const chunk of chunks) {
    parts.push(chunk);
    size += chunk.length;
    // Joined only when a message is complete, so that a large one in small parts is not copied again and again.
    while (size >= wanted) {
      let held: Buffer = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
      const length = held.readUInt32BE(1);
      wanted = HEAD_BYTES + length;
      if (length > MAX_RESPONSE_BYTES) {
        throw new TrailblazeError('resource_exhausted', `${address} sent a message of ${length} bytes`);
      }
      if (size >= wanted) {
        yield { flags: held[0]!, text: held.toString('utf8', HEAD_BYTES, wanted) };
        held = held.subarray(wanted);
        wanted = HEAD_BYTES;
      }
      parts = [held];
      size = held.length;
    }
  }
  if (size > 0) {
    throw brokenOff(address);
  }
}

function parse(address: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TrailblazeError('internal', `${address} sent a response that is not JSON: ${shorten(text)}\nhint: is it Trailblaze?`);
  }
}

function readError(error: unknown): TrailblazeError | undefined {
  if (!isRecord(error) || typeof error['code'] !== 'string') {
    return undefined;
  }
  const { code, message } = error;
  const isKnown = (CODES as readonly string[]).includes(code);
  const text = typeof message === 'string' && message !== '' ? message : code;
  return new TrailblazeError(isKnown ? (code as RpcCode) : 'unknown', isKnown ? text : `${code}: ${text}`);
}

/** What a status means if the response does not say it, as Connect defines it. */
const STATUS: Record<number, RpcCode> = {
  400: 'internal',
  401: 'unauthenticated',
  403: 'permission_denied',
  404: 'unimplemented',
  408: 'deadline_exceeded',
  413: 'resource_exhausted',
  429: 'unavailable',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
};

function errorOf(address: string, { status, text }: Reply): TrailblazeError {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  const said = text.trim() === '' ? '' : `: ${shorten(text.trim())}`;
  return readError(json) ?? new TrailblazeError(STATUS[status] ?? 'unknown', `${address} answered with status ${status}${said}`);
}
