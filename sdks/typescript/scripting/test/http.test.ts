/** The server over HTTP, as Trailblaze uses it when several devices share one process. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

import { askedPort } from '../src/http-server.ts';

type Started = {
  url: URL;
  /** Waits until it has printed a text. */
  saw: (text: string) => Promise<void>;
  endStdin: () => void;
  ended: Promise<number | null>;
  kill: () => void;
};

async function start(env: Record<string, string> = {}): Promise<Started> {
  const fixture = fileURLToPath(new URL('fixture.ts', import.meta.url));
  const child = spawn(process.execPath, [fixture, '--transport', 'http', '--port', '0'], { env, stdio: 'pipe' });
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  let stderr = '';
  const waiting = new Set<() => void>();
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
    waiting.forEach((look) => look());
  });
  const found = (pattern: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`stderr never had ${pattern}: ${stderr}`)), 20_000);
      const look = () => {
        const match = pattern.exec(stderr);
        if (match !== null) {
          clearTimeout(late);
          waiting.delete(look);
          resolve(match[1] ?? '');
        }
      };
      waiting.add(look);
      look();
    });
  const url = new URL(await found(/listening on (http:\S+)/));
  const saw = async (text: string) => void (await found(new RegExp(text)));
  return { url, saw, endStdin: () => child.stdin.end(), ended, kill: () => void child.kill('SIGKILL') };
}

async function connect(url: URL): Promise<Client> {
  const client = new Client({ name: 'trailblaze', version: '0.0.0' });
  await client.connect(new StreamableHTTPClientTransport(url) as Transport);
  return client;
}

async function post(url: URL, headers: Record<string, string>, path = url.pathname): Promise<number | undefined> {
  const asking = request({ host: url.hostname, port: url.port, path, method: 'POST', headers });
  asking.end('{}');
  const [response] = (await once(asking, 'response')) as [{ statusCode?: number; resume(): void }];
  response.resume();
  return response.statusCode;
}

describe('a server of tools over HTTP', () => {
  let server: Started;
  before(async () => {
    server = await start();
  });
  after(() => server.kill());

  test('serves several clients from one process', async () => {
    assert.equal(server.url.hostname, '127.0.0.1');
    assert.equal(server.url.pathname, '/mcp');
    const clients = await Promise.all([connect(server.url), connect(server.url)]);
    const greeted = await Promise.all(
      clients.map((client, n) => client.callTool({ name: 'greet', arguments: { name: `${n}` } })),
    );
    assert.deepEqual(greeted.map(({ content }) => content), [
      [{ type: 'text', text: 'hello 0' }],
      [{ type: 'text', text: 'hello 1' }],
    ]);
    await clients[0]?.close();
    const { tools } = (await clients[1]?.listTools()) ?? { tools: [] };
    assert.ok(tools.length > 5, 'one that leaves does not disturb the other');
    await clients[1]?.close();
  });

  test('sends log lines and progress with the call that they belong to', async () => {
    const client = await connect(server.url);
    const said: unknown[] = [];
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void said.push(params.data));
    const onprogress = ({ message }: { message?: string | undefined }) => void said.push(message);
    const heard = async () => {
      await client.callTool({ name: 'noisy' }, undefined, { onprogress });
      return said.splice(0);
    };
    assert.deepEqual(await heard(), ['take care', 'first', 'second']);
    await client.setLoggingLevel('error');
    assert.deepEqual(await heard(), ['first', 'second'], 'and only the levels that were asked for');
    await client.close();
  });

  test('notifies a handler that its call was cancelled', async () => {
    const client = await connect(server.url);
    const cancel = new AbortController();
    const onprogress = () => cancel.abort();
    await assert.rejects(client.callTool({ name: 'waits' }, undefined, { signal: cancel.signal, onprogress }));
    await server.saw('waits: cancelled');
    await client.close();
  });

  test('accepts only programs on this machine, and only at its path', async () => {
    const { host } = server.url;
    assert.equal(await post(server.url, { host: 'evil.example' }), 403);
    assert.equal(await post(server.url, { host, origin: 'https://evil.example' }), 403);
    assert.equal(await post(server.url, { host, origin: 'null' }), 403);
    assert.equal(await post(server.url, { host }, '/'), 404);
    assert.equal(await post(server.url, { host, 'mcp-session-id': 'nobody' }), 404);
    assert.notEqual(await post(server.url, { host, origin: `http://${host}` }), 403);
  });
});

test('a server that Trailblaze started stops when its stdin ends, any other does not', async () => {
  const ours = await start({ TRAILBLAZE_BASE_URL: 'http://127.0.0.1:9' });
  const client = await connect(ours.url);
  ours.endStdin();
  assert.equal(await ours.ended, 0);
  await client.close();

  const other = await start();
  other.endStdin();
  const later = await connect(other.url);
  assert.ok((await later.listTools()).tools.length > 0);
  await later.close();
  other.kill();
});

test('arguments decide how tools are served', () => {
  assert.equal(askedPort([]), undefined);
  assert.equal(askedPort(['--port', '80']), undefined);
  assert.equal(askedPort(['--transport', 'stdio', '--port', '80']), undefined);
  assert.equal(askedPort(['-v', '--transport', 'http', '--port', '8123', 'x']), 8123);
  assert.equal(askedPort(['--transport=http', '--port=0']), 0);
  assert.throws(() => askedPort(['--transport', 'sse']), /must be stdio or http, got `sse`/);
  for (const args of [[], ['--port'], ['--port', 'x'], ['--port', '-1'], ['--port', '70000']]) {
    assert.throws(() => askedPort(['--transport', 'http', ...args]), /needs a `--port` from 0 to 65535/);
  }
});
