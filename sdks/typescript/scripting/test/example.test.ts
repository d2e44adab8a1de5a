/** The servers of examples/acme-tools, as clients see them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

import { callbackServer, succeeded } from './callback-server.ts';

const repository = new URL('../../../../', import.meta.url);
const inRepository = (path: string) => fileURLToPath(new URL(path, repository));
const python = inRepository('.parts/python/bin/python');
const tools = (file: string) => inRepository(`examples/acme-tools/tools/${file}`);

async function withServer(command: string, args: string[], use: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ name: 'trailblaze', version: '0.0.0' });
  await client.connect(new StdioClientTransport({ command, args, stderr: 'pipe' }));
  await use(client).finally(() => client.close());
}

async function namesOf(client: Client): Promise<string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}

function textOf(result: unknown): string {
  const [block] = (result as CallToolResult).content;
  return block?.type === 'text' ? block.text : '';
}

test('raw.ts serves a portable tool and one that needs the context', () =>
  withServer(process.execPath, [tools('raw.ts')], async (client) => {
    assert.deepEqual(await namesOf(client), ['acme_splitBill', 'acme_nameScreen']);
    const split = await client.callTool({ name: 'acme_splitBill', arguments: { total: 50, people: 4 } });
    assert.equal(textOf(split), '12.50');
    assert.deepEqual(split._meta, { trailblaze: { memoryDelta: { share: '12.50' } } });
    const alone = await client.callTool({ name: 'acme_nameScreen' });
    assert.equal(alone.isError, true);
    const device = { platform: 'IOS', widthPixels: 1170, heightPixels: 2532, driverType: 'ios-host' };
    const args = { _trailblazeContext: { memory: {}, device } };
    const named = await client.callTool({ name: 'acme_nameScreen', arguments: args });
    assert.equal(textOf(named), 'IOS, portrait, 1170 × 2532');
  }));

test('wallet.ts drives the screen with typed commands and callbacks', async () => {
  const called: string[] = [];
  const trailblaze = await callbackServer(({ url, body }) => {
    const method = url.split('/').at(-1) ?? '';
    if (method === 'callback') {
      called.push((body as { action: { tool_name: string } }).action.tool_name);
      return succeeded('');
    }
    called.push(method);
    return { body: JSON.stringify(method === 'GetElementText' ? { value: 'TB-4821' } : { success: true }) };
  });
  await withServer(process.execPath, [tools('wallet.ts')], async (client) => {
    assert.deepEqual(await namesOf(client), ['acme_sendMoney', 'acme_checkBalance']);
    const _meta = { trailblaze: { baseUrl: trailblaze.baseUrl, sessionId: 's', invocationId: 'i', memory: {} } };
    const sending = { name: 'acme_sendMoney', arguments: { to: 'Grace', amount: '12.50' }, _meta };
    const sent = await client.callTool(sending);
    assert.equal(textOf(sent), 'sent €12.50 to Grace, reference TB-4821');
    assert.deepEqual(sent._meta, { trailblaze: { variant: 'Success', memoryDelta: { reference: 'TB-4821' } } });
  }).finally(trailblaze.close);
  const fill = ['Tap', 'eraseText', 'InputText'];
  assert.deepEqual(called, ['Tap', ...fill, ...fill, 'Tap', 'Tap', 'WaitUntilVisible', 'GetElementText', 'Tap']);
});

test('accounts.py delegates, and describes its tools in a resource', () =>
  withServer(python, [tools('accounts.py')], async (client) => {
    assert.deepEqual(await namesOf(client), ['acme_listAccounts', 'acme_signInAs']);
    const { contents } = await client.readResource({ uri: 'trailblaze://registry' });
    const [registry] = contents;
    const read = JSON.parse(registry !== undefined && 'text' in registry ? registry.text : '') as Record<string, object>;
    assert.deepEqual(Object.keys(read), ['tools', 'groups', 'serverInfo']);
    assert.deepEqual(new Set(Object.keys(read['tools'] ?? {})), new Set(await namesOf(client)));
    const { structuredContent } = await client.callTool({ name: 'acme_signInAs', arguments: { account: 'ada' } });
    const delegates = (structuredContent as { _trailblaze_delegates: { tool: string }[] })._trailblaze_delegates;
    const fill = ['tap', 'eraseText', 'inputText'];
    assert.deepEqual(delegates.map(({ tool }) => tool), [...fill, ...fill, 'tap']);
    const unknown = await client.callTool({ name: 'acme_signInAs', arguments: { account: 'eve' } });
    assert.equal(unknown.isError, true);
    assert.equal(textOf(unknown), 'no account `eve`; known accounts: ada, mallory');
  }));
