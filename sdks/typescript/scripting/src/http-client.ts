/** `client.callTool` over HTTP. */

import { Agent, request } from 'node:http';

import {
  CALLBACK_PATH,
  callToolRequest,
  LONGEST_CALL_MS,
  readAnswer,
  shorten,
  toText,
  type CallbackRequest,
} from './callback.ts';
import type { CallOptions, ToolAnswer, ToolClient } from './context.ts';
import { messageOf, TrailblazeCallbackError } from './errors.ts';

/** Longer than Trailblaze's own limit, so that its response, which has the reason, arrives first. */
export const DEFAULT_TIMEOUT_MS = LONGEST_CALL_MS + 30_000;

export type Endpoint = { baseUrl: string; sessionId: string; invocationId: string; signal: AbortSignal };

type Answer = { status: number; text: string };

export function httpClient(endpoint: Endpoint): ToolClient {
  return {
    callTool: (name, args = {}, options = {}) => callTool(endpoint, name, args, options),
  };
}

async function callTool(
  endpoint: Endpoint,
  name: string,
  args: Record<string, unknown>,
  options: CallOptions,
): Promise<ToolAnswer> {
  endpoint.signal.throwIfAborted();
  const address = callbackAddress(endpoint.baseUrl);
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const timeout = AbortSignal.timeout(timeoutMs);
  let answer: Answer;
  try {
    const signal = AbortSignal.any([endpoint.signal, timeout]);
    answer = await post(address, callToolRequest(endpoint, name, args), signal);
  } catch (error) {
    endpoint.signal.throwIfAborted();
    if (timeout.aborted) {
      throw new TrailblazeCallbackError(`\`${name}\` was not answered within ${timeoutMs} ms`);
    }
    throw new TrailblazeCallbackError(`Trailblaze cannot be reached at ${address.href}: ${messageOf(error)}`);
  }
  const { status, text } = answer;
  if (status !== 200) {
    const said = text.trim() === '' ? '' : `: ${shorten(text.trim())}`;
    throw new TrailblazeCallbackError(`Trailblaze refused to call \`${name}\` with status ${status}${said}`);
  }
  return { text: toText(name, readAnswer(parse(text))) };
}

/**
 * Not `fetch`, because Bun's sends even requests to this machine through the proxy of HTTP_PROXY. A separate agent keeps Node
 * from doing so.
 */
function post(address: URL, body: CallbackRequest, signal: AbortSignal): Promise<Answer> {
  const bytes = Buffer.from(JSON.stringify(body));
  const headers = {
    'content-type': 'application/json',
    'content-length': bytes.length,
    accept: 'application/json',
  };
  return new Promise((resolve, reject) => {
    const agent = new Agent({ keepAlive: false });
    const asking = request(address, { method: 'POST', agent, headers, signal }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('aborted', () => reject(new Error('the connection was closed in the middle of the response')));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
      );
    });
    asking.on('error', reject);
    // Some runtimes ignore the signal once the response has begun.
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    asking.end(bytes);
  });
}

function callbackAddress(baseUrl: string): URL {
  const text = baseUrl.replace(/\/+$/, '') + CALLBACK_PATH;
  const address = URL.canParse(text) ? new URL(text) : undefined;
  if (address?.protocol !== 'http:') {
    throw new TrailblazeCallbackError(`the address of Trailblaze must be an http address, got \`${baseUrl}\``);
  }
  return address;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TrailblazeCallbackError(`Trailblaze returned a response that is not JSON: ${shorten(text)}`);
  }
}
