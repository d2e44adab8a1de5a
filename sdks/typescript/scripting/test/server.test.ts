/** The server as a client sees it: a process, called with the official SDK. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { CallToolResult, JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

import { ALONE, withoutColumns } from './alone.ts';
import { callbackServer, succeeded } from './callback-server.ts';

const DEVICE = {
  id: 'ios/sim-1',
  platform: 'ios',
  widthPixels: 1170,
  heightPixels: 2532,
  driverType: 'ios-host',
};

type Started = {
  client: Client;
  /** All messages of the server, in order. */
  messages: JSONRPCMessage[];
  /** Waits until it has printed a text. */
  saw: (text: string) => Promise<void>;
  /** Waits until it has sent this many notifications. */
  told: (n: number) => Promise<void>;
};

async function start(env: Record<string, string> = {}): Promise<Started> {
  const args = [fileURLToPath(new URL('fixture.ts', import.meta.url))];
  const transport = new StdioClientTransport({ command: process.execPath, args, env: { ...ALONE, ...env }, stderr: 'pipe' });
  let stderr = '';
  const waiting = new Set<() => void>();
  transport.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
    waiting.forEach((look) => look());
  });
  const saw = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`stderr never had \`${text}\`: ${stderr}`)), 20_000);
      const look = () => {
        if (stderr.includes(text)) {
          clearTimeout(late);
          waiting.delete(look);
          resolve();
        }
      };
      waiting.add(look);
      look();
    });
  const client = new Client({ name: 'trailblaze', version: '0.0.0' });
  await client.connect(transport);
  const messages: JSONRPCMessage[] = [];
  const handle = transport.onmessage;
  let arrived = (): void => {};
  transport.onmessage = (message) => {
    messages.push(message);
    handle?.(message);
    arrived();
  };
  const told = async (n: number) => {
    while (messages.filter((message) => 'method' in message).length < n) {
      await new Promise<void>((resolve) => (arrived = resolve));
    }
  };
  return { client, messages, saw, told };
}

/** The line of a piece of code in the fixture, as messages show it. */
function lineOf(code: string): string {
  const file = fileURLToPath(new URL('fixture.ts', import.meta.url));
  const before = readFileSync(file, 'utf8').split(code)[0] ?? '';
  return `${relative(process.cwd(), file)}:${before.split('\n').length}`;
}

function textOf({ content: [block] }: CallToolResult): string {
  return block?.type === 'text' ? withoutColumns(block.text) : '';
}

function meta(more: Record<string, unknown> = {}) {
  return {
    trailblaze: {
      baseUrl: 'http://127.0.0.1:9',
      sessionId: 'session-1',
      invocationId: 'invocation-1',
      device: DEVICE,
      memory: {},
      capabilities: { sampling: false },
      ...more,
    },
  };
}

describe('a server of tools', () => {
  let server: Started;
  before(async () => {
    server = await start();
  });
  after(() => server.client.close());

  /** The log messages so far. */
  const said = () =>
    server.messages.flatMap((message) => ('params' in message ? [withoutColumns(String(message.params?.['data']))] : []));

  async function call(name: string, args: Record<string, unknown> = {}, _meta?: Record<string, unknown>) {
    const params = { name, arguments: args, ...(_meta === undefined ? {} : { _meta }) };
    return (await server.client.callTool(params)) as CallToolResult;
  }

  test('lists its name and tools', async () => {
    assert.equal(server.client.getServerVersion()?.name, 'fixture');
    assert.equal(server.client.getInstructions(), 'For tests.');
    const { tools } = await server.client.listTools();
    const named = Object.fromEntries(tools.map((tool) => [tool.name, tool]));
    assert.deepEqual(named['greet'], {
      name: 'greet',
      description: 'Greets somebody.',
      inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'], additionalProperties: false },
    });
    assert.equal(named['strict']?.inputSchema['additionalProperties'], false);
    assert.deepEqual(named['schema']?.annotations, { readOnlyHint: true });
    assert.deepEqual(named['where']?.inputSchema, { type: 'object', properties: {}, additionalProperties: false });
    assert.deepEqual(named['flagged']?._meta, {
      'com.example/own': 1,
      'trailblaze/isForLlm': false,
      'trailblaze/isRecordable': false,
      'trailblaze/isDelegating': true,
      'trailblaze/requiresHost': true,
      'trailblaze/supportedDrivers': ['android-host'],
      'trailblaze/supportedPlatforms': ['ANDROID', 'DESKTOP'],
      'trailblaze/toolset': 'odd',
      'trailblaze/groups': ['a', 'b'],
      'trailblaze/requiresContext': true,
    });
  });

  test('serves any MCP client, unless a tool needs Trailblaze', async () => {
    assert.deepEqual((await call('greet', { name: 'Ada' })).content, [{ type: 'text', text: 'hello Ada' }]);
    const refused = await call('where');
    assert.equal(refused.isError, true);
    assert.match(JSON.stringify(refused.content), /this tool needs Trailblaze for `device`, and another MCP client called it: no Trailblaze session is open/);
  });

  test('gives a handler the device and the session of the call', async () => {
    const answered = await call('where', {}, meta());
    const [block] = answered.content;
    assert.deepEqual(JSON.parse(block?.type === 'text' ? block.text : ''), {
      device: DEVICE,
      session: { id: 'session-1', invocationId: 'invocation-1', baseUrl: 'http://127.0.0.1:9' },
      isTrailblaze: true,
    });
  });

  test('keeps the context of older servers away from strict inputs', async () => {
    const _trailblazeContext = { memory: {}, device: { ...DEVICE, platform: 'IOS' } };
    assert.equal((await call('strict', { word: 'a', _trailblazeContext })).isError, false);
    const answered = await call('schema', { n: 4, _trailblazeContext });
    assert.deepEqual(answered.content, [{ type: 'text', text: '{"n":4}' }]);
    assert.deepEqual(answered.structuredContent, { twice: 8 });
  });

  test('refuses invalid arguments, and names missing ones', async () => {
    const missing = await call('strict');
    assert.deepEqual(missing._meta, { trailblaze: { variant: 'MissingRequiredArgs', missing: ['word'] } });
    const wrong = await call('schema', { n: 'four' });
    assert.equal(wrong.isError, true);
    assert.match(JSON.stringify(wrong.content), /invalid arguments for `schema`.*must be integer/);
    const unknown = await call('strict', { word: 'a', wrod: 'b' });
    assert.match(JSON.stringify(unknown.content), /wrod/);
    const misspelt = await call('greet', { name: 'Ada', nmae: 'Eve' });
    assert.match(JSON.stringify(misspelt.content), /invalid arguments for `greet`: unknown argument `nmae`; it takes `name`/);
  });

  test('returns memory changes with the result', async () => {
    const answered = await call('count', {}, meta({ memory: { count: 4, old: 'x', other: true } }));
    assert.deepEqual(answered.content, []);
    assert.deepEqual(answered._meta, {
      trailblaze: { variant: 'Success', memoryDelta: { count: 5 }, memoryDeletions: ['old'] },
    });
  });

  test('calls other tools through the callback', async () => {
    const trailblaze = await callbackServer(() => succeeded('tapped'));
    const calling = call('press', { id: 'ok' }, meta({ baseUrl: trailblaze.baseUrl }));
    const answered = await calling.finally(trailblaze.close);
    assert.deepEqual(answered.content, [{ type: 'text', text: 'trailblaze said: tapped' }]);
    assert.deepEqual(trailblaze.received, [
      {
        method: 'POST',
        url: '/scripting/callback',
        contentType: 'application/json',
        body: {
          version: 1,
          session_id: 'session-1',
          invocation_id: 'invocation-1',
          action: { type: 'call_tool', tool_name: 'tap', arguments_json: '{"id":"ok"}' },
        },
      },
    ]);
  });

  test('returns what a handler throws, and keeps running', async () => {
    const thrown = await call('throws');
    assert.equal(thrown.isError, true);
    assert.equal(textOf(thrown), `it broke (${lineOf("new Error('it broke')")})`);
    const strange = await call('strange');
    const defined = (name: string) => lineOf(`tool('${name}'`);
    assert.ok(textOf(strange).startsWith(`\`strange\` returned an invalid result (${defined('strange')})\nhint: `), textOf(strange));
    const unsendable = textOf(await call('unsendable'));
    assert.match(unsendable, /^the result of `unsendable` cannot be sent: /);
    assert.ok(unsendable.endsWith(` (${defined('unsendable')})`), unsendable);
    // What is no Error does not know where it was thrown.
    assert.equal(textOf(await call('throwsText')), `the shop is closed (${defined('throwsText')})`);
    const object = `it threw {"code":5}, which is not an Error (${defined('throwsObject')})`;
    assert.equal(textOf(await call('throwsObject')), object);
    await assert.rejects(call('nosuch'), /unknown tool `nosuch`/);
    assert.equal((await call('greet', { name: 'Grace' })).isError, false);
  });

  test('names the line of the tool that threw', async () => {
    const text = textOf(await call('mistaken'));
    assert.match(text, /^TypeError: .*undefined.* \(/);
    assert.ok(text.endsWith(` (${lineOf('orders.length')})`), text);
    const forgotten = textOf(await call('forgetsScreen', {}, meta()));
    const hint = `hint: write \`await\` before the call of \`captureScreen\` (${lineOf('= screen()')})`;
    assert.match(forgotten, /^TypeError: .*undefined.* \(/);
    assert.ok(forgotten.endsWith(` (${lineOf('{ elements: unknown[] }')})\n${hint}`), forgotten);
  });

  test('fails a call that left something rejected, and no other', async () => {
    const failure = { type: 'call_tool_result', success: false, textContent: '', errorMessage: 'no such element' };
    const trailblaze = await callbackServer(({ body }) =>
      JSON.stringify(body).includes('missing') ? { body: JSON.stringify({ result: failure }) } : succeeded('tapped'),
    );
    const about = (invocationId: string) => meta({ baseUrl: trailblaze.baseUrl, invocationId });
    try {
      const answered = await Promise.all([
        call('forgets', { id: 'missing' }, about('a')),
        call('forgets', { id: 'ok' }, about('b')),
        call('catches', {}, about('c')),
        call('press', { id: 'ok' }, about('d')),
      ]);
      const line = lineOf("client.callTool('tap', { id });\n  return 'done'");
      const hint = 'hint: write `await` before the call';
      const forgotten = `something that the tool did not wait for failed: no such element (${line})\n${hint}`;
      assert.deepEqual(answered.map(textOf), [forgotten, 'done', 'caught no such element', 'trailblaze said: tapped']);
      assert.deepEqual(answered.map(({ isError }) => isError), [true, false, false, false]);
    } finally {
      await trailblaze.close();
    }
    const rejected = await call('rejects');
    assert.match(textOf(rejected), /did not wait for failed: a forgotten promise \(.*fixture\.ts:\d+\)\nhint: /);
    for (const how of ['queueMicrotask', 'setImmediate']) {
      const thrown = withoutColumns(textOf(await call('throwsOutside', { how })));
      const line = lineOf('throw new Error(`thrown in ${how}`)');
      assert.match(thrown, new RegExp(`^something that the tool did not wait for failed: thrown in ${how} \\(${line}\\)`));
    }
    assert.equal((await call('greet', { name: 'Ada' })).isError, false, 'the next call is not blamed');
  });

  test('blames a request that fails on the call that made it', async () => {
    const line = lineOf('asked = fetch(');
    const why = `TypeError: (fetch failed: .+|.*socket connection was closed.*) \\(${line}\\)`;
    const during = textOf(await call('asks', { isCutOff: true }));
    assert.match(during, new RegExp(`^something that the tool did not wait for failed: ${why}\nhint: `));
    server.messages.length = 0;
    assert.equal(textOf(await call('asks', { isCutOff: false })), 'done');
    assert.equal(textOf(await call('cutOff')), 'TypeError', 'the call in progress is not blamed');
    await server.saw('something failed after `asks` had ended: TypeError: ');
    await server.told(1);
    assert.match(said().join(), new RegExp(`something failed after \`asks\` had ended: ${why}`));
  });

  test('does not lose what timers do', async () => {
    const failed = textOf(await call('fails_later'));
    assert.match(failed, /^something that the tool did not wait for failed: in the timer \(.*fixture\.ts:\d+\)/);
    server.messages.length = 0;
    const trailblaze = await callbackServer(() => succeeded('tapped'));
    try {
      const about = meta({ baseUrl: trailblaze.baseUrl, invocationId: 'e' });
      assert.equal(textOf(await call('leaves', { id: 'ok' }, about)), 'timers are left');
      const place = lineOf('setTimeout(async () => {');
      assert.deepEqual(said(), [`\`leaves\` ended before its timer fired; wait for it, or clear it (${place})`]);
      await server.saw('`leaves` called `tap` after it had ended, so nothing was done (');
      await server.told(2);
      const late = server.messages.find((message) => 'method' in message && message.params?.['level'] === 'error');
      const named = late !== undefined && 'params' in late ? late.params?.['_meta'] : undefined;
      assert.equal((named as Record<string, unknown> | undefined)?.['trailblazeFailedCall'], 'e');
      assert.deepEqual(trailblaze.received, []);
    } finally {
      await trailblaze.close();
    }
    assert.equal((await call('greet', { name: 'Ada' })).isError, false, 'the server goes on');
  });

  test('refuses what a tool does after it has ended, and says where', async () => {
    const lines: Record<string, string> = {
      tap: 'tap({ text',
      assertVisible: "ctx.assertVisible('Pay')",
      acme_pay: "client.callTool('acme_pay')",
      log: "log('info', 'too late')",
      progress: "progress('too late')",
      'memory.set': "memory.set('a', 1)",
    };
    for (const [what, code] of Object.entries(lines)) {
      server.messages.length = 0;
      assert.equal(textOf(await call('late', { what }, meta())), 'done');
      assert.deepEqual(said(), [`\`late\` ended before a process that it had started; wait for it (${lineOf("execFile('cat'")})`]);
      server.messages.length = 0;
      await call('release');
      const late = `\`late\` called \`${what}\` after it had ended, so nothing was done`;
      await server.told(1);
      const hint = 'hint: wait for everything that the tool starts before it returns';
      assert.deepEqual(said(), [`${late} (${lineOf(code)})\n${hint}`]);
    }
    await server.saw('the author caught: `late` called `assertVisible` after it had ended');
    server.messages.length = 0;
    assert.equal(textOf(await call('waitsForProcess')), 'done');
    assert.deepEqual(said(), []);
  });

  test('passes variants and delegates on', async () => {
    assert.deepEqual((await call('fatal'))._meta, { trailblaze: { variant: 'FatalError' } });
    const delegated = await call('flagged');
    assert.deepEqual(delegated.structuredContent, {
      _trailblaze_delegates: [
        { tool: 'tap', args: { id: 'ok' } },
        { tool: 'pressBack', args: {} },
      ],
    });
    assert.deepEqual(delegated.content, [{ type: 'text', text: 'delegated to `tap`, `pressBack`' }]);
  });

  test('keeps output of handlers away from the protocol', async () => {
    server.messages.length = 0;
    await server.client.callTool({ name: 'noisy' }, undefined, { onprogress: () => {} });
    const said = server.messages.map((message) => ('params' in message ? message.params : message));
    const [, first] = said as [unknown, { progressToken: number }];
    const { progressToken } = first;
    assert.deepEqual(said.slice(0, 3), [
      { level: 'warning', logger: 'noisy', data: 'take care', _meta: { progressToken } },
      { progressToken, progress: 1, message: 'first' },
      { progressToken, progress: 2, message: 'second' },
    ]);
    assert.equal(said.length, 4, 'and then the result');
    const printed = ['console.log', 'console.info', 'console.table', 'stdout'];
    await Promise.all(printed.map((text) => server.saw(text)));
    assert.equal((await call('greet', { name: 'Alan' })).isError, false);
  });

  test('notifies a handler that its call was cancelled', async () => {
    const cancel = new AbortController();
    const onprogress = () => cancel.abort();
    const waiting = server.client.callTool({ name: 'waits' }, undefined, { signal: cancel.signal, onprogress });
    await assert.rejects(waiting);
    await server.saw('waits: cancelled');
  });
});

test('a server stops with its client, even in the middle of a call', async () => {
  const server = await start();
  const onprogress = () => void server.client.close();
  await assert.rejects(server.client.callTool({ name: 'waits' }, undefined, { onprogress }));
  await server.saw('waits: cancelled');
  // A process that is ended by a signal does not print this.
  await server.saw('fixture: ended');
});

test('the callback address may come from the environment, and proxies are not used', async () => {
  const trailblaze = await callbackServer(() => succeeded('found'));
  const proxy = 'http://127.0.0.1:9';
  const env = { TRAILBLAZE_BASE_URL: trailblaze.baseUrl, HTTP_PROXY: proxy, http_proxy: proxy, NODE_USE_ENV_PROXY: '1' };
  const { client } = await start(env);
  try {
    const _meta = meta({ baseUrl: undefined });
    const answered = await client.callTool({ name: 'press', arguments: { id: 'ok' }, _meta });
    assert.deepEqual(answered.content, [{ type: 'text', text: 'trailblaze said: found' }]);
  } finally {
    await client.close();
    await trailblaze.close();
  }
});
