/** One call of a tool, from its arguments to its result. Never throws: errors become results. */

import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { ActionFailed, AssertionFailed, TrailblazeError } from '@trailblaze/client';

import type { CallContext } from './context.ts';
import { contextOf, isRecord, withoutContext } from './envelope.ts';
import { messageOf } from './errors.ts';
import { explain } from './runtime.ts';
import { assertionFailed, error, fatalError, success, unsupported, type TrailblazeResultMeta } from './result.ts';
import type { DefinedTool, HandlerResult } from './tool.ts';

export async function invoke(tool: DefinedTool, args: unknown, ctx: CallContext): Promise<CallToolResult> {
  try {
    const checked = await tool.input.check(withoutContext(args));
    if ('refusal' in checked) {
      return checked.refusal;
    }
    const given = checked.args as Record<string, unknown>;
    const handed = tool.takesContext ? { ...given, _trailblazeContext: contextOf(args, ctx._meta) } : given;
    return await ctx.runtime.run(ctx, async () => {
      const returned = await tool.handler(handed as never, ctx);
      await ctx.settled();
      const unhandled = await ctx.runtime.unhandled(ctx);
      return unhandled === undefined ? withMemory(toResult(tool.name, returned), ctx) : notAwaited(unhandled.reason, ctx);
    });
  } catch (thrown) {
    return failure(thrown, ctx);
  }
}

function notAwaited(reason: unknown, { runtime }: CallContext): CallToolResult {
  return error(`something that the tool did not wait for failed: ${explain(reason, runtime)}`);
}

/** An exception as a result. The failure of a command keeps its kind, because some are never retried or repaired. */
function failure(thrown: unknown, { runtime }: CallContext): CallToolResult {
  const message = explain(thrown, runtime);
  if (thrown instanceof AssertionFailed) {
    return assertionFailed(message);
  }
  if (thrown instanceof ActionFailed && thrown.variant === 'FatalError') {
    return fatalError(message);
  }
  const isUnsupported = thrown instanceof TrailblazeError && thrown.code === 'unimplemented';
  return isUnsupported ? unsupported(message) : error(message);
}

function toResult(tool: string, returned: HandlerResult): CallToolResult {
  if (returned === undefined || typeof returned === 'string') {
    return success(returned ?? '');
  }
  if (!isRecord(returned) || !Array.isArray(returned.content)) {
    return error(
      `\`${tool}\` returned an invalid result\n` +
        'hint: return a string, nothing, or the value of a function of @trailblaze/scripting/result',
    );
  }
  try {
    // A value that JSON cannot represent would leave the caller without a response.
    JSON.stringify(returned);
  } catch (thrown) {
    return error(`the result of \`${tool}\` cannot be sent: ${messageOf(thrown)}`);
  }
  return returned;
}

/** Adds memory changes to a result. Trailblaze ignores those of an error, so none are sent. */
function withMemory(result: CallToolResult, ctx: CallContext): CallToolResult {
  if (result.isError === true) {
    return result;
  }
  const { memoryDelta, memoryDeletions } = ctx.memoryChanges();
  const changes: TrailblazeResultMeta = {
    ...(Object.keys(memoryDelta).length > 0 ? { memoryDelta } : {}),
    ...(memoryDeletions.length > 0 ? { memoryDeletions } : {}),
  };
  if (Object.keys(changes).length === 0) {
    return result;
  }
  const given = isRecord(result._meta?.['trailblaze']) ? result._meta['trailblaze'] : {};
  return { ...result, _meta: { ...result._meta, trailblaze: { ...changes, ...given } } };
}
