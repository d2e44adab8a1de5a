/** Stdout is reserved for the protocol: one stray line from a handler would break the connection. */

import { Console } from 'node:console';
import { Writable } from 'node:stream';

/** Redirects everything that is printed to stderr, and returns a stream for the real stdout. */
export function keepStdoutForProtocol(): Writable {
  const { stdout, stderr } = process;
  const write: (chunk: string, done: (error?: Error | null) => void) => boolean = stdout.write.bind(stdout);
  const protocol = new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => void write(chunk, done),
  });
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  // Bun's console does not use `process.stdout`.
  const onStderr = new Console(stderr, stderr);
  const { log, info, debug, dir, dirxml, table, group, groupCollapsed, groupEnd, count, countReset } = onStderr;
  const { time, timeEnd, timeLog } = onStderr;
  Object.assign(console, { log, info, debug, dir, dirxml, table, group, groupCollapsed, groupEnd, count, countReset });
  Object.assign(console, { time, timeEnd, timeLog });
  return protocol;
}
