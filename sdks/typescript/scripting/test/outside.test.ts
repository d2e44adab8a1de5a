/** A server that an agent starts by itself: its tools use the session of this user's daemon. */

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

import { withoutColumns } from './alone.ts';
import { fakeServer, OK, refuse } from '../../client/test/fake-server.ts';

test('tools of a server that an agent starts use the session of the daemon', async () => {
  const runtime = mkdtempSync(join(tmpdir(), 'trailblaze-outside-'));
  const device = { id: 'web/1', platform: 'web', driver: 'playwright-native', width: 800, height: 600 };
  const answers: Record<string, unknown> = {
    GetSession: { sessionId: 's-1', device },
    DumpMemory: { value: { user: 'ada' } },
    CallTool: { ...OK, message: 'erased' },
  };
  const fake = await fakeServer(({ path, headers }, response) => {
    const method = path.split('/').at(-1) ?? '';
    if (method === 'daemon') {
      return { answer: { access: { name: 'wallet', address: fake.address, key: 'k', session: 's-1', device: 'web/1' } } };
    }
    const isKnown = headers.authorization === 'Bearer k';
    return isKnown ? (answers[method] ?? OK) : refuse(response, 401, { code: 'unauthenticated', message: 'no' });
  });
  const folder = join(runtime, 'trailblaze');
  mkdirSync(folder, { mode: 0o700 });
  const about = { version: '1', pid: process.pid, address: fake.address, key: 'daemon' };
  writeFileSync(join(folder, 'trailblaze.daemon.json'), JSON.stringify(about), { mode: 0o600 });

  const client = new Client({ name: 'agent', version: '1' });
  const script = fileURLToPath(new URL('outside-server.ts', import.meta.url));
  const env = { XDG_RUNTIME_DIR: runtime };
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [script], env, stderr: 'pipe' }));
  const call = async (name: string) => {
    const called = (await client.callTool({ name })) as CallToolResult;
    const [block] = called.content;
    return [called.isError === true, block?.type === 'text' ? withoutColumns(block.text) : ''];
  };
  assert.deepEqual(await call('acts'), [false, 'web on web/1 800, ada, erased, false']);
  const methods = fake.received.map(({ path, body }) => `${path.split('/').at(-1)} ${JSON.stringify(body)}`);
  assert.deepEqual(methods.slice(3), [
    'Tap {"text":"Pay"}',
    'CallTool {"name":"eraseText","args":{}}',
    'Remember {"variable":"total","value":"3"}',
    'Forget {"variable":"user"}',
  ]);
  assert.deepEqual(await call('asks'), [true, '`session` is known only if Trailblaze calls the tool (test/outside-server.ts:15)']);
  await client.close();
  await fake.close();
  rmSync(runtime, { recursive: true });
});
