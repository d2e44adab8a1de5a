/** The Connect protocol with JSON, over `fetch`. */

/** An error of the daemon, or of the way to it. Codes are those of Connect. */
export class RpcError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const HEAD_BYTES = 5;
const END_OF_STREAM = 0x02;
const MAX_MESSAGE_BYTES = 256 << 20;

export interface Frame {
  isEnd: boolean;
  text: string;
}

/** Splits a stream of bytes into messages. */
export class Frames {
  #parts: Uint8Array[] = [];
  #size = 0;
  #wanted = HEAD_BYTES;
  readonly #decoder = new TextDecoder();

  push(chunk: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    this.#parts.push(chunk);
    this.#size += chunk.length;
    // Joined only when a message is complete, so that a large one in small parts is not copied again and again.
    while (this.#size >= this.#wanted) {
      const held = joined(this.#parts, this.#size);
      const view = new DataView(held.buffer, held.byteOffset);
      const length = view.getUint32(1);
      if (length > MAX_MESSAGE_BYTES) throw new RpcError('resource_exhausted', `a message of ${length} bytes is too large`);
      this.#wanted = HEAD_BYTES + length;
      this.#parts = [held];
      if (held.length < this.#wanted) break;
      frames.push({ isEnd: (view.getUint8(0) & END_OF_STREAM) !== 0, text: this.#decoder.decode(held.subarray(HEAD_BYTES, this.#wanted)) });
      const rest = held.subarray(this.#wanted);
      this.#parts = [rest];
      this.#size = rest.length;
      this.#wanted = HEAD_BYTES;
    }
    return frames;
  }
}

function joined(parts: Uint8Array[], size: number): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export function envelope(text: string): Uint8Array<ArrayBuffer> {
  const json = new TextEncoder().encode(text);
  const framed = new Uint8Array(HEAD_BYTES + json.length);
  new DataView(framed.buffer).setUint32(1, json.length);
  framed.set(json, HEAD_BYTES);
  return framed;
}

export async function unary(path: string, request: unknown, signal?: AbortSignal): Promise<unknown> {
  const response = await send(path, 'application/json', JSON.stringify(request), signal);
  return response.json();
}

export async function* stream(path: string, request: unknown, signal?: AbortSignal): AsyncGenerator<unknown, void, void> {
  const response = await send(path, 'application/connect+json', envelope(JSON.stringify(request)), signal);
  const frames = new Frames();
  const reader = response.body!.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) throw new RpcError('unavailable', 'the connection was closed');
      for (const frame of frames.push(value)) {
        const message: unknown = JSON.parse(frame.text);
        if (!frame.isEnd) {
          yield message;
          continue;
        }
        const error = readError((message as { error?: unknown }).error);
        if (error) throw error;
        return;
      }
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

async function send(path: string, type: string, body: string | Uint8Array<ArrayBuffer>, signal?: AbortSignal): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(`/${path}`, {
      method: 'POST',
      headers: { 'content-type': type, 'connect-protocol-version': '1' },
      body,
      credentials: 'same-origin',
      ...(signal && { signal }),
    });
  } catch (thrown) {
    if (signal?.aborted) throw thrown;
    throw new RpcError('unavailable', 'Trailblaze does not answer');
  }
  if (response.ok) return response;
  const text = await response.text().catch(() => '');
  throw errorOf(response.status, text);
}

/** What a status means if the response does not say it. */
const STATUS: Record<number, string> = {
  401: 'unauthenticated',
  403: 'permission_denied',
  404: 'unimplemented',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
};

export function errorOf(status: number, text: string): RpcError {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return readError(json) ?? new RpcError(STATUS[status] ?? 'unknown', text.trim().slice(0, 500) || `status ${status}`);
}

function readError(error: unknown): RpcError | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code !== 'string') return undefined;
  return new RpcError(code, typeof message === 'string' && message !== '' ? message : code);
}
