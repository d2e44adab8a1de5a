/** The example of the README works. */

import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

import { callbackServer } from './callback-server.ts';

test('the example of the README runs', async () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const [, example = ''] = /```ts\n(.*?)```/s.exec(readme) ?? [];
  // In the build output, so that it finds the package by its name.
  const file = fileURLToPath(new URL(`../dist/readme-${process.pid}.ts`, import.meta.url));
  writeFileSync(file, example);
  const trailblaze = await callbackServer(() => ({ body: '{"success": true, "message": "", "variant": ""}' }));
  const client = new Client({ name: 'trailblaze', version: '0.0.0' });
  try {
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [file], stderr: 'pipe' }));
    const { tools } = await client.listTools();
    assert.deepEqual(tools[0]?._meta, { 'trailblaze/supportedPlatforms': ['ANDROID', 'IOS'] });
    const _meta = { trailblaze: { baseUrl: trailblaze.baseUrl, sessionId: 's', invocationId: 'i' } };
    const answered = await client.callTool({ name: 'acme_signIn', arguments: { email: 'ada@example.com' }, _meta });
    assert.deepEqual(answered.content, [{ type: 'text', text: 'signed in as ada@example.com' }]);
    assert.equal(trailblaze.received.length, 5);
  } finally {
    await client.close();
    await trailblaze.close();
    rmSync(file);
  }
});
