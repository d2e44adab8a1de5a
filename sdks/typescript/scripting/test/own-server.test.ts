/** `Server`, the typed commands of a context, and the listings of the first design document. */

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { Server } from '@trailblaze/scripting';

import { ALONE, withoutColumns } from './alone.ts';
import { callbackServer, type Reply } from './callback-server.ts';

const scriptOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

async function withServer(script: string, use: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ name: 'trailblaze', version: '0.0.0' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [scriptOf(script)], env: ALONE, stderr: 'pipe' }));
  await use(client).finally(() => client.close());
}

const OK = { success: true, message: '', variant: '' };
const ELEMENT = { role: 'view', enabled: true, selected: false, focused: false, clipped: false };
const SCREEN = { platform: 'android', width: 1080, height: 2400, root: { ...ELEMENT, children: [{ ...ELEMENT, children: [] }] } };
const ANSWERS: Record<string, unknown> = { IsVisible: { value: true }, CaptureScreen: SCREEN };

/** A fake of the typed API; what it received is `Method {params}`. */
async function typedApi(answers: Record<string, unknown> = ANSWERS) {
  const server = await callbackServer(({ url }): Reply => {
    return { body: JSON.stringify(answers[url.split('/').at(-1) ?? ''] ?? OK) };
  });
  const trailblaze = {
    baseUrl: server.baseUrl,
    sessionId: 's-1',
    invocationId: 'c-1',
    device: { id: 'android/sim-1', platform: 'android', widthPixels: 1080, heightPixels: 2400, driverType: 'android-host' },
    memory: {},
    capabilities: { sampling: false },
  };
  const seen = () =>
    server.received.map(({ url, body }) => {
      const { deviceId, sessionId, invocationId, ...params } = body as Record<string, unknown>;
      assert.deepEqual([deviceId, sessionId, invocationId], ['android/sim-1', 's-1', 'c-1']);
      return `${url.split('/').at(-1)} ${JSON.stringify(params)}`;
    });
  return { _meta: { trailblaze, trailblazeInvocationId: 'c-1' }, seen, close: server.close };
}

function textOf(result: unknown): string {
  const [block] = (result as CallToolResult).content;
  return block?.type === 'text' ? withoutColumns(block.text) : '';
}

describe('a server with a list of its own', () => {
  test('turns what handlers return into MCP results', () =>
    withServer('own-server.ts', async (client) => {
      assert.deepEqual(client.getServerVersion(), { name: 'own', version: '2.0.0' });
      const call = async (name: string, args: Record<string, unknown> = {}) => {
        const called = (await client.callTool({ name, arguments: args })) as CallToolResult;
        return [called.isError === true, textOf(called), called.structuredContent];
      };
      assert.deepEqual(await call('text'), [false, 'said', undefined]);
      assert.deepEqual(await call('nothing'), [false, '', undefined]);
      assert.deepEqual(await call('list'), [false, '[1,2]', undefined]);
      const args = { any: { thing: [1] } };
      const context = { _trailblazeContext: { memory: {} } };
      assert.deepEqual(await call('echo', { ...args, ...context }), [false, JSON.stringify(args), args]);
      assert.deepEqual(await call('refused'), [true, 'no', undefined]);
      assert.deepEqual(await call('throws'), [true, 'it broke (test/own-server.ts:17)', undefined]);
      assert.equal((await call('unsendable'))[0], true);
      assert.deepEqual(await call('add', { a: 1, b: 2 }), [false, '{"sum":3}', { sum: 3 }]);
      assert.match(String((await call('add', { a: 1 }))[1]), /^invalid arguments for `add`/);
      assert.match(String((await call('steps', { label: 'x' }))[1]), /needs Trailblaze for `tap`, and another MCP client called it: no Trailblaze session/);
      const { tools } = await client.listTools();
      assert.deepEqual(tools[0], { name: 'text', inputSchema: { type: 'object' } });
      const { contents } = await client.readResource({ uri: 'trailblaze://registry' });
      const [content] = contents as { text: string; mimeType: string }[];
      assert.equal(content?.mimeType, 'application/json');
      assert.deepEqual(JSON.parse(content?.text ?? ''), {
        tools: { add: { groups: ['math'] } },
        groups: { math: { description: 'Sums' } },
      });
      assert.deepEqual((await client.listResources()).resources.map(({ uri }) => uri), ['trailblaze://registry']);
      await assert.rejects(client.readResource({ uri: 'trailblaze://other' }), /unknown resource `trailblaze:\/\/other`/);
    }));

  test('gives handlers the typed commands of their device', () =>
    withServer('own-server.ts', async (client) => {
      const api = await typedApi();
      const called = await client.callTool({ name: 'steps', arguments: { label: 'x' }, _meta: api._meta });
      assert.deepEqual(called.structuredContent, { label: 'x', children: 1 });
      assert.deepEqual(called._meta, { trailblaze: { variant: 'Success', memoryDelta: { width: 1080 } } });
      assert.deepEqual(api.seen(), [
        'IsVisible {"text":"Cookies","timeoutMs":5}',
        'Tap {"text":"Accept"}',
        'CaptureScreen {}',
        'Swipe {"direction":"down"}',
      ]);
      await api.close();
    }));

  test('keeps the kind of a failure', () =>
    withServer('own-server.ts', async (client) => {
      const api = await typedApi({ AssertVisible: { success: false, message: 'not there', variant: 'AssertionFailed' } });
      const called = await client.callTool({ name: 'checks', _meta: api._meta });
      assert.deepEqual([called.isError, textOf(called)], [true, 'not there (test/own-server.ts:30)']);
      assert.deepEqual(called._meta, { trailblaze: { variant: 'AssertionFailed' } });
      await api.close();
    }));

  test('refuses a second tool or resource of one name', () => {
    const server = new Server().tool('a', () => {}).resource('x://a', () => '');
    assert.throws(() => server.tool('a', () => {}), /two tools are named `a`/);
    assert.throws(() => server.tool('a.b', () => {}), /`a\.b` is not a valid tool name/);
    assert.throws(() => server.resource('x://a', () => ''), /two resources have the address `x:\/\/a`/);
  });

  test('ends with an error if its port is taken', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const port = String((taken.address() as AddressInfo).port);
    const args = [scriptOf('listings/login.ts'), '--transport', 'http', '--port', port];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const [code] = (await once(child, 'exit')) as [number];
    assert.notEqual(code, 0);
    assert.match(stderr, /EADDRINUSE|in use/);
    taken.close();
  });
});

// As they are in the design document, except for the names of the imported packages.
test('calls of tools are typed after `trailblaze types`', async () => {
  const tsc = scriptOf('../node_modules/.bin/tsc');
  const { stdout } = await promisify(execFile)(tsc, ['-p', scriptOf('typed-tools')]);
  assert.equal(stdout, '');
});

describe('the listings of the design', () => {
  test('compile', async () => {
    const tsc = scriptOf('../node_modules/.bin/tsc');
    const { stdout } = await promisify(execFile)(tsc, ['-p', scriptOf('listings')]);
    assert.equal(stdout, '');
  });

  test('log in', () =>
    withServer('listings/login.ts', async (client) => {
      const api = await typedApi();
      const args = { email: 'ada@example.com', password: 'secret' };
      const called = await client.callTool({ name: 'acme_driver_login', arguments: args, _meta: api._meta });
      assert.deepEqual(called.structuredContent, { success: true });
      assert.deepEqual(api.seen(), [
        'ClearAppData {"packageId":"com.acme.driver"}',
        'LaunchApp {"packageId":"com.acme.driver"}',
        'Tap {"text":"Sign in"}',
        'InputText {"text":"ada@example.com"}',
        'InputText {"text":"secret"}',
      ]);
      const { contents } = await client.readResource({ uri: 'trailblaze://registry' });
      const [content] = contents as { text: string }[];
      const read = JSON.parse(content?.text ?? '') as { tools: Record<string, object> };
      assert.deepEqual(Object.keys(read.tools), ['acme_driver_login']);
      await api.close();
    }));

  test('register tools', () =>
    withServer('listings/registering.ts', async (client) => {
      const { tools } = await client.listTools();
      assert.deepEqual(tools.map(({ name }) => name), ['fetchUserInfo', 'search', 'memorizeCurrentScreen', 'named']);
      assert.deepEqual(tools[0]?.annotations, { readOnlyHint: true });
      assert.equal(tools[0]?._meta?.['trailblaze/toolset'], 'auth');
      assert.equal(tools[0]?.inputSchema.properties?.['_trailblazeContext'], undefined);
      const device = { platform: 'ANDROID', widthPixels: 1, heightPixels: 2, driverType: 'android-host' };
      const context = { _trailblazeContext: { memory: { user: 'ada' }, device } };
      const call = async (name: string, args: Record<string, unknown>, _meta?: Record<string, unknown>) =>
        (await client.callTool({ name, arguments: args, ...(_meta === undefined ? {} : { _meta }) })) as CallToolResult;
      const fetched = await call('fetchUserInfo', { userId: 'u', ...context });
      assert.deepEqual(fetched.structuredContent, { userId: 'u', platform: 'ANDROID' });
      assert.equal(textOf(await call('search', { query: 'tea', ...context })), 'found tea');
      const kept = await call('memorizeCurrentScreen', { label: 'x', ...context });
      assert.deepEqual(kept.structuredContent, { label: 'x', width: 1, memory: { user: 'ada' } });
      const alone = await call('memorizeCurrentScreen', { label: 'x' });
      assert.deepEqual([alone.isError, textOf(alone)], [true, 'Requires Trailblaze host context.']);
      // The argument is left out for tools that forbid it; what `_meta` says is the same.
      const api = await typedApi();
      assert.equal(textOf(await call('named', {}, api._meta)), 'android-host');
      await api.close();
    }));

  test('tap a point', () =>
    withServer('listings/point.ts', async (client) => {
      const api = await typedApi();
      const called = await client.callTool({ name: 'my_tool', _meta: api._meta });
      assert.equal(called.isError, false);
      assert.deepEqual(api.seen(), ['Tap {"x":100,"y":200}']);
      await api.close();
    }));
});
