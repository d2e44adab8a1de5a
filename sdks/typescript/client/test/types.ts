/** What the types accept and reject. Compiled, never run. */

import { TrailblazeClient, type Direction, type ScreenState, type ToolRegistry } from '@trailblaze/client';

export async function accepted(tb: TrailblazeClient, signal: AbortSignal): Promise<void> {
  await tb.tap({ text: 'Sign in' });
  await tb.tap(100, 200);
  await tb.tap({ text: 'Sign in', timeoutMs: undefined }, { signal, deadlineMs: 1000 });
  await tb.inputText('x');
  await tb.inputText('x', { hideKeyboardAfter: false }, { signal });
  await tb.inputText({ text: 'x' });
  await tb.launchApp();
  await tb.launchApp('com.acme', { launchMode: 'resume' });
  await tb.waitUntilVisible('Go Online', 10_000);
  await tb.waitUntilVisible({ text: 'Go Online', timeoutMs: 10_000 });
  await tb.maestro?.swipe('down');
  await tb.maestro?.swipe('DOWN', { durationMs: 10 });
  await tb.playwright?.click('#a');
  await tb.callTool('acme_signIn', { email: 'a' }, { signal });
  const visible: boolean = await tb.isVisible('Dashboard', { timeoutMs: 5000 });
  const text: string | null = await tb.getElementText('name');
  const count: number = await tb.getElementCount({ id: 'row' });
  const screen: ScreenState = await tb.captureScreen({ picture: true });
  const bytes: Uint8Array | undefined = screen.picture?.data;
  const role: string = screen.root.role;
  for await (const event of tb.watchEvents({ after: 1 })) {
    const number: number = event.number;
    void number;
  }
  void [visible, text, count, bytes, role];
}

export async function rejected(tb: TrailblazeClient): Promise<void> {
  // @ts-expect-error no such parameter
  await tb.tap({ txt: 'Sign in' });
  // @ts-expect-error a point needs both
  await tb.tap(100);
  // @ts-expect-error the text is required
  await tb.inputText({ hideKeyboardAfter: true });
  // @ts-expect-error the text is a string
  await tb.inputText(5);
  // @ts-expect-error the timeout is required
  await tb.waitUntilVisible('Go Online');
  // @ts-expect-error no such direction
  await tb.maestro?.swipe('sideways');
  // @ts-expect-error the group may be absent
  await tb.maestro.pressBack();
  // @ts-expect-error not a mode
  await tb.launchApp({ launchMode: 'fast' });
  // @ts-expect-error a text may be absent
  const text: string = await tb.getElementText('name');
  const screen = await tb.captureScreen();
  // @ts-expect-error answers are read-only
  screen.width = 5;
  void text;
}

export const direction: Direction = 'left';

export const registry: ToolRegistry = { tools: { acme_login: { platforms: ['android'], exposedToLlm: true } } };

// @ts-expect-error a misspelt flag
export const misspelt: ToolRegistry = { tools: { acme_login: { exposedToLLM: true } } };
