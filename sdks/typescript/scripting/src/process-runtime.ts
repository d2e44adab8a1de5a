/** What Bun and Node know about the code of a tool. */

import { AsyncLocalStorage } from 'node:async_hooks';
import { ChildProcess } from 'node:child_process';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { CallContext } from './context.ts';
import { LateUse } from './errors.ts';
import { explain, ownerOf, type Runtime } from './runtime.ts';

/** A call, which is in progress as long as it is among those that are open. */
type Running = {
  readonly call: CallContext;
  readonly tool: string;
  /** What failed that nothing has handled yet, by its promise or timer. */
  readonly failed: Map<unknown, unknown>;
  /** The timers that have not fired, and where they were set. */
  readonly timers: Map<unknown, string>;
  /** The processes that have not ended, and where they were started. */
  readonly processes: Map<ChildProcess, string>;
};

const current = new AsyncLocalStorage<Running>();
const open = new Map<CallContext, Running>();

export const PROCESS_RUNTIME: Runtime = {
  placeOf(stack) {
    const frame = framesOf(stack).find(({ path }) => isOfAuthor(path));
    return frame === undefined ? undefined : shown(frame);
  },

  stackOf: () => '',

  async run(call, tool, handler) {
    const running: Running = { call, tool, failed: new Map(), timers: new Map(), processes: new Map() };
    open.set(call, running);
    try {
      return await current.run(running, handler);
    } finally {
      open.delete(call);
    }
  },

  async unhandled(call) {
    // Both runtimes report rejections after the present callbacks.
    await new Promise((resolve) => setImmediate(resolve));
    const [reason] = [...(open.get(call)?.failed.values() ?? [])].map((rejected) => ({ reason: rejected }));
    return reason;
  },

  timers(call) {
    const left = [...(open.get(call)?.timers ?? [])];
    // One that does not keep the process alive is meant to be left.
    return left.filter(([timer]) => (timer as NodeJS.Timeout).hasRef?.() !== false).map(([, place]) => place);
  },

  processes(call) {
    const left = [...(open.get(call)?.processes ?? [])];
    // One that nothing listens to is meant to be left. One listener is our own.
    const isListenedTo = (child: ChildProcess) => child.listenerCount('close') + child.listenerCount('exit') > 1;
    return left.filter(([child]) => isListenedTo(child)).map(([, place]) => place);
  },
};

/**
 * Fails the calls that rejections and uncaught exceptions belong to, such as one in `queueMicrotask`. Rejections that belong to none must
 * not end the server with its other tools; an exception that belongs to none does, as without this package.
 */
export function watchFailures(): void {
  // A process may serve twice.
  if (process.listeners('uncaughtException').includes(onUncaught)) {
    return;
  }
  process.on('uncaughtException', onUncaught);
  process.on('unhandledRejection', (reason, promise) => {
    if (reason instanceof LateUse) {
      return;
    }
    const running = runningOf(reason);
    if (running === undefined) {
      console.error('unhandled promise rejection:', reason);
    } else {
      fail(running, promise, reason);
    }
  });
  process.on('rejectionHandled', (promise) => open.forEach(({ failed }) => failed.delete(promise)));
}

function onUncaught(thrown: unknown): void {
  // People have been told, and the other tools of the server go on.
  if (thrown instanceof LateUse) {
    return;
  }
  const running = runningOf(thrown);
  if (running !== undefined) {
    fail(running, thrown, thrown);
  } else if (process.listenerCount('uncaughtException') === 1) {
    console.error(thrown);
    process.exit(1);
  }
}

/** The call that something belongs to that nothing caught. */
function runningOf(reason: unknown): Running | undefined {
  // Bun does not keep the storage for these events.
  const owner = ownerOf(open.keys(), (failure) => failure === reason);
  const asking = typeof reason === 'object' && reason !== null ? failedRequests.get(reason) : undefined;
  return current.getStore() ?? asking ?? (owner === undefined ? undefined : open.get(owner));
}

/** Something failed that a call did not wait for: it fails the call or, if that has ended, is logged. */
function fail(running: Running, what: unknown, reason: unknown): void {
  if (open.has(running.call)) {
    running.failed.set(what, reason);
    return;
  }
  if (!(reason instanceof LateUse)) {
    running.call.warnLate(`something failed after \`${running.tool}\` had ended: ${explain(reason, PROCESS_RUNTIME)}`);
  }
}

/** Follows the timers that the code of tools sets, because nothing else notices if one is left running, or fails. */
export function watchTimers(): void {
  if (isWatching) {
    return;
  }
  isWatching = true;
  for (const name of ['setTimeout', 'setInterval'] as const) {
    replaceGlobal(name, (start) => (callback, ms, ...args) => {
      const running = current.getStore();
      const place = running === undefined || typeof callback !== 'function' ? undefined : callerOf(new Error());
      if (running === undefined || place === undefined) {
        return start(callback, ms, ...args);
      }
      const fired = function (this: unknown, ...given: unknown[]): void {
        if (name === 'setTimeout') {
          running.timers.delete(timer);
        }
        try {
          const returned: unknown = (callback as (...given: unknown[]) => unknown).apply(this, given);
          if (returned instanceof Promise) {
            returned.catch((reason: unknown) => fail(running, timer, reason));
          }
        } catch (thrown) {
          fail(running, timer, thrown);
        }
      };
      const timer = start(fired, ms, ...args);
      running.timers.set(timer, place);
      return timer;
    });
  }
  for (const name of ['clearTimeout', 'clearInterval'] as const) {
    replaceGlobal(name, (clear) => (timer) => {
      current.getStore()?.timers.delete(timer);
      return clear(timer);
    });
  }
}

/** Follows the processes that the code of tools starts, because nothing else notices that a tool did not wait for one. */
export function watchProcesses(): void {
  const prototype = ChildProcess.prototype as unknown as { spawn: (this: ChildProcess, ...args: unknown[]) => unknown };
  const { spawn } = prototype;
  if (watched.has(spawn)) {
    return;
  }
  // All functions of `node:child_process` that do not block use it.
  prototype.spawn = function (...args) {
    const running = current.getStore();
    const place = running === undefined ? undefined : callerOf(new Error());
    if (running !== undefined && place !== undefined) {
      running.processes.set(this, place);
      this.once('close', () => running.processes.delete(this));
    }
    return spawn.apply(this, args);
  };
  watched.add(prototype.spawn);
}

/** Follows the requests that the code of tools makes with `fetch`: what they fail with has neither its line nor, in Bun, its call. */
export function watchRequests(): void {
  const { fetch } = globalThis;
  if (watched.has(fetch)) {
    return;
  }
  // Bun's has properties.
  globalThis.fetch = new Proxy(fetch, {
    apply(ask, self, args) {
      const answer = Reflect.apply(ask, self, args) as Promise<Response>;
      const running = current.getStore();
      const call = new Error();
      // Rejected again, so that the runtime notices if nothing handles it.
      return running === undefined ? answer : answer.catch((reason: unknown) => Promise.reject(ofRequest(reason, running, call)));
    },
  });
  watched.add(globalThis.fetch);
}

/** What a request failed with, which leads to the call and the line that made it. */
function ofRequest(reason: unknown, running: Running, call: Error): unknown {
  if (typeof reason === 'object' && reason !== null) {
    failedRequests.set(reason, running);
  }
  if (reason instanceof Error) {
    const [header, frames] = splitStack(reason);
    Reflect.set(reason, 'stack', [header, splitStack(call)[1], frames].join('\n'));
  }
  return reason;
}

/** The stack of an error: the lines of its message, and its frames. */
function splitStack({ stack = '' }: Error): [string, string] {
  const lines = stack.split('\n');
  const first = lines.findIndex((line) => /^\s*at /.test(line));
  const end = first < 0 ? lines.length : first;
  return [lines.slice(0, end).join('\n'), lines.slice(end).join('\n')];
}

const failedRequests = new WeakMap<object, Running>();

/** A process may serve twice. */
let isWatching = false;
const watched = new WeakSet<object>();

type AnyFunction = (...args: unknown[]) => unknown;

function replaceGlobal(name: 'setTimeout' | 'setInterval' | 'clearTimeout' | 'clearInterval', make: (original: AnyFunction) => AnyFunction): void {
  const original = globalThis[name] as AnyFunction;
  const replacement = make(original);
  // `util.promisify` finds its own version there.
  for (const key of Object.getOwnPropertySymbols(original)) {
    Object.defineProperty(replacement, key, Object.getOwnPropertyDescriptor(original, key) ?? {});
  }
  Object.defineProperty(globalThis, name, { value: replacement, configurable: true, writable: true, enumerable: true });
}

type Frame = { path: string; at: string };

function framesOf(stack: string): Frame[] {
  return stack.split('\n').flatMap((line) => {
    const [, file, at] = /^\s*at (?:async )?(?:.*\()?((?:file:\/\/)?\/.+?):(\d+:\d+)\)?$/.exec(line) ?? [];
    const path = file?.startsWith('file:') ? fileURLToPath(file) : file;
    return path === undefined || at === undefined ? [] : [{ path, at }];
  });
}

/** The place that called this package, if it is the author's and not that of another package. */
function callerOf({ stack = '' }: Error): string | undefined {
  const caller = framesOf(stack).find(({ path }) => !isOurs(path));
  return caller !== undefined && isOfAuthor(caller.path) ? shown(caller) : undefined;
}

function isOfAuthor(path: string): boolean {
  return !['/node_modules/', '/.trailblaze/'].some((folder) => path.includes(folder)) && !isOurs(path);
}

function isOurs(path: string): boolean {
  return OWN_FOLDERS.some((folder) => path.startsWith(folder));
}

/** The folders of this package and of the client. A bundle has them in the same file as the author's code. */
const OWN_FOLDERS = /\/process-runtime\.[jt]s$/.test(import.meta.url)
  ? [import.meta.url, import.meta.resolve('@trailblaze/client')].map((url) => fileURLToPath(new URL('.', url)))
  : [];

function shown({ path, at }: Frame): string {
  const fromProject = relative(process.env['TRAILBLAZE_PROJECT_DIR'] ?? process.cwd(), path);
  return `${fromProject.startsWith('..') ? path : fromProject}:${at}`;
}
