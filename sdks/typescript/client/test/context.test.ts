/** Clients made from what a handler gets. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { registry, TrailblazeClient } from '@trailblaze/client';
import { fakeClient } from '@trailblaze/client/testing';

import { fakeServer, OK } from './fake-server.ts';

function metaOf(baseUrl: string) {
  return {
    progressToken: 1,
    trailblazeInvocationId: 'c-1',
    trailblaze: {
      baseUrl,
      sessionId: 's-1',
      invocationId: 'c-1',
      device: { id: 'web/1', platform: 'WEB', widthPixels: 1, heightPixels: 1, driverType: 'playwright-native' },
      memory: {},
      capabilities: { sampling: false },
    },
  };
}

test('a client is made from the context of every kind of handler', async () => {
  const server = await fakeServer(() => OK);
  const _meta = metaOf(server.address);
  const { signal } = new AbortController();
  const contexts = [
    { _meta, signal, requestId: 1 },
    { sessionId: 'mcp', mcpReq: { id: 1, method: 'tools/call', _meta, signal } },
    { params: { name: 'x', _meta } },
    _meta,
    { _meta: { ..._meta, trailblaze: { ..._meta.trailblaze, invocationId: undefined } } },
  ];
  for (const context of contexts) {
    const tb = TrailblazeClient.fromContext(context);
    assert.equal(tb.platform, 'web');
    assert.ok(tb.playwright !== undefined && tb.maestro === undefined);
    await tb.tap({ text: 'Pay' });
    const ids = { deviceId: 'web/1', sessionId: 's-1', invocationId: 'c-1' };
    assert.deepEqual(server.received.at(-1)?.body, { text: 'Pay', ...ids });
  }
  await server.close();
});

test('calls end when the tool call is cancelled', async () => {
  const server = await fakeServer(() => undefined);
  for (const place of ['extra', 'mcpReq'] as const) {
    const cancel = new AbortController();
    const handling = { _meta: metaOf(server.address), signal: cancel.signal };
    const calling = TrailblazeClient.fromContext(place === 'extra' ? handling : { mcpReq: handling }).tap(1, 2);
    cancel.abort(new Error('cancelled'));
    await assert.rejects(calling, /cancelled/);
  }
  await server.close();
});

test('a client is made from the argument of a tool', async () => {
  const server = await fakeServer(() => OK);
  const ids = { deviceId: 'ios/1', sessionId: 's-1', invocationId: 'c-1' };
  const tb = new TrailblazeClient({ context: { ...ids, platform: 'ios', baseUrl: server.address } });
  assert.equal(tb.platform, 'ios');
  await tb.tap(1, 2);
  assert.deepEqual(server.received.at(-1)?.body, { x: 1, y: 2, ...ids });
  await server.close();
});

test('a test answers the calls of a fake client', async () => {
  const calls: unknown[] = [];
  const tb = fakeClient((name, params) => {
    calls.push([name, params]);
    if (name === 'assertVisible') {
      throw new Error('not there');
    }
    return name === 'isVisible' ? true : name === 'adbShell' ? { output: 'x', exitCode: 0 } : undefined;
  });
  assert.equal(await tb.isVisible('A'), true);
  assert.equal((await tb.tap(1, 2)).success, true);
  assert.equal((await tb.maestro!.adbShell('ls')).output, 'x');
  await assert.rejects(tb.assertVisible('A'), { name: 'AssertionFailed', message: 'not there' });
  assert.deepEqual(calls.slice(0, 2), [
    ['isVisible', { text: 'A' }],
    ['tap', { x: 1, y: 2 }],
  ]);
});

test('registries of several modules become one', () => {
  const auth = { description: 'Signing in', defaultEnabled: true };
  const merged = registry(
    { tools: { acme_login: { platforms: ['android'], groups: ['auth'], isRecordable: true } }, groups: { auth } },
    { tools: { acme_pay: {} }, groups: { auth: { ...auth } }, serverInfo: { name: 'pay' } },
    { serverInfo: { name: 'acme', version: '1.2.0' } },
  );
  assert.deepEqual(merged, {
    tools: { acme_login: { platforms: ['android'], groups: ['auth'], isRecordable: true }, acme_pay: {} },
    groups: { auth },
    serverInfo: { name: 'acme', version: '1.2.0' },
  });
  assert.deepEqual(registry(), { tools: {}, groups: {} });
  const login = { tools: { acme_login: {} } };
  assert.throws(() => registry(login, login), /two registries describe the tool `acme_login`/);
  const other = { groups: { auth: { description: 'other' } } };
  assert.throws(() => registry({ groups: { auth } }, other), /two registries describe the group `auth` differently/);
});
