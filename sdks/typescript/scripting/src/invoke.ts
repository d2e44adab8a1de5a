/** One call of a tool, from its arguments to its result. Never throws: errors become results. */

import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { ActionFailed, AssertionFailed, TrailblazeError } from '@trailblaze/client';

import type { CallContext, MadeCall } from './context.ts';
import { contextOf, isRecord, withoutContext } from './envelope.ts';
import { unlikeJson } from './json.ts';
import { atPlace, explain } from './runtime.ts';
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
    return await ctx.runtime.run(ctx, tool.name, async () => {
      const returned = await tool.handler(handed as never, ctx);
      await ctx.settled();
      const unhandled = await ctx.runtime.unhandled(ctx);
      if (unhandled !== undefined) {
        return notAwaited(unhandled.reason, tool, ctx);
      }
      const overlooked = ctx.overlooked();
      if (overlooked !== undefined) {
        const message = `the tool did not wait for the answer of \`${overlooked.name}\`\nhint: write \`await\` before the call`;
        return error(atPlace(message, ctx.runtime.placeOf(overlooked.stack)));
      }
      warnOfLeftovers(tool, ctx);
      return withMemory(toResult(tool, returned, ctx), ctx);
    });
  } catch (thrown) {
    return failure(thrown, tool, ctx);
  } finally {
    ctx.end(tool);
  }
}

function notAwaited(reason: unknown, tool: DefinedTool, { runtime }: CallContext): CallToolResult {
  const message = explain(reason, runtime, tool.definedAt);
  const hint = message.includes('\nhint: ') ? '' : '\nhint: write `await` before the call';
  return error(`something that the tool did not wait for failed: ${message}${hint}`);
}

/** What a timer or the end of a process does after the call is not part of it, and lost if the server ends first. */
function warnOfLeftovers({ name }: DefinedTool, ctx: CallContext): void {
  for (const place of ctx.runtime.timers(ctx)) {
    ctx.doubt(`\`${name}\` ended before its timer fired; wait for it, or clear it (${place})`);
  }
  for (const place of ctx.runtime.processes(ctx)) {
    ctx.doubt(`\`${name}\` ended before a process that it had started; wait for it (${place})`);
  }
}

/** An exception as a result. The failure of a command keeps its kind, because some are never retried or repaired. */
function failure(thrown: unknown, { definedAt }: DefinedTool, ctx: CallContext): CallToolResult {
  const { runtime } = ctx;
  const said = explain(thrown, runtime, definedAt);
  const forgotten = thrown instanceof TypeError && !said.includes('\nhint: ') ? ctx.forgotten() : undefined;
  const hint = ({ name, stack }: MadeCall) => `\nhint: ${atPlace(`write \`await\` before the call of \`${name}\``, runtime.placeOf(stack))}`;
  const message = forgotten === undefined ? said : said + hint(forgotten);
  if (thrown instanceof AssertionFailed) {
    return assertionFailed(message);
  }
  if (thrown instanceof ActionFailed && thrown.variant === 'FatalError') {
    return fatalError(message);
  }
  const isUnsupported = thrown instanceof TrailblazeError && thrown.code === 'unimplemented';
  return isUnsupported ? unsupported(message) : error(message);
}

function toResult({ name, definedAt }: DefinedTool, returned: HandlerResult, { runtime }: CallContext): CallToolResult {
  if (returned === undefined || typeof returned === 'string') {
    return success(returned ?? '');
  }
  if (!isRecord(returned) || !Array.isArray(returned.content)) {
    const message =
      `\`${name}\` returned an invalid result\n` +
      'hint: return a string, nothing, or the value of a function of @trailblaze/scripting/result';
    return error(atPlace(message, runtime.placeOf(definedAt)));
  }
  // A value that JSON refuses would leave the caller without a response, and one that it changes with a wrong one.
  const lost = unlikeJson(returned);
  if (lost !== undefined) {
    return error(atPlace(`the result of \`${name}\` cannot be sent: ${lost}`, runtime.placeOf(definedAt)));
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
