/** The session of this user's daemon, for a call that Trailblaze did not make: an agent started the server by itself. */

import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { ActionFailed, AssertionFailed, TrailblazeClient, TrailblazeError } from '@trailblaze/client';
import { DaemonTransport } from '@trailblaze/client/daemon';

import type { AnyToolClient } from './context.ts';
import { isRecord, type DevicePlatform, type ReceivedMeta } from './envelope.ts';
import { messageOf, TrailblazeCallbackError, TrailblazeToolError } from './errors.ts';
import { error } from './result.ts';

export type Outside = {
  /** What Trailblaze would have sent with the call. */
  meta: ReceivedMeta;
  commands: TrailblazeClient;
  client: AnyToolClient;
};

/** The session, or why there is none to use. */
export async function findOutside(signal: AbortSignal): Promise<Outside | { problem: string }> {
  if (process.env['TRAILBLAZE_BASE_URL'] !== undefined) {
    return { problem: 'Trailblaze started this server\nhint: call the tool from a trail, or with `trailblaze tool`' };
  }
  const transport = new DaemonTransport();
  try {
    const first = new TrailblazeClient({ transport, signal });
    const [{ sessionId, device }, memory] = await Promise.all([first.getSession(), first.dumpMemory()]);
    const { id, driver, width, height } = device;
    const platform = device.platform as DevicePlatform;
    const meta = {
      sessionId,
      device: { id, platform, widthPixels: width, heightPixels: height, driverType: driver },
      memory: { ...memory },
      capabilities: { sampling: false },
    };
    const commands = new TrailblazeClient({ transport, signal, platform });
    return { meta, commands, client: { callTool: (name, args, options) => callTool(commands, name, args, options?.timeoutMs) } };
  } catch (thrown) {
    return { problem: messageOf(thrown) };
  }
}

async function callTool(commands: TrailblazeClient, name: string, args = {}, deadlineMs: number | undefined) {
  try {
    return { text: (await commands.callTool(name, args, { deadlineMs })).message };
  } catch (thrown) {
    if (thrown instanceof ActionFailed || thrown instanceof AssertionFailed) {
      throw new TrailblazeToolError(name, thrown.message);
    }
    throw thrown instanceof TrailblazeError ? new TrailblazeCallbackError(thrown.message, thrown.code) : thrown;
  }
}

/** Remembers what a result says, as Trailblaze does for the calls that it makes. */
export async function rememberOutside({ commands }: Outside, result: CallToolResult): Promise<CallToolResult> {
  const said = isRecord(result._meta?.['trailblaze']) && result.isError !== true ? result._meta['trailblaze'] : {};
  const { memoryDelta = {}, memoryDeletions = [] } = said;
  try {
    for (const [name, value] of isRecord(memoryDelta) ? Object.entries(memoryDelta) : []) {
      await commands.remember(name, typeof value === 'string' ? value : JSON.stringify(value));
    }
    for (const name of Array.isArray(memoryDeletions) ? memoryDeletions : []) {
      await commands.forget(String(name));
    }
    return result;
  } catch (thrown) {
    return error(`the tool is done, but what it remembers is not stored: ${messageOf(thrown)}`);
  }
}
