/** The callback, tested with the examples that Trailblaze's own tests read, and with misbehaving servers. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { test } from 'node:test';

import { CALLBACK_PATH, CALLBACK_VERSION, type CallbackAnswer, type CallbackRequest } from '@trailblaze/scripting';
import { DEFAULT_DEADLINE_MS, LONGEST_CALL_MS } from '@trailblaze/client/transport';

import { callToolRequest, readAnswer, toText } from '../src/callback.ts';
import { httpClient } from '../src/http-client.ts';
import { callbackServer, succeeded, type Reply } from './callback-server.ts';

type Means = { text?: string; toolError?: string; callbackError?: string };
type Examples = {
  version: number;
  path: string;
  longestCallMs: number;
  requests: { about: string; request: CallbackRequest; arguments: Record<string, unknown> }[];
  answers: { about: string; answer: CallbackAnswer; means: Means }[];
  readableAnswers: { about: string; answer: unknown; means: Means }[];
};

const examples = JSON.parse(
  readFileSync(new URL('../wire/callback-v1.json', import.meta.url), 'utf8'),
) as Examples;

test('requests are written as in the examples', () => {
  assert.equal(CALLBACK_VERSION, examples.version);
  assert.equal(CALLBACK_PATH, examples.path);
  for (const { about, request, arguments: args } of examples.requests) {
    const call = { sessionId: request.session_id, invocationId: request.invocation_id };
    assert.deepEqual(callToolRequest(call, request.action.tool_name, args), request, about);
  }
});

test('the client waits longer than the time limit of a call', () => {
  assert.equal(LONGEST_CALL_MS, examples.longestCallMs);
  assert.ok(DEFAULT_DEADLINE_MS > examples.longestCallMs);
});

test('responses are read as in the examples', () => {
  for (const { about, answer } of examples.answers) {
    assert.deepEqual(readAnswer(answer), answer, about);
  }
  for (const { about, answer, means } of [...examples.answers, ...examples.readableAnswers]) {
    const read = () => toText('tap', readAnswer(answer));
    if (means.text !== undefined) {
      assert.equal(read(), means.text, about);
    } else if (means.toolError !== undefined) {
      assert.throws(read, { name: 'TrailblazeToolError', message: means.toolError, toolName: 'tap' }, about);
    } else {
      assert.throws(read, { name: 'TrailblazeCallbackError', message: means.callbackError }, about);
    }
  }
});

test('a response of another shape is refused with a hint', () => {
  for (const answer of [null, [], {}, { result: 5 }, { result: { type: 'call_tool_result' } }, { result: { type: 'new' } }]) {
    assert.throws(() => readAnswer(answer), /hint: upgrade @trailblaze\/scripting/, JSON.stringify(answer));
  }
});

async function ask(reply: () => Reply, timeoutMs = 20_000, signal = new AbortController().signal) {
  const server = await callbackServer(reply);
  const client = httpClient({ baseUrl: `${server.baseUrl}/`, sessionId: 's', invocationId: 'i', signal });
  return client.callTool('tap', { id: 'a' }, { timeoutMs }).finally(server.close);
}

test('errors of a server are described clearly', async () => {
  assert.deepEqual(await ask(() => succeeded('ok')), { text: 'ok' });
  const wrong: [Reply, RegExp][] = [
    [{ status: 403, body: 'foreign origin' }, /^Trailblaze refused to call `tap` with status 403: foreign origin$/],
    [{ status: 500, body: '' }, /with status 500$/],
    [{ status: 302, body: '' }, /with status 302$/],
    [{ body: '<html>' }, /^Trailblaze returned a response that is not JSON: <html>$/],
    [{ body: '' }, /that is not JSON/],
    [{ body: `"${'x'.repeat(5000)}"` }, /x{100}…\nhint/],
  ];
  for (const [reply, message] of wrong) {
    await assert.rejects(ask(() => reply), { name: 'TrailblazeCallbackError', message });
  }
});

test('a server that does not respond times out', async () => {
  await assert.rejects(ask(() => 'never', 50), /^TrailblazeCallbackError: `tap` was not answered within 50 ms$/);
});

test('a connection that ends in the middle of a response is an error', async () => {
  const server = createServer((socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"result"'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { signal } = new AbortController();
  const client = httpClient({ baseUrl, sessionId: 's', invocationId: 'i', signal });
  const calling = client.callTool('tap', {}, { timeoutMs: 20_000 }).finally(() => server.close());
  await assert.rejects(calling, /^TrailblazeCallbackError: Trailblaze cannot be reached at /);
});

test('a call that is cancelled stops waiting', async () => {
  const cancel = new AbortController();
  const reply = (): Reply => {
    cancel.abort(new Error('enough'));
    return 'never';
  };
  await assert.rejects(ask(reply, 20_000, cancel.signal), /enough/);
  await assert.rejects(ask(() => succeeded('late'), 20_000, cancel.signal), /enough/);
});

test('an invalid or unreachable address is named', async () => {
  const { signal } = new AbortController();
  const at = (baseUrl: string) => httpClient({ baseUrl, sessionId: 's', invocationId: 'i', signal }).callTool('tap');
  await assert.rejects(at('nowhere'), /the address of Trailblaze must be an http address, got `nowhere`/);
  await assert.rejects(at('ftp://localhost'), /must be an http address/);
  const server = await callbackServer(() => succeeded(''));
  await server.close();
  await assert.rejects(at(server.baseUrl), /cannot be reached at http:\/\/127\.0\.0\.1:\d+\/scripting\/callback/);
});
