/** What all views share: the client, the address, and messages to the user. */
import { client } from '../api/client.ts';
import { RpcError } from '../api/connect.ts';
import type { StudioReply, TrailblazeStudio, Workspace } from '../generated/messages.ts';
import { store } from '../shared/store.ts';
import { readRoute, writeRoute, type Route } from './routes.ts';

/** Set once, before the first view is drawn. */
export let api: TrailblazeStudio;
let workspace = '';
export const workspaceName = (): string => workspace;
export const route = store<Route>(readRoute(location.hash));
/** Why the page cannot be used; empty if it can. */
export const locked = store('');
/** The newest state of the workspace. Only the first page follows it; others use what is known. */
export const known = store<Workspace | null>(null);
/** Whether the page was just opened for a device, whose session it should open. */
export let isFresh = false;
export const opened = () => {
  isFresh = false;
};

const AGAIN = 'Run `trailblaze studio` again to open this page.';

/** Exchanges the key of the address for a cookie, and takes it out of the address. */
export async function enter(): Promise<void> {
  const { path, params } = readRoute(location.hash);
  const key = params.get('key');
  params.delete('key');
  workspace = params.get('workspace') ?? '';
  api = client(workspace);
  history.replaceState(null, '', writeRoute(path, params));
  route.set(readRoute(location.hash));
  addEventListener('hashchange', () => {
    const next = readRoute(location.hash);
    // An address that was typed or pasted into an open tab.
    if (next.params.has('key')) location.reload();
    else route.set(next);
  });
  if (key === null) return;
  isFresh = path.length === 0 && !params.has('trails');
  try {
    const response = await fetch('/studio/enter', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ key }),
      credentials: 'same-origin',
    });
    if (!response.ok) locked.set((await response.text()).trim() || AGAIN);
  } catch {
    locked.set(`Trailblaze does not answer. ${AGAIN}`);
  }
}

/** The address of a view. */
export function href(path: string[], more: Record<string, string> = {}): string {
  return writeRoute(path, new URLSearchParams({ ...(workspace && { workspace }), ...more }));
}

export const go = (path: string[], more?: Record<string, string>): void => {
  location.hash = href(path, more);
};

// ---- Messages.

export interface Toast {
  id: number;
  kind: 'info' | 'done' | 'error';
  text: string;
  /** Text that the user must not lose. */
  kept?: string | undefined;
}

export const toasts = store<Toast[]>([]);
let nextToast = 0;

export function say(text: string, kind: Toast['kind'] = 'info', kept?: string): void {
  const toast = { id: nextToast++, kind, text, kept };
  // The same message twice is one message.
  toasts.set([...toasts.value.filter((other) => other.text !== text || other.kept !== kept), toast].slice(-4));
}

/** How long a message stays, while nobody points at it: long enough to read it twice. `undefined` for ever. */
export function lifetime({ kind, text, kept }: Toast): number | undefined {
  if (kept !== undefined) return undefined;
  return (kind === 'error' ? 20_000 : 6000) + 60 * text.length;
}

export const dismiss = (id: number): void => toasts.set(toasts.value.filter((toast) => toast.id !== id));

/** Shows why a request failed. */
export function trouble(thrown: unknown): void {
  if (thrown instanceof RpcError && thrown.code === 'unauthenticated') locked.set(AGAIN);
  else if (!(thrown instanceof DOMException && thrown.name === 'AbortError'))
    say(thrown instanceof Error ? thrown.message : String(thrown), 'error');
}

/** The answer of a request; `undefined` if it failed, which is then shown. */
export async function ask<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (thrown) {
    trouble(thrown);
    return undefined;
  }
}

/** Opens a trail in the editor of the user, whose address the daemon knows. */
export async function openInEditor(path: string): Promise<void> {
  const reply = await ask(api.openInEditor({ path }));
  if (!reply) return;
  const address = (reply.value as { url?: unknown } | null)?.url;
  if (!reply.isDone) say(reply.text || 'It was not opened.', 'error');
  // Only addresses of editors: a scheme of its own, never a page.
  else if (typeof address === 'string' && /^[a-z][a-z0-9+.-]*:\/\//i.test(address) && !/^(https?|javascript|data|blob):/i.test(address))
    location.href = address;
  else say(reply.text || 'Opened in the editor', 'done');
}

/** Whether what was asked for was done. Otherwise, the reason is shown. */
export async function done(request: Promise<StudioReply>, success?: string): Promise<boolean> {
  const reply = await ask(request);
  if (!reply) return false;
  if (!reply.isDone) say(reply.text || 'It was not done.', 'error');
  else if (success) say(success, 'done');
  return reply.isDone;
}
