/** Servers and networks that misbehave: every call ends with an error that says what happened. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { TrailblazeClient, type ErrorCode } from '@trailblaze/client';

import { CODES } from '../src/errors.ts';
import { post } from '../src/transport.ts';
import { fakeServer, OK, refuse, type Answering } from './fake-server.ts';

const run = promisify(execFile);

async function withServer<T>(answer: Answering, use: (tb: TrailblazeClient) => Promise<T>): Promise<T> {
  const server = await fakeServer(answer);
  return use(new TrailblazeClient(server.address, { invocationId: 'c-1' })).finally(server.close);
}

/** A server that sends these bytes, whatever is asked. */
async function withBytes(bytes: string | ((socket: Socket) => void), use: (tb: TrailblazeClient) => Promise<unknown>): Promise<void> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => (typeof bytes === 'string' ? socket.end(bytes) : bytes(socket)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  await use(new TrailblazeClient(address, { invocationId: 'c-1' })).finally(() => server.close());
}

test('every code of an error is passed on, with its message', async () => {
  for (const code of CODES) {
    const answer: Answering = (_, response) => refuse(response, 400, { code, message: `said ${code}` });
    const calling = withServer(answer, (tb) => tb.isVisible('a'));
    await assert.rejects(calling, { name: 'TrailblazeError', code, message: `said ${code}` });
  }
});

test('an error that is not of the protocol has the code of its status', async () => {
  const cases: [number, unknown, ErrorCode, RegExp][] = [
    [403, 'foreign origin', 'permission_denied', /answered with status 403: foreign origin$/],
    [404, '', 'unimplemented', /trailblaze\.v1\.TrailblazeCommands\/Tap answered with status 404$/],
    [401, 'no', 'unauthenticated', /status 401/],
    [413, 'no', 'resource_exhausted', /status 413/],
    [503, '<html>busy</html>', 'unavailable', /status 503: <html>/],
    [500, '[]', 'unknown', /status 500: \[\]/],
    [302, '', 'unknown', /status 302$/],
    [500, { code: 'odd', message: 'new words' }, 'unknown', /^odd: new words$/],
    [500, { code: 'internal' }, 'internal', /^internal$/],
    [500, { message: 'x'.repeat(5000) }, 'unknown', /x{100}…$/],
  ];
  for (const [status, body, code, message] of cases) {
    const calling = withServer((_, response) => refuse(response, status, body), (tb) => tb.tap(1, 2));
    await assert.rejects(calling, { name: 'TrailblazeError', code, message });
  }
});

test('a response that is not JSON, or not an object, is named', async () => {
  for (const body of ['<html>hello</html>', '', '{"success": tr', 'x'.repeat(100_000)]) {
    const calling = withServer((_, response) => refuse(response, 200, body), (tb) => tb.tap(1, 2));
    await assert.rejects(calling, { code: 'internal', message: /sent a response that is not JSON: .{0,201}\nhint: is it/ });
  }
  for (const body of ['5', 'null', '[]', '"text"']) {
    const calling = withServer((_, response) => refuse(response, 200, body), (tb) => tb.tap(1, 2));
    await assert.rejects(calling, { code: 'internal', message: /not with an object/ }, body);
  }
  await withServer((_, response) => refuse(response, 200, '{}'), (tb) =>
    assert.rejects(tb.tap(1, 2), { name: 'ActionFailed', message: '`tap` failed' }),
  );
});

test('a response that breaks off is an error', async () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
  const broken = [
    `${head}content-length: 100\r\n\r\n{"success"`,
    `${head}transfer-encoding: chunked\r\n\r\n9\r\n{"success\r\n`,
    head,
    '',
  ];
  for (const bytes of broken) {
    await withBytes(bytes, (tb) => assert.rejects(tb.tap(1, 2), { name: 'TrailblazeError', code: 'unavailable' }, bytes));
  }
  await withBytes('SSH-2.0-OpenSSH_9.6\r\n', (tb) => assert.rejects(tb.tap(1, 2), { code: 'unavailable' }));
});

test('a server that is not there is named', async () => {
  const server = await fakeServer(() => OK);
  await server.close();
  const message = new RegExp(`^Trailblaze cannot be reached at ${server.address}/trailblaze.v1.TrailblazeCommands/Tap: `);
  const tb = new TrailblazeClient(server.address, { invocationId: 'c' });
  await assert.rejects(tb.tap(1, 2), { name: 'TrailblazeError', code: 'unavailable', message });
});

test('a response that is too large is not read to its end', async () => {
  const large = Buffer.alloc(2 * 1024 * 1024, 0x20);
  for (const isDeclared of [true, false]) {
    let hasClosed: () => void = () => {};
    const closed = new Promise<void>((resolve) => {
      hasClosed = resolve;
    });
    const server = await fakeServer((_, response) => {
      let isClosed = false;
      response.on('close', () => {
        isClosed = true;
        hasClosed();
      });
      response.writeHead(200, isDeclared ? { 'content-length': 1e12 } : {});
      const more = (): void => void (isClosed || response.write(large, () => setImmediate(more)));
      more();
    });
    const outgoing = { headers: {}, body: Buffer.from('{}'), maxBytes: 4 * 1024 * 1024 };
    await assert.rejects(post(server.address, outgoing), { code: 'resource_exhausted', message: /larger than 4 MiB$/ });
    await closed;
    await server.close();
  }
});

test('a call that is not answered in time ends, and so does its request', async () => {
  let hasClosed: () => void = () => {};
  const closed = new Promise<void>((resolve) => {
    hasClosed = resolve;
  });
  const never: Answering = (_, response) => void response.on('close', () => hasClosed());
  await withServer(never, async (tb) => {
    await assert.rejects(tb.tap({ text: 'a' }, { deadlineMs: 20 }), { code: 'deadline_exceeded', message: /within 520 ms$/ });
    await closed;
  });
});

test('the deadline also holds while a response arrives', async () => {
  const slow: Answering = (_, response) => {
    response.writeHead(200).write('{');
  };
  await withServer(slow, (tb) => assert.rejects(tb.tap({ id: 'a' }, { deadlineMs: 20 }), { code: 'deadline_exceeded' }));
});

test('a call that is aborted rejects with the reason, and its request is closed', async () => {
  for (const hasBegun of [false, true]) {
    const abort = new AbortController();
    let hasClosed: () => void = () => {};
    const closed = new Promise<void>((resolve) => {
      hasClosed = resolve;
    });
    const never: Answering = (_, response) => {
      response.on('close', () => hasClosed());
      if (hasBegun) {
        response.writeHead(200).write('{');
      }
      setImmediate(() => abort.abort(new Error('enough')));
    };
    await withServer(never, async (tb) => {
      await assert.rejects(tb.tap({ id: 'a' }, { signal: abort.signal }), /^Error: enough$/);
      await closed;
      await assert.rejects(tb.tap({ id: 'a' }, { signal: abort.signal }), /^Error: enough$/);
    });
  }
});

test('the signal of a client aborts its calls, next to the signal of a call', async () => {
  const server = await fakeServer(() => undefined);
  for (const which of ['client', 'call'] as const) {
    const aborts = { client: new AbortController(), call: new AbortController() };
    const tb = new TrailblazeClient(server.address, { invocationId: 'c', signal: aborts.client.signal });
    const calling = tb.tap({ id: 'a' }, { signal: aborts.call.signal });
    aborts[which].abort(new Error(`by the ${which}`));
    await assert.rejects(calling, { message: `by the ${which}` });
  }
  await server.close();
});

test('calls in a row share a connection, and calls at the same time do not mix', async () => {
  const server = await fakeServer(({ body }) => ({ value: body['id'] }));
  const clients = [1, 2].map((n) => new TrailblazeClient(server.address, { invocationId: `c-${n}` }));
  for (let n = 0; n < 20; n += 1) {
    await clients[n % 2]!.getElementText(`${n}`);
  }
  assert.equal(server.connections(), 1);
  const ids = Array.from({ length: 200 }, (_, n) => `id-${n}`);
  const texts = await Promise.all(ids.map((id, n) => clients[n % 2]!.getElementText(id)));
  assert.deepEqual(texts, ids);
  await server.close();
});

test('a kept connection that the server closed is replaced, once', async () => {
  let calls = 0;
  const server = await fakeServer(({ connection }, response, socket) => {
    calls += 1;
    if (calls % 2 === 1 || connection > 1) {
      return { value: `${connection}` };
    }
    // As if the connection had been closed while it was idle.
    socket.destroy();
    response.destroy();
    return undefined;
  });
  const tb = new TrailblazeClient(server.address, { invocationId: 'c' });
  assert.equal(await tb.getElementText('a'), '1');
  assert.equal(await tb.getElementText('a'), '2');
  assert.equal(calls, 3);
  await server.close();
});

test('a request on a new connection is never sent twice', async () => {
  const server = await fakeServer((_, __, socket) => void socket.destroy());
  const tb = new TrailblazeClient(server.address, { invocationId: 'c' });
  await assert.rejects(tb.tap(1, 2), { code: 'unavailable' });
  assert.equal(server.received.length, 1);
  await server.close();
});

test('a request whose response has begun is never sent twice', async () => {
  let calls = 0;
  const server = await fakeServer((_, __, socket) => {
    calls += 1;
    if (calls === 1) {
      return OK;
    }
    socket.end('HTTP/1.1 200');
    return undefined;
  });
  const tb = new TrailblazeClient(server.address, { invocationId: 'c' });
  await tb.tap(1, 2);
  await assert.rejects(tb.tap(1, 2), { code: 'unavailable' });
  assert.equal(calls, 2);
  await server.close();
});

const sample = fileURLToPath(new URL('one-call.ts', import.meta.url));

test('proxies are not used, and a program ends after its last call', async () => {
  const server = await fakeServer(() => OK);
  const proxy = 'http://127.0.0.1:9';
  const proxies = Object.fromEntries(['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY'].map((name) => [name, proxy]));
  const env = { ...process.env, ...proxies, NODE_USE_ENV_PROXY: '1', ADDRESS: server.address, TRAILBLAZE_BASE_URL: '' };
  const { stdout } = await run(process.execPath, [sample], { env, timeout: 30_000 });
  assert.equal(stdout, 'done\n');
  await server.close();
});

test('the first call loads little', { skip: process.versions['bun'] !== undefined }, async () => {
  const server = await fakeServer(() => OK);
  const program = `
    import { TrailblazeClient } from ${JSON.stringify(import.meta.resolve('@trailblaze/client'))};
    await new TrailblazeClient(${JSON.stringify(server.address)}, { invocationId: 'c' }).tap(1, 2);
    console.log(process.moduleLoadList.filter((name) => name.includes('undici')).join());
  `;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], { timeout: 30_000 });
  assert.equal(stdout, '\n', 'the code of `fetch` takes longer to load than a call takes');
  await server.close();
});

test('in a tool server, a client without an id uses the address of its own Trailblaze, and says so once', async () => {
  const [own, other] = [await fakeServer(() => OK), await fakeServer(() => OK)];
  const env = { ...process.env, TRAILBLAZE_BASE_URL: own.address, ADDRESS: other.address, TWICE: '1' };
  const { stdout, stderr } = await run(process.execPath, [sample], { env, timeout: 30_000 });
  assert.equal(stdout, 'done\n');
  assert.equal(stderr.split('\n').filter((line) => line.startsWith(`trailblaze: using ${own.address} instead of`)).length, 1);
  assert.deepEqual([own.received.length, other.received.length], [2, 0]);
  await run(process.execPath, [sample], { env: { ...env, INVOCATION: 'c-1' }, timeout: 30_000 });
  assert.deepEqual([own.received.length, other.received.length], [2, 2]);
  await Promise.all([own.close(), other.close()]);
});

test('a first call that is aborted at once is not sent', async () => {
  const server = await fakeServer(() => OK);
  const code = `
    import { TrailblazeClient } from '@trailblaze/client';
    const abort = new AbortController();
    const tb = new TrailblazeClient(process.env.ADDRESS, { invocationId: 'c' });
    const tapping = tb.tap({ id: 'a' }, { signal: abort.signal });
    abort.abort(new Error('enough'));
    await tapping.catch((error) => console.log(error.message));
    await tb.isVisible('later');
  `;
  const file = fileURLToPath(new URL(`../dist/aborted-${process.pid}.mjs`, import.meta.url));
  writeFileSync(file, code);
  try {
    const { stdout } = await run(process.execPath, [file], { env: { ...process.env, ADDRESS: server.address } });
    assert.equal(stdout, 'enough\n');
    assert.deepEqual(server.received.map(({ path }) => path.split('/').at(-1)), ['IsVisible']);
  } finally {
    rmSync(file);
    await server.close();
  }
});
