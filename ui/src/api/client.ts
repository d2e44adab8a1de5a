/** The methods of the daemon, and streams that survive its replacement. */
import { RpcError, stream, unary } from './connect.ts';
import { store } from '../shared/store.ts';
import { METHODS, SERVICE, type TrailblazeStudio } from '../generated/messages.ts';

/** A client whose requests name the workspace. */
export function client(workspace: string): TrailblazeStudio {
  const methods: Record<string, unknown> = {};
  for (const [name, isStream] of Object.entries(METHODS)) {
    const path = `${SERVICE}/${name[0]!.toUpperCase()}${name.slice(1)}`;
    const call = isStream ? stream : unary;
    methods[name] = (request: object, signal?: AbortSignal) => call(path, { workspace, ...request }, signal);
  }
  return methods as unknown as TrailblazeStudio;
}

/** Whether a stream is `live`, or why it is not. */
export type Status = 'live' | 'connecting' | 'over' | RpcError;

/** Whether the daemon has not answered for a while. */
export const isGone = store(false);

/** Errors that a later attempt would meet again. */
const FINAL = new Set(['unauthenticated', 'permission_denied', 'not_found', 'invalid_argument', 'unimplemented']);
const SHORTEST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5000;
/** Browsers allow six connections to a host: pages that nobody looks at keep none. */
const HIDDEN_MS = 5000;
/** After how many vain attempts in a row the daemon counts as gone: about six seconds. */
const GONE_AFTER = 5;

/**
 * Reads a stream, and opens it again when it breaks or ends, until a message is the last. Returns a function that ends it.
 */
export function follow<T>(
  open: (signal: AbortSignal) => AsyncIterable<T>,
  onMessage: (message: T) => void,
  onStatus: (status: Status) => void,
  isLast: (message: T) => boolean = () => false,
): () => void {
  const stopped = new AbortController();
  let current: AbortController | undefined;
  let wake: (() => void) | undefined;
  let hiding: ReturnType<typeof setTimeout> | undefined;

  const onVisibility = () => {
    clearTimeout(hiding);
    if (document.hidden) hiding = setTimeout(() => current?.abort(), HIDDEN_MS);
    else wake?.();
  };
  document.addEventListener('visibilitychange', onVisibility);
  addEventListener('online', onVisibility);
  stopped.signal.addEventListener('abort', () => {
    current?.abort();
    wake?.();
    clearTimeout(hiding);
    document.removeEventListener('visibilitychange', onVisibility);
    removeEventListener('online', onVisibility);
  });

  const isStopped = () => stopped.signal.aborted;
  const sleep = (ms: number) =>
    new Promise<void>((done) => {
      wake = done;
      if (ms !== Infinity) setTimeout(done, ms);
    });

  void (async () => {
    let pause = SHORTEST_PAUSE_MS;
    let failures = 0;
    while (!isStopped()) {
      if (document.hidden) await sleep(Infinity);
      if (isStopped()) return;
      current = new AbortController();
      onStatus('connecting');
      try {
        for await (const message of open(current.signal)) {
          if (isStopped()) return;
          pause = SHORTEST_PAUSE_MS;
          failures = 0;
          isGone.set(false);
          onStatus('live');
          onMessage(message);
          if (isLast(message)) {
            onStatus('over');
            stopped.abort();
            return;
          }
        }
        throw new RpcError('unavailable', 'the stream ended');
      } catch (thrown) {
        if (isStopped()) return;
        const error = thrown instanceof RpcError ? thrown : new RpcError('unavailable', String(thrown));
        if (FINAL.has(error.code)) {
          onStatus(error);
          return;
        }
        onStatus('connecting');
        // A stream that was ended because nobody looks did not fail.
        if (!current.signal.aborted) failures += 1;
        if (failures >= GONE_AFTER) isGone.set(true);
        await sleep(pause);
        pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
      }
    }
  })();
  return () => stopped.abort();
}
