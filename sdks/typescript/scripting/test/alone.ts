/** The environment of a server that no daemon of who runs the tests can reach. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const runtime = mkdtempSync(join(tmpdir(), 'trailblaze-alone-'));
process.on('exit', () => rmSync(runtime, { recursive: true, force: true }));

export const ALONE = { XDG_RUNTIME_DIR: runtime };
