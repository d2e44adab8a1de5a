/** Streams of events and devices. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { TrailblazeClient, type SessionEvent } from '@trailblaze/client';

import { fakeServer, frame, refuse, type Answering } from './fake-server.ts';

const EVENTS: SessionEvent[] = [
  { number: 1, type: 'called', json: '{"tool":"tap"}' },
  { number: 2, type: 'returned', json: '{"text":"äöü 🚀"}' },
];

const STREAM = { 'content-type': 'application/connect+json' };

async function withServer<T>(answer: Answering, use: (tb: TrailblazeClient) => Promise<T>): Promise<T> {
  const server = await fakeServer(answer);
  return use(new TrailblazeClient(server.address, { key: 'k-1', sessionId: 's-1' })).finally(server.close);
}

async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of stream) {
    found.push(one);
  }
  return found;
}

/** Sends parts of a response, one after the other. */
function sending(parts: (Buffer | string)[], isOpen = false): Answering {
  return (_, response) => {
    response.writeHead(200, STREAM);
    const send = (at: number): void => {
      if (at < parts.length) {
        response.write(parts[at], () => setImmediate(send, at + 1));
      } else if (!isOpen) {
        response.end();
      }
    };
    send(0);
  };
}

test('events arrive in order, however the bytes are split', async () => {
  const bytes = Buffer.concat([...EVENTS.map((event) => frame(event)), frame({}, 2)]);
  for (const size of [1, 3, 7, bytes.length]) {
    const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => bytes.subarray(n * size, (n + 1) * size));
    assert.deepEqual(await withServer(sending(parts), (tb) => all(tb.watchEvents({ after: 0 }))), EVENTS, `${size}`);
  }
});

test('a stream sends its parameters, ids and key', async () => {
  const server = await fakeServer(sending([frame({ number: 4, devices: [] }), frame({}, 2)]));
  const tb = new TrailblazeClient(server.address, { key: 'k-1', sessionId: 's-1' });
  assert.deepEqual(await all(tb.watchDevices({ after: 3 })), [{ number: 4, devices: [] }]);
  const { path, headers, body } = server.received[0]!;
  assert.equal(path, '/trailblaze.v1.TrailblazeSession/WatchDevices');
  assert.deepEqual(body, { after: 3, sessionId: 's-1' });
  assert.equal(headers['authorization'], 'Bearer k-1');
  assert.equal(headers['content-type'], 'application/connect+json');
  await server.close();
});

test('an error at the end of a stream is thrown, after the messages before it', async () => {
  const error = { code: 'resource_exhausted', message: 'too slow; resume after 1' };
  await withServer(sending([frame(EVENTS[0]), frame({ error }, 2)]), async (tb) => {
    const stream = tb.watchEvents();
    assert.deepEqual(await stream.next(), { done: false, value: EVENTS[0] });
    await assert.rejects(stream.next(), { name: 'TrailblazeError', ...error });
  });
});

test('a refused stream is an error with its code', async () => {
  const refusals: [Answering, object][] = [
    [(_, response) => refuse(response, 404, { code: 'not_found', message: 'unknown key' }), { code: 'not_found' }],
    [(_, response) => refuse(response, 200, '{}'), { code: 'unknown', message: /answered with status 200: \{\}$/ }],
  ];
  for (const [answer, error] of refusals) {
    await withServer(answer, (tb) => assert.rejects(all(tb.watchEvents()), error));
  }
});

test('a stream that breaks off, or has other bytes, is an error', async () => {
  const huge = Buffer.from([0, 0x7f, 0xff, 0xff, 0xff, 0x20]);
  const broken: [(Buffer | string)[], string][] = [
    [[frame(EVENTS[0])], 'unavailable'],
    [[frame(EVENTS[0]).subarray(0, 9)], 'unavailable'],
    [[], 'unavailable'],
    [[frame('not json')], 'internal'],
    [[frame({}, 1)], 'internal'],
    [[huge], 'resource_exhausted'],
  ];
  for (const [parts, code] of broken) {
    await withServer(sending(parts), (tb) => assert.rejects(all(tb.watchEvents()), { name: 'TrailblazeError', code }));
  }
  const cut: Answering = (_, response, socket) => {
    response.writeHead(200, STREAM).write(frame(EVENTS[0]), () => setImmediate(() => socket.destroy()));
  };
  await withServer(cut, (tb) => assert.rejects(all(tb.watchEvents()), { code: 'unavailable' }));
});

test('a reader that stops closes the stream', async () => {
  let hasClosed: () => void = () => {};
  const closed = new Promise<void>((resolve) => {
    hasClosed = resolve;
  });
  const open: Answering = (received, response, socket) => {
    response.on('close', () => hasClosed());
    return sending([frame(EVENTS[0])], true)(received, response, socket);
  };
  await withServer(open, async (tb) => {
    for await (const event of tb.watchEvents()) {
      assert.equal(event.number, 1);
      break;
    }
    await closed;
  });
});

test('a stream ends with its signal or its deadline', async () => {
  await withServer(sending([frame(EVENTS[0])], true), async (tb) => {
    const abort = new AbortController();
    const stream = tb.watchEvents({}, { signal: abort.signal });
    await stream.next();
    const waiting = stream.next();
    abort.abort(new Error('enough'));
    await assert.rejects(waiting, /^Error: enough$/);
    assert.deepEqual(await stream.next(), { done: true, value: undefined });
    await assert.rejects(all(tb.watchEvents({}, { deadlineMs: 20 })), { code: 'deadline_exceeded' });
  });
});
