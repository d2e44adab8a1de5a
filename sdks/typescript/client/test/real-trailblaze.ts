/** The real program, if it was built, with the project that the cases of tests/parity are for. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const target = process.env['CARGO_TARGET_DIR'] ?? fileURLToPath(new URL('../../../../target', import.meta.url));
export const program = process.env['TRAILBLAZE_TEST_PROGRAM'] ?? join(target, 'debug/trailblaze');

/** Why a test is skipped; in CI the program must be there. */
export const skip = existsSync(program) || process.env['CI'] ? false : `${program} was not built`;

const PROJECT = fileURLToPath(new URL('../../../../tests/parity/project', import.meta.url));

/** A temporary copy of the project that the cases are for, with these files too. */
export async function withProject<T>(files: Record<string, string>, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'trailblaze-typescript-'));
  try {
    await cp(PROJECT, folder, { recursive: true });
    for (const [path, text] of Object.entries(files)) {
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
