/** `client.callTool` over HTTP. */

import { TrailblazeError } from '@trailblaze/client';
import { DEFAULT_DEADLINE_MS, post, type Reply } from '@trailblaze/client/transport';

import { CALLBACK_PATH, callToolRequest, readAnswer, shorten, toText } from './callback.ts';
import type { CallOptions, ToolAnswer, AnyToolClient } from './context.ts';
import { TrailblazeCallbackError } from './errors.ts';

export type Endpoint = { baseUrl: string; sessionId: string; invocationId: string; signal: AbortSignal };

export function httpClient(endpoint: Endpoint): AnyToolClient {
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
  const { signal } = endpoint;
  signal.throwIfAborted();
  const address = callbackAddress(endpoint.baseUrl);
  const deadlineMs = options.timeoutMs ?? DEFAULT_DEADLINE_MS;
  const body = Buffer.from(JSON.stringify(callToolRequest(endpoint, name, args)));
  let reply: Reply;
  try {
    reply = await post(address, { headers: { 'content-type': 'application/json' }, body, signal, deadlineMs });
  } catch (error) {
    if (!(error instanceof TrailblazeError)) {
      throw error;
    }
    const isLate = error.code === 'deadline_exceeded';
    throw new TrailblazeCallbackError(isLate ? `\`${name}\` was not answered within ${deadlineMs} ms` : error.message, error.code);
  }
  const { status, text } = reply;
  if (status !== 200) {
    const said = text.trim() === '' ? '' : `: ${shorten(text.trim())}`;
    throw new TrailblazeCallbackError(`Trailblaze refused to call \`${name}\` with status ${status}${said}`);
  }
  return { text: toText(name, readAnswer(parse(text))) };
}

function callbackAddress(baseUrl: string): string {
  const text = baseUrl.replace(/\/+$/, '') + CALLBACK_PATH;
  if (!URL.canParse(text) || new URL(text).protocol !== 'http:') {
    throw new TrailblazeCallbackError(`the address of Trailblaze must be an http address, got \`${baseUrl}\``);
  }
  return text;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TrailblazeCallbackError(`Trailblaze returned a response that is not JSON: ${shorten(text)}`);
  }
}
