/**
 * Version 1 of the requests that a tool sends to `POST {baseUrl}/scripting/callback`, and of the responses.
 * `wire/callback-v1.json` has an example of each; Trailblaze's own tests read the same file.
 */

import { isRecord } from './envelope.ts';
import { TrailblazeCallbackError, TrailblazeToolError } from './errors.ts';

export const CALLBACK_PATH = '/scripting/callback';
export const CALLBACK_VERSION = 1;

export type CallbackRequest = {
  version: typeof CALLBACK_VERSION;
  session_id: string;
  invocation_id: string;
  action: CallbackAction;
};

export type CallbackAction = {
  type: 'call_tool';
  tool_name: string;
  /** JSON in a string, so that the callback is independent of the arguments of tools. */
  arguments_json: string;
};

export type CallbackAnswer = { result: CallbackResult };

export type CallbackResult =
  | { type: 'call_tool_result'; success: boolean; textContent: string; errorMessage: string }
  | { type: 'error'; message: string };

export function callToolRequest(
  call: { sessionId: string; invocationId: string },
  toolName: string,
  args: Record<string, unknown>,
): CallbackRequest {
  return {
    version: CALLBACK_VERSION,
    session_id: call.sessionId,
    invocation_id: call.invocationId,
    action: { type: 'call_tool', tool_name: toolName, arguments_json: JSON.stringify(args) },
  };
}

/** Reads a response. Empty strings may be omitted; everything else is required. */
export function readAnswer(json: unknown): CallbackAnswer {
  const result = isRecord(json) ? json['result'] : undefined;
  if (isRecord(result)) {
    const { type, success, textContent = '', errorMessage = '', message } = result;
    const areTexts = typeof textContent === 'string' && typeof errorMessage === 'string';
    if (type === 'call_tool_result' && typeof success === 'boolean' && areTexts) {
      return { result: { type, success, textContent, errorMessage } };
    }
    if (type === 'error' && typeof message === 'string') {
      return { result: { type, message } };
    }
  }
  throw new TrailblazeCallbackError(
    `Trailblaze returned a response that version ${CALLBACK_VERSION} of the callback does not define: ${shorten(json)}\n` +
      'hint: upgrade @trailblaze/scripting',
  );
}

/** Returns the text of a tool that succeeded; throws if it failed. */
export function toText(toolName: string, { result }: CallbackAnswer): string {
  if (result.type === 'error') {
    throw new TrailblazeCallbackError(result.message);
  }
  if (!result.success) {
    throw new TrailblazeToolError(toolName, result.errorMessage);
  }
  return result.textContent;
}

/** Shortens an unexpected response for a message. */
export function shorten(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
