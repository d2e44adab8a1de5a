/** Clients that find the session of this user's daemon by themselves. */

import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';

import { TrailblazeClient } from '@trailblaze/client';

import { fakeServer, OK, refuse, type FakeServer } from './fake-server.ts';

const VARIABLES = ['XDG_RUNTIME_DIR', 'TRAILBLAZE_SESSION', 'TRAILBLAZE_BASE_URL'];
const before = VARIABLES.map((name) => [name, process.env[name]] as const);
const NO_SESSION = { message: 'no session is open', hint: '`trailblaze device connect` opens one', exit: 'invalid', isNoSession: true };

let runtime: string;

beforeEach(() => {
  runtime = mkdtempSync(join(tmpdir(), 'trailblaze-test-'));
  VARIABLES.forEach((name) => delete process.env[name]);
  process.env['XDG_RUNTIME_DIR'] = runtime;
});

afterEach(() => {
  rmSync(runtime, { recursive: true });
  before.forEach(([name, value]) => (value === undefined ? delete process.env[name] : (process.env[name] = value)));
});

type FakeDaemon = FakeServer & { path: string; folder: string; keys(): unknown[] };

/** A daemon with sessions, and their typed API. */
async function fakeDaemon(program: string, sessions: string[], pid = process.pid): Promise<FakeDaemon> {
  const server = await fakeServer(({ path, headers, body }, response) => {
    if (path !== '/daemon') {
      const isKnown = sessions.some((name) => headers.authorization === `Bearer key-of-${name}`);
      return isKnown ? OK : refuse(response, 401, { code: 'unauthenticated', message: 'unknown session key' });
    }
    const { name } = (body as { access: { session: { name?: string } } }).access.session;
    const fitting = sessions.filter((session) => name === undefined || name === session);
    const access = { name: fitting[0], address: server.address, key: `key-of-${fitting[0]}`, session: 's-1', device: 'android/sim-1' };
    const names = fitting.map((session) => `\`${session}\``).join(', ');
    const several = { message: `${fitting.length} sessions are open: ${names}`, hint: null, exit: 'invalid', isNoSession: false };
    const error = fitting.length === 0 ? NO_SESSION : several;
    const last = fitting.length === 1 ? { answer: { access } } : { error };
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.end(['"alive"', JSON.stringify({ progress: 'opening' }), JSON.stringify(last), ''].join('\n'));
    return undefined;
  });
  const folder = join(runtime, 'trailblaze');
  mkdirSync(folder, { mode: 0o700, recursive: true });
  const path = join(folder, `${program}.daemon.json`);
  const about = { version: '1', pid, address: server.address, key: `key-of-${program}` };
  writeFileSync(path, JSON.stringify(about), { mode: 0o600 });
  return { ...server, path, folder, keys: () => server.received.map(({ headers }) => headers.authorization) };
}

const tap = () => new TrailblazeClient().tap(1, 2);

test('the only session is used, and looked for once', async () => {
  const daemon = await fakeDaemon('trailblaze', ['wallet']);
  const tb = new TrailblazeClient();
  assert.equal(tb.baseUrl, 'trailblaze:daemon');
  await Promise.all([tb.tap(1, 2), tb.tap(3, 4)]);
  await tb.tap(5, 6);
  assert.deepEqual(daemon.keys(), ['Bearer key-of-trailblaze', ...Array<string>(3).fill('Bearer key-of-wallet')]);
  await daemon.close();
});

test('a tool that another program calls uses it too', async () => {
  const daemon = await fakeDaemon('trailblaze', ['wallet']);
  for (const context of [undefined, {}, { _meta: { progressToken: 1 } }, { mcpReq: {} }]) {
    await TrailblazeClient.fromContext(context).tap(1, 2);
    assert.equal(daemon.keys().at(-1), 'Bearer key-of-wallet');
  }
  await daemon.close();
});

test('of several sessions, the variable names one', async () => {
  const daemon = await fakeDaemon('trailblaze', ['wallet', 'shop']);
  await assert.rejects(tap(), {
    code: 'failed_precondition',
    message: '2 sessions are open: `wallet`, `shop`\nhint: set TRAILBLAZE_SESSION to the name of one',
  });
  process.env['TRAILBLAZE_SESSION'] = 'shop';
  await tap();
  assert.equal(daemon.keys().at(-1), 'Bearer key-of-shop');
  process.env['TRAILBLAZE_SESSION'] = 'nothing';
  await assert.rejects(tap(), { code: 'failed_precondition', message: /^no session is open\nhint: `trailblaze device connect`/ });
  await daemon.close();
});

test('the daemons of other programs have sessions too', async () => {
  const daemon = await fakeDaemon('trailblaze', ['wallet']);
  const other = await fakeDaemon('acme', ['driver']);
  await assert.rejects(tap(), { message: /^session `driver` is open; session `wallet` is open\nhint: set TRAILBLAZE_SESSION/ });
  process.env['TRAILBLAZE_SESSION'] = 'driver';
  await tap();
  assert.equal(other.keys().at(-1), 'Bearer key-of-driver');
  delete process.env['TRAILBLAZE_SESSION'];
  await other.close();
  await tap();
  assert.equal(daemon.keys().at(-1), 'Bearer key-of-wallet');
  await daemon.close();
});

test('without a daemon, a call says how to open a session, and the next one looks again', async () => {
  const none = { code: 'failed_precondition', message: 'no Trailblaze session is open\nhint: `trailblaze device connect` opens one' };
  const tb = new TrailblazeClient();
  await assert.rejects(tb.tap(1, 2), none);
  const daemon = await fakeDaemon('trailblaze', ['wallet']);
  await tb.tap(1, 2);
  await daemon.close();
  await assert.rejects(tap(), none);
});

test('a killed daemon is not asked', async () => {
  const daemon = await fakeDaemon('trailblaze', ['wallet'], 2 ** 22 + 1);
  await assert.rejects(tap(), /no Trailblaze session is open/);
  assert.equal(daemon.connections(), 0);
  await daemon.close();
});

test('what other users could have written is not used', async () => {
  const daemon = await fakeDaemon('trailblaze', ['wallet']);
  const check = async (path: string) => {
    const message = `\`${path}\` is not used: it belongs to another user, or other users may use it\nhint: \`chmod go= ${path}\` changes that`;
    await assert.rejects(tap(), { code: 'permission_denied', message });
  };
  chmodSync(daemon.path, 0o644);
  await check(daemon.path);
  chmodSync(daemon.path, 0o600);
  chmodSync(daemon.folder, 0o755);
  await check(daemon.folder);
  chmodSync(daemon.folder, 0o700);
  const link = join(daemon.folder, 'link.daemon.json');
  symlinkSync(daemon.path, link);
  await check(link);
  assert.equal(daemon.connections(), 0);
  await daemon.close();
});

test('a session that has ended is named', async () => {
  const sessions = ['wallet'];
  const daemon = await fakeDaemon('trailblaze', sessions);
  const tb = new TrailblazeClient();
  await tb.tap(1, 2);
  sessions.pop();
  await assert.rejects(tb.tap(1, 2), { code: 'unauthenticated', message: /^session `wallet` has ended, or its daemon has: unknown/ });
  await daemon.close();
  await assert.rejects(tb.tap(1, 2), { code: 'unavailable', message: /^session `wallet` has ended, or its daemon has: .*\nhint: / });
});

test('what is not understood is an error', async () => {
  const server = await fakeServer((_, response) => refuse(response, 200, 'nonsense'));
  const folder = join(runtime, 'trailblaze');
  mkdirSync(folder, { mode: 0o700 });
  const write = (text: string) => writeFileSync(join(folder, 'x.daemon.json'), text, { mode: 0o600 });
  write(JSON.stringify({ pid: process.pid, address: server.address, key: 'k' }));
  await assert.rejects(tap(), { code: 'unavailable', message: /does not understand: nonsense/ });
  for (const text of ['', '[]', '{"address": 1, "key": "k"}']) {
    write(text);
    await assert.rejects(tap(), /is not the file of a daemon that this version understands/);
  }
  await server.close();
});
