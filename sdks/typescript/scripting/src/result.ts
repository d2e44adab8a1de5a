/** Results of tools. Each is an ordinary MCP result; what is specific to Trailblaze is in `_meta.trailblaze`. */

import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

export type Variant =
  | 'Success'
  | 'ExceptionThrown'
  | 'FatalError'
  | 'MissingRequiredArgs'
  | 'AssertionFailed'
  | 'MaestroValidationError'
  | 'Unsupported';

/** `_meta.trailblaze` of a result. */
export type TrailblazeResultMeta = {
  variant?: Variant;
  missing?: string[];
  memoryDelta?: Record<string, unknown>;
  memoryDeletions?: string[];
};

/** A call that Trailblaze makes, and records instead of the tool's own. */
export type Delegate = { tool: string; args?: Record<string, unknown> };

export function success(text = '', structuredContent?: Record<string, unknown>): CallToolResult {
  const result = answer('Success', text);
  return structuredContent === undefined ? result : { ...result, structuredContent };
}

/** The tool failed. */
export function error(text: string): CallToolResult {
  return answer('ExceptionThrown', text);
}

/** The tool failed and the trail must end. Never retried or repaired. */
export function fatalError(text: string): CallToolResult {
  return answer('FatalError', text);
}

/** A check failed. Never repaired. */
export function assertionFailed(text: string): CallToolResult {
  return answer('AssertionFailed', text);
}

/** The device does not support this. */
export function unsupported(text: string): CallToolResult {
  return answer('Unsupported', text);
}

export function missingRequiredArgs(missing: readonly string[], text?: string): CallToolResult {
  const said = text ?? `missing required arguments: ${missing.map((name) => `\`${name}\``).join(', ')}`;
  return answer('MissingRequiredArgs', said, { missing: [...missing] });
}

/** Delegates to other tools, which Trailblaze calls in order. */
export function delegates(calls: readonly Delegate[], text?: string): CallToolResult {
  for (const call of calls) {
    if (typeof call?.tool !== 'string' || call.tool === '') {
      throw new TypeError('a delegate needs the name of a `tool`');
    }
  }
  const said = text ?? `delegated to ${calls.map((call) => `\`${call.tool}\``).join(', ') || 'no tool'}`;
  const structured = { _trailblaze_delegates: calls.map(({ tool, args = {} }) => ({ tool, args })) };
  return success(said, structured);
}

function answer(variant: Variant, text: string, more: TrailblazeResultMeta = {}): CallToolResult {
  const trailblaze: TrailblazeResultMeta = { variant, ...more };
  return {
    content: text === '' ? [] : [{ type: 'text', text }],
    isError: variant !== 'Success',
    _meta: { trailblaze },
  };
}
