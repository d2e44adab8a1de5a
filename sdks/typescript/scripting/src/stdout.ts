/** Stdout belongs to the protocol: one stray line of a handler would end the conversation. */

import { Console } from 'node:console';
import { Writable } from 'node:stream';

/** Sends everything that code prints to stderr from now on, and returns the way that is left to stdout. */
export function keepStdoutForProtocol(): Writable {
  const { stdout, stderr } = process;
  const write: (chunk: string, done: (error?: Error | null) => void) => boolean = stdout.write.bind(stdout);
  const protocol = new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => void write(chunk, done),
  });
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  // Bun's console does not go through `process.stdout`.
  const onStderr = new Console(stderr, stderr);
  const { log, info, debug, dir, dirxml, table, group, groupCollapsed, groupEnd, count, countReset } = onStderr;
  const { time, timeEnd, timeLog } = onStderr;
  Object.assign(console, { log, info, debug, dir, dirxml, table, group, groupCollapsed, groupEnd, count, countReset });
  Object.assign(console, { time, timeEnd, timeLog });
  return protocol;
}
