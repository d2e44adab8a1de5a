/** The examples of the README work. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

import { fakeServer, OK } from './fake-server.ts';

const inPackage = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const examples = [...readFileSync(inPackage('README.md'), 'utf8').matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code ?? '');

/** Writes an example to a folder in the build output, so that it finds the package by its name. */
async function withExample(at: number, use: (file: string, folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(inPackage('dist/readme-'));
  const file = join(folder, 'example.ts');
  await writeFile(file, examples[at] ?? '');
  await use(file, folder).finally(() => rm(folder, { recursive: true }));
}

test('the tool of the README drives its device', () =>
  withExample(0, async (file) => {
    const trailblaze = await fakeServer(({ path }) => (path.endsWith('IsVisible') ? { value: true } : OK));
    const client = new Client({ name: 'trailblaze', version: '0.0.0' });
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [file], stderr: 'pipe' }));
    const _meta = { trailblaze: { baseUrl: trailblaze.address, sessionId: 's', invocationId: 'c-1' } };
    const called = await client.callTool({ name: 'acme_signIn', arguments: { email: 'ada@example.com' }, _meta });
    assert.deepEqual(called.content, [{ type: 'text', text: 'signed in' }]);
    const methods = trailblaze.received.map(({ path }) => path.split('/').at(-1));
    assert.deepEqual(methods, ['LaunchApp', 'IsVisible', 'Tap', 'Tap', 'InputText', 'WaitUntilVisible']);
    await client.close();
    await trailblaze.close();
  }));

test('the program of the README finds the session of the daemon', () =>
  withExample(1, async (file, folder) => {
    const trailblaze = await fakeServer(({ path }) => {
      const access = { name: 'acme', address: trailblaze.address, key: 'k-1', session: 's', device: 'web/1' };
      return path === '/daemon' ? { answer: { access } } : OK;
    });
    await mkdir(join(folder, 'trailblaze'), { mode: 0o700 });
    const about = JSON.stringify({ version: '1', pid: process.pid, address: trailblaze.address, key: 'daemon' });
    await writeFile(join(folder, 'trailblaze/trailblaze.daemon.json'), about, { mode: 0o600 });
    await promisify(execFile)(process.execPath, [file], { env: { XDG_RUNTIME_DIR: folder } });
    assert.deepEqual(trailblaze.received.map(({ headers }) => headers.authorization), ['Bearer daemon', 'Bearer k-1']);
    await trailblaze.close();
  }));

test('the program of the README uses a session by its key', () =>
  withExample(2, async (file, folder) => {
    const root = { role: 'window', enabled: true, selected: false, focused: false, clipped: false, children: [] };
    const screen = { platform: 'web', width: 1, height: 1, root, picture: { mime: 'image/png', data: 'iVBORw==' } };
    const trailblaze = await fakeServer(({ path }) => (path.endsWith('CaptureScreen') ? screen : OK));
    const keyFile = join(folder, 'key');
    await writeFile(keyFile, 'k-1\n');
    await writeFile(join(folder, 'session.json'), JSON.stringify({ address: trailblaze.address, keyFile }));
    const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: folder });
    assert.equal(stdout, 'window 4\n');
    assert.equal(trailblaze.received[0]?.headers['authorization'], 'Bearer k-1');
    await trailblaze.close();
  }));
