import assert from 'node:assert/strict';
import { test } from 'node:test';
import { envelope, errorOf, Frames } from '../src/api/connect.ts';

test('messages are found in a stream, however it is cut', () => {
  const sent = ['{"a":1}', '{"name":"Zoë"}', '{}'];
  const bytes = Buffer.concat(sent.map(envelope));
  for (const size of [1, 3, 7, 1000]) {
    const frames = new Frames();
    const got: string[] = [];
    for (let at = 0; at < bytes.length; at += size) got.push(...frames.push(bytes.subarray(at, at + size)).map((frame) => frame.text));
    assert.deepEqual(got, sent, `in parts of ${size}`);
  }
});

test('the end of a stream is marked', () => {
  const end = envelope('{"error":{"code":"not_found"}}');
  end[0] = 2;
  assert.equal(new Frames().push(end)[0]?.isEnd, true);
});

test('a message that claims to be huge is refused', () => {
  assert.throws(() => new Frames().push(new Uint8Array([0, 255, 255, 255, 255])), /too large/);
});

test('an error says what the daemon said, or its status', () => {
  assert.equal(errorOf(401, '{"code":"unauthenticated","message":"run it again"}').message, 'run it again');
  assert.deepEqual([errorOf(503, '').code, errorOf(500, 'broken').message], ['unavailable', 'broken']);
});
