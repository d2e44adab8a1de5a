/** The real program, if it was built, with the project that the cases of tests/parity are for. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const target = process.env['CARGO_TARGET_DIR'] ?? fileURLToPath(new URL('../../../../target', import.meta.url));
export const program = process.env['TRAILBLAZE_TEST_PROGRAM'] ?? join(target, 'debug/trailblaze');

/** Why a test is skipped; in CI the program must be there. */
export const skip = existsSync(program) || process.env['CI'] ? false : `${program} was not built`;

const COUNTER = `
app: {id: com.example.counter, web: https://counter.example, name: Counter}
start: counter
state: {count: 0}
screens:
  counter:
    title: Counter
    elements:
      - {id: count, role: heading, text: 'Count: {{count}}'}
      - {id: add, role: button, text: Add one, tap: {add: {count: 1}}}
      - {id: name, role: field, hint: Your name}
      - {id: greeting, text: 'Hello, {{name}}', unless: {name: ''}}
      - {id: more, role: button, text: More, tap: {goto: more}}
  more:
    title: More
    elements:
      - {id: motto, text: Less is more}
`;

const TWICE = 'id: counter_addTwice\ndescription: Adds one twice.\nparameters: []\ntools: [{tap: {id: add}}, {tap: {id: add}}]\n';

/** A temporary project with these files, besides the app and tools of the cases. */
export async function withProject<T>(files: Record<string, string>, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'trailblaze-typescript-'));
  const all = {
    'counter.app.yaml': COUNTER,
    'trailblaze-config/tools/counter_addTwice.yaml': TWICE,
    'trailblaze.yaml': 'sim: {apps: [counter.app.yaml]}\n',
    ...files,
  };
  try {
    for (const [path, text] of Object.entries(all)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

export type Served = { address: string; key: string; session: string; device: string };

/** Runs `trailblaze serve` on a device for as long as `use` needs it. */
export async function withServed<T>(folder: string, device: string, use: (served: Served) => Promise<T>): Promise<T> {
  const args = ['serve', '-d', device, '--json', '--until-stdin-closes'];
  const env = { ...process.env, XDG_RUNTIME_DIR: folder };
  const child = spawn(program, args, { cwd: folder, env, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  try {
    const lines = createInterface({ input: child.stdout });
    const line = await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('close', () => reject(new Error('`trailblaze serve` ended')));
    });
    const { address, keyFile, session } = JSON.parse(line) as { address: string; keyFile: string; session: string };
    return await use({ address, key: readFileSync(keyFile, 'utf8').trim(), session, device });
  } finally {
    child.stdin.end();
    await ended;
  }
}
