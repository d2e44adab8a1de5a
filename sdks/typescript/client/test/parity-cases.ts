/** The cases of tests/parity, which every protocol and client answers alike, with this client. */

import { readFileSync } from 'node:fs';

import { ActionFailed, AssertionFailed, TrailblazeClient, TrailblazeError, type Element, type ScreenState, type ShellResult, type WindowList } from '@trailblaze/client';

export type Case = { on: string; name: string; method: string; params: Record<string, unknown>; answer: unknown };

export function casesOn(device: string): Case[] {
  const file = new URL('../../../../tests/parity/cases.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as Case[]).filter(({ on }) => on === device);
}

type Methods = Record<string, ((params: unknown) => Promise<unknown>) | undefined>;

/** The answer in the form that all clients are compared in. */
export async function answerOf(tb: TrailblazeClient, { method, params }: Case): Promise<unknown> {
  const [service = '', rpc = ''] = method.split('/');
  const name = rpc.charAt(0).toLowerCase() + rpc.slice(1);
  const groups: Record<string, object | undefined> = { MaestroCommands: tb.maestro, PlaywrightCommands: tb.playwright, DesktopCommands: tb.desktop };
  const holder = service in groups ? groups[service] : tb;
  try {
    // A group that the device lacks is absent; its commands can be called by name.
    const calling = holder === undefined ? tb.callTool(name, params) : (holder as unknown as Methods)[name]?.(params);
    return { ok: normal(name, await calling) };
  } catch (error) {
    if (error instanceof ActionFailed || error instanceof AssertionFailed) {
      return { failed: error.variant, message: error.message.replace(/ within [\d.]+ s/g, '') };
    }
    if (error instanceof TrailblazeError) {
      return { error: error.code, message: error.message };
    }
    throw error;
  }
}

function normal(name: string, answer: unknown): unknown {
  if (name === 'captureScreen') {
    const { platform, width, height, app = null, root, picture } = answer as ScreenState;
    return { platform, width, height, app, texts: texts(root), picture: picture?.mime ?? null };
  }
  if (name === 'adbShell') {
    const { output, exitCode } = answer as ShellResult;
    return { output, exitCode };
  }
  if (name === 'windows') {
    return (answer as WindowList).windows.map(({ id, title, app, bounds, active }) => [id, title, app, bounds?.right, bounds?.bottom, active]);
  }
  if (typeof answer === 'object' && answer !== null && 'success' in answer) {
    return (answer as { structured?: unknown }).structured ?? null;
  }
  return answer;
}

function texts({ text, children }: Element): string[] {
  return [...(text === undefined ? [] : [text]), ...children.flatMap(texts)];
}
