/** What tests of servers share. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const runtime = mkdtempSync(join(tmpdir(), 'trailblaze-alone-'));
process.on('exit', () => rmSync(runtime, { recursive: true, force: true }));

/** The environment of a server that no daemon of who runs the tests can reach. */
export const ALONE = { XDG_RUNTIME_DIR: runtime };

/** A message with the lines of places, but not the columns, which runtimes count differently. */
export function withoutColumns(text: string): string {
  return text.replace(/(\.ts:\d+):\d+\)/g, '$1)');
}
