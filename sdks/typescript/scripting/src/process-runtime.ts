/** What Bun and Node know about the code of a tool. */

import { AsyncLocalStorage } from 'node:async_hooks';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { CallContext } from './context.ts';
import { ownerOf, type Runtime } from './runtime.ts';

const current = new AsyncLocalStorage<CallContext>();
/** The calls in progress, with the rejections of each that nothing has handled yet. */
const open = new Map<CallContext, Map<Promise<unknown>, unknown>>();

export const PROCESS_RUNTIME: Runtime = {
  placeOf(stack) {
    for (const line of stack.split('\n')) {
      const [, file, at] = /^\s*at (?:async )?(?:.*\()?((?:file:\/\/)?\/.+?):(\d+:\d+)\)?$/.exec(line) ?? [];
      const path = file?.startsWith('file:') ? fileURLToPath(file) : file;
      if (path !== undefined && isOfAuthor(path)) {
        return `${fromProject(path)}:${at}`;
      }
    }
    return undefined;
  },

  async run(call, handler) {
    open.set(call, new Map());
    try {
      return await current.run(call, handler);
    } finally {
      open.delete(call);
    }
  },

  async unhandled(call) {
    // Both runtimes report rejections after the present callbacks.
    await new Promise((resolve) => setImmediate(resolve));
    const [reason] = [...(open.get(call)?.values() ?? [])].map((rejected) => ({ reason: rejected }));
    return reason;
  },
};

/** Fails the calls that rejections belong to. Those that belong to none must not end the server with its other tools. */
export function watchRejections(): void {
  process.on('unhandledRejection', (reason, promise) => {
    // Bun does not keep the storage for this event.
    const call = current.getStore() ?? ownerOf(open.keys(), (failure) => failure === reason);
    const own = call === undefined ? undefined : open.get(call);
    if (own === undefined) {
      console.error('unhandled promise rejection:', reason);
    } else {
      own.set(promise, reason);
    }
  });
  process.on('rejectionHandled', (promise) => open.forEach((own) => own.delete(promise)));
}

function isOfAuthor(path: string): boolean {
  const foreign = ['/node_modules/', '/.trailblaze/'];
  return !foreign.some((folder) => path.includes(folder)) && !OWN_FOLDERS.some((folder) => path.startsWith(folder));
}

/** The folders of this package and of the client. A bundle has them in the same file as the author's code. */
const OWN_FOLDERS = /\/process-runtime\.[jt]s$/.test(import.meta.url)
  ? [import.meta.url, import.meta.resolve('@trailblaze/client')].map((url) => fileURLToPath(new URL('.', url)))
  : [];

function fromProject(path: string): string {
  const shown = relative(process.env['TRAILBLAZE_PROJECT_DIR'] ?? process.cwd(), path);
  return shown.startsWith('..') ? path : shown;
}
