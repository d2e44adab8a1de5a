/**
 * Version 1 of what a tool says to Trailblaze over `POST {baseUrl}/scripting/callback`, and what it hears.
 * `wire/callback-v1.json` has an example of everything; Trailblaze's own tests read the same file.
 */

import { isRecord } from './envelope.ts';
import { TrailblazeCallbackError, TrailblazeToolError } from './errors.ts';

export const CALLBACK_PATH = '/scripting/callback';
export const CALLBACK_VERSION = 1;
/** How long Trailblaze lets a call take, progress or not. */
export const LONGEST_CALL_MS = 600_000;

export type CallbackRequest = {
  version: typeof CALLBACK_VERSION;
  session_id: string;
  invocation_id: string;
  action: CallbackAction;
};

export type CallbackAction = {
  type: 'call_tool';
  tool_name: string;
  /** JSON in a string, so that the callback knows nothing of any tool's arguments. */
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

/** Reads an answer. Empty texts may have been left out; anything else must be as agreed. */
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
    `Trailblaze gave an answer that version ${CALLBACK_VERSION} of the callback does not know: ${shorten(json)}\n` +
      'hint: upgrade @trailblaze/scripting',
  );
}

/** The text of a tool that succeeded; otherwise throws what went wrong. */
export function toText(toolName: string, { result }: CallbackAnswer): string {
  if (result.type === 'error') {
    throw new TrailblazeCallbackError(result.message);
  }
  if (!result.success) {
    throw new TrailblazeToolError(toolName, result.errorMessage);
  }
  return result.textContent;
}

/** As much of a strange answer as helps. */
export function shorten(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
