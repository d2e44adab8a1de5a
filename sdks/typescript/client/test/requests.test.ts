/** What each method sends, and what it returns. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { ActionFailed, AssertionFailed, TrailblazeClient, TrailblazeError } from '@trailblaze/client';

import {
  MAESTRO_COMMANDS,
  PLAYWRIGHT_COMMANDS,
  TRAILBLAZE_COMMANDS,
  TRAILBLAZE_MEMORY,
  TRAILBLAZE_SESSION,
} from '../src/generated.ts';
import { fakeServer, OK, type FakeServer } from './fake-server.ts';

const ELEMENT = { role: 'window', enabled: true, selected: false, focused: false, clipped: false, children: [] };
const SCREEN = { platform: 'android', width: 1080, height: 2400, root: ELEMENT };
const DEVICE = { id: 'android/sim-1', platform: 'android', driver: 'sim', width: 1080, height: 2400 };

const WINDOW = { id: '7', title: 'Bill', app: 'mousepad', bounds: { left: 0, top: 0, right: 9, bottom: 9 }, active: true };

const ANSWERS: Record<string, unknown> = {
  IsVisible: { value: true },
  HasText: { value: false },
  GetElementText: { value: 'Ada' },
  GetElementCount: { value: 3 },
  CaptureScreen: { ...SCREEN, picture: { mime: 'image/png', data: 'iVBORw==' } },
  AdbShell: { ...OK, output: 'ok\n', exitCode: 0 },
  EvaluateJs: { ...OK, value: { title: 'Acme' } },
  Windows: { windows: [WINDOW] },
  GetClipboard: { value: 'Ada' },
  DumpMemory: { value: { user: 'ada' } },
  GetSession: { sessionId: 's-1', device: DEVICE },
  ListTools: { tools: [] },
  CallTool: { ...OK, message: 'signed in', structured: { user: 'ada' } },
  ReloadTools: { added: ['a'], removed: [], changed: [], total: 4 },
  AskModel: { text: 'yes', model: 'm-1' },
  ListDevices: { number: 1, devices: [DEVICE] },
};

const PICTURE = new Uint8Array([0x89, 0x50, 0x4e, 0x47]);

/** A call, what it sends, and what it returns. */
const CASES: [call: (tb: TrailblazeClient) => Promise<unknown>, path: string, sent: object, returned: unknown][] = [
  [(tb) => tb.tap({ text: 'Pay' }), 'TrailblazeCommands/Tap', { text: 'Pay' }, OK],
  [(tb) => tb.tap(100, 200), 'TrailblazeCommands/Tap', { x: 100, y: 200 }, OK],
  [(tb) => tb.tap(100, 0, { longPress: true }), 'TrailblazeCommands/Tap', { x: 100, y: 0, longPress: true }, OK],
  [(tb) => tb.inputText('x'), 'TrailblazeCommands/InputText', { text: 'x' }, OK],
  [(tb) => tb.inputText(''), 'TrailblazeCommands/InputText', { text: '' }, OK],
  [
    (tb) => tb.inputText({ text: 'x', hideKeyboardAfter: false }),
    'TrailblazeCommands/InputText',
    { text: 'x', hideKeyboardAfter: false },
    OK,
  ],
  [(tb) => tb.launchApp('com.acme'), 'TrailblazeCommands/LaunchApp', { packageId: 'com.acme' }, OK],
  [(tb) => tb.launchApp(), 'TrailblazeCommands/LaunchApp', {}, OK],
  [(tb) => tb.launchApp({ launchMode: 'resume' }), 'TrailblazeCommands/LaunchApp', { launchMode: 'resume' }, OK],
  [(tb) => tb.clearAppData('com.acme'), 'TrailblazeCommands/ClearAppData', { packageId: 'com.acme' }, OK],
  [(tb) => tb.isVisible({ id: 'a' }), 'TrailblazeCommands/IsVisible', { id: 'a' }, true],
  [(tb) => tb.isVisible('A', { timeoutMs: 5 }), 'TrailblazeCommands/IsVisible', { text: 'A', timeoutMs: 5 }, true],
  [(tb) => tb.hasText('A'), 'TrailblazeCommands/HasText', { text: 'A' }, false],
  [(tb) => tb.getElementText('name'), 'TrailblazeCommands/GetElementText', { id: 'name' }, 'Ada'],
  [(tb) => tb.getElementCount({ id: 'row' }), 'TrailblazeCommands/GetElementCount', { id: 'row' }, 3],
  [
    (tb) => tb.captureScreen({ picture: true }),
    'TrailblazeCommands/CaptureScreen',
    { picture: true },
    { ...SCREEN, picture: { mime: 'image/png', data: PICTURE } },
  ],
  [(tb) => tb.assertVisible('A'), 'TrailblazeCommands/AssertVisible', { text: 'A' }, OK],
  [
    (tb) => tb.waitUntilVisible('Go Online', 10_000),
    'TrailblazeCommands/WaitUntilVisible',
    { text: 'Go Online', timeoutMs: 10_000 },
    OK,
  ],
  [
    (tb) => tb.waitUntilVisible({ text: 'Go', timeoutMs: 1 }),
    'TrailblazeCommands/WaitUntilVisible',
    { text: 'Go', timeoutMs: 1 },
    OK,
  ],
  [(tb) => tb.maestro!.adbShell('ls'), 'MaestroCommands/AdbShell', { command: 'ls' }, { ...OK, output: 'ok\n', exitCode: 0 }],
  [
    (tb) => tb.maestro!.grantPermission('com.acme', 'CAMERA'),
    'MaestroCommands/GrantPermission',
    { packageId: 'com.acme', permission: 'CAMERA' },
    OK,
  ],
  [(tb) => tb.maestro!.pressBack(), 'MaestroCommands/PressBack', {}, OK],
  [(tb) => tb.maestro!.pressHome({ deadlineMs: 5000 }), 'MaestroCommands/PressHome', {}, OK],
  [(tb) => tb.maestro!.swipe('down'), 'MaestroCommands/Swipe', { direction: 'down' }, OK],
  [(tb) => tb.maestro!.scroll('UP', { amount: 9 }), 'MaestroCommands/Scroll', { direction: 'UP', amount: 9 }, OK],
  [(tb) => tb.maestro!.pinch(0.5), 'MaestroCommands/Pinch', { scale: 0.5 }, OK],
  [(tb) => tb.playwright!.navigate('http://a'), 'PlaywrightCommands/Navigate', { url: 'http://a' }, OK],
  [(tb) => tb.playwright!.click('#a'), 'PlaywrightCommands/Click', { selector: '#a' }, OK],
  [(tb) => tb.playwright!.fill('#a', ''), 'PlaywrightCommands/Fill', { selector: '#a', value: '' }, OK],
  [
    (tb) => tb.playwright!.waitForSelector('#a', { timeoutMs: 1 }),
    'PlaywrightCommands/WaitForSelector',
    { selector: '#a', timeoutMs: 1 },
    OK,
  ],
  [(tb) => tb.playwright!.evaluateJs('1'), 'PlaywrightCommands/EvaluateJs', { script: '1' }, { title: 'Acme' }],
  [(tb) => tb.desktop!.windows(), 'DesktopCommands/Windows', {}, { windows: [WINDOW] }],
  [(tb) => tb.desktop!.activateWindow('7'), 'DesktopCommands/ActivateWindow', { id: '7' }, OK],
  [(tb) => tb.desktop!.menu(['File', 'Save']), 'DesktopCommands/Menu', { path: ['File', 'Save'] }, OK],
  [(tb) => tb.desktop!.pressKeys('Control+S'), 'DesktopCommands/PressKeys', { keys: 'Control+S' }, OK],
  [(tb) => tb.desktop!.getClipboard(), 'DesktopCommands/GetClipboard', {}, 'Ada'],
  [(tb) => tb.desktop!.setClipboard('Ada'), 'DesktopCommands/SetClipboard', { text: 'Ada' }, OK],
  [(tb) => tb.desktop!.close('7'), 'DesktopCommands/Close', { id: '7' }, OK],
  [(tb) => tb.remember('user', 'ada'), 'TrailblazeMemory/Remember', { variable: 'user', value: 'ada' }, OK],
  [(tb) => tb.forget('user'), 'TrailblazeMemory/Forget', { variable: 'user' }, OK],
  [(tb) => tb.dumpMemory(), 'TrailblazeMemory/DumpMemory', {}, { user: 'ada' }],
  [(tb) => tb.getSession(), 'TrailblazeSession/GetSession', {}, { sessionId: 's-1', device: DEVICE }],
  [(tb) => tb.listTools(), 'TrailblazeSession/ListTools', {}, { tools: [] }],
  [
    (tb) => tb.callTool('acme_signIn', { email: 'a@b' }),
    'TrailblazeSession/CallTool',
    { name: 'acme_signIn', args: { email: 'a@b' } },
    { ...OK, message: 'signed in', structured: { user: 'ada' } },
  ],
  [
    (tb) => tb.callTool('acme_signOut'),
    'TrailblazeSession/CallTool',
    { name: 'acme_signOut' },
    { ...OK, message: 'signed in', structured: { user: 'ada' } },
  ],
  [(tb) => tb.reloadTools(), 'TrailblazeSession/ReloadTools', {}, ANSWERS['ReloadTools']],
  [
    (tb) => tb.askModel('green?', false, { maxTokens: 5 }),
    'TrailblazeSession/AskModel',
    { prompt: 'green?', screen: false, maxTokens: 5 },
    { text: 'yes', model: 'm-1' },
  ],
  [
    async (tb) => tb.askLlm('green?', await tb.captureScreen()),
    'TrailblazeSession/AskModel',
    { prompt: 'green?', screen: true },
    { text: 'yes', model: 'm-1' },
  ],
  [
    (tb) => tb.askLlm('why?'),
    'TrailblazeSession/AskModel',
    { prompt: 'why?', screen: false },
    { text: 'yes', model: 'm-1' },
  ],
  [
    (tb) => tb.sampling.createMessage({ messages: [{ role: 'user', content: 'green?' }], includeScreenshot: true }),
    'TrailblazeSession/AskModel',
    { prompt: 'green?', screen: true },
    { content: 'yes', model: 'm-1' },
  ],
  [
    (tb) =>
      tb.sampling.createMessage({
        messages: [{ content: 'a?' }, { role: 'assistant', content: [{ type: 'text', text: 'b' }] }],
        systemPrompt: 'Be brief.',
      }),
    'TrailblazeSession/AskModel',
    { prompt: 'user: a?\n\nassistant: b', screen: false, system: 'Be brief.' },
    { content: 'yes', model: 'm-1' },
  ],
  [(tb) => tb.listDevices(), 'TrailblazeSession/ListDevices', {}, { number: 1, devices: [DEVICE] }],
];

describe('a client', () => {
  let server: FakeServer;
  before(async () => {
    server = await fakeServer(({ path }) => structuredClone(ANSWERS[path.split('/').at(-1) ?? ''] ?? OK));
  });
  after(() => server.close());

  test('sends what each method says, and returns its answer', async () => {
    const ids = { deviceId: 'android/sim-1', sessionId: 's-1', invocationId: 'c-1' };
    const tb = new TrailblazeClient(server.address, ids);
    for (const [call, path, sent, returned] of CASES) {
      const answered = await call(tb);
      const received = server.received.at(-1);
      assert.equal(received?.path, `/trailblaze.v1.${path}`);
      assert.deepEqual(received?.body, { ...sent, ...ids }, path);
      assert.equal(received?.headers['content-type'], 'application/json');
      assert.equal(received?.headers['connect-protocol-version'], '1');
      assert.equal(received?.headers['authorization'], undefined);
      assert.deepEqual(answered, returned, path);
    }
    const tested = new Set(CASES.map(([, path]) => path));
    const all = [TRAILBLAZE_COMMANDS, MAESTRO_COMMANDS, PLAYWRIGHT_COMMANDS, TRAILBLAZE_MEMORY, TRAILBLAZE_SESSION];
    const unary = all.flatMap((methods) => Object.values(methods)).filter(({ answer }) => answer !== 'stream');
    assert.deepEqual(
      unary.map(({ path }) => path).filter((path) => !tested.has(path.replace('trailblaze.v1.', ''))),
      [],
      'methods without a case',
    );
  });

  test('sends the key of a session, the deadline, and only the ids that it has', async () => {
    const tb = new TrailblazeClient(server.address.replace('http://', ''), { key: 'k-1', deviceId: '' });
    await tb.tap({ id: 'a' }, { deadlineMs: 1500.2 });
    const { headers, body } = server.received.at(-1)!;
    assert.equal(headers['authorization'], 'Bearer k-1');
    assert.equal(headers['connect-timeout-ms'], '1501');
    assert.deepEqual(body, { id: 'a' });
  });

  test('has a group only where the device has its commands', () => {
    const groups = (platform?: string) => {
      const tb = new TrailblazeClient(server.address, { invocationId: 'c', platform });
      return [tb.maestro, tb.playwright, tb.desktop].map((group) => group !== undefined);
    };
    assert.deepEqual(groups('android'), [true, false, false]);
    assert.deepEqual(groups('IOS'), [true, false, false]);
    assert.deepEqual(groups('web'), [false, true, false]);
    assert.deepEqual(groups('desktop'), [false, false, true]);
    assert.deepEqual(groups(), [true, true, true]);
  });

  test('refuses bad arguments before it sends anything', async () => {
    const tb = new TrailblazeClient(server.address, { invocationId: 'c' });
    const before = server.received.length;
    const loose = tb as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const wrong: [Promise<unknown>, RegExp][] = [
      [loose['tap']!({ txt: 'Pay' }), /`tap` has no parameter `txt`; its parameters are `ref`, `text`, /],
      [loose['tap']!(100), /`tap` needs `x`, `y` by position, or an object of parameters/],
      [loose['tap']!(1, 2, { x: 3 }), /`x` of `tap` is given twice/],
      [loose['tap']!(1, 2, 3), /the parameters of `tap` must be an object, got 3/],
      [loose['tap']!({}, {}, {}), /`tap` takes `ref`/],
      [loose['captureScreen']!(true), /the parameters of `captureScreen` must be an object, got true/],
      [loose['tap']!({ text: 'a' }, { timeoutMs: 5 }), /`tap` has no option `timeoutMs`; the options are/],
      [loose['tap']!({ text: 'a' }, { deadlineMs: -1 }), /`deadlineMs` must be a number of milliseconds above 0, got -1/],
      [tb.sampling.createMessage({ messages: [{ content: { type: 'image' } }] }), /the `content` of a message must be text/],
      [loose['callTool']!('a', circular), /the parameters cannot be sent as JSON/],
      [loose['callTool']!('a', { n: 1n }), /the parameters cannot be sent as JSON/],
    ];
    for (const [calling, message] of wrong) {
      await assert.rejects(calling, { name: 'TrailblazeError', code: 'invalid_argument', message });
    }
    assert.equal(server.received.length, before);
  });

  test('refuses an address that is not http', () => {
    for (const address of ['ftp://localhost', 'https://localhost:1', 'http://', 'http://user@localhost', 'local host']) {
      assert.throws(() => new TrailblazeClient(address), { name: 'TrailblazeError', code: 'invalid_argument' }, address);
    }
  });
});

test('an action or assertion that failed throws, with its message and variant', async () => {
  const server = await fakeServer(({ path }) => {
    const variant = path.endsWith('CallTool') ? 'AssertionFailed' : 'ExceptionThrown';
    return { success: false, message: path.endsWith('Swipe') ? '' : 'no such element', variant };
  });
  const tb = new TrailblazeClient(server.address, { invocationId: 'c' });
  const caught = async (calling: Promise<unknown>): Promise<unknown> => {
    try {
      return await calling;
    } catch (error) {
      return error;
    }
  };
  const action = await caught(tb.tap({ text: 'a' }));
  assert.ok(action instanceof ActionFailed && action instanceof TrailblazeError && action instanceof Error);
  assert.deepEqual([action.message, action.variant, action.code], ['no such element', 'ExceptionThrown', 'action_failed']);
  const assertion = await caught(tb.assertVisible('a'));
  assert.ok(assertion instanceof AssertionFailed && assertion instanceof TrailblazeError);
  assert.deepEqual([assertion.message, assertion.code], ['no such element', 'assertion_failed']);
  assert.ok((await caught(tb.waitUntilVisible('a', 1))) instanceof AssertionFailed);
  assert.ok((await caught(tb.playwright!.waitForSelector('a'))) instanceof AssertionFailed);
  assert.ok((await caught(tb.callTool('acme_check'))) instanceof AssertionFailed);
  assert.equal(((await caught(tb.maestro!.swipe('up'))) as Error).message, '`swipe` failed');
  await server.close();
});

test('an absent value is null, or the zero of its type', async () => {
  const server = await fakeServer(({ path }) => (path.endsWith('/EvaluateJs') ? { success: true } : {}));
  const tb = new TrailblazeClient(server.address, { invocationId: 'c' });
  assert.equal(await tb.getElementText('a'), null);
  assert.equal(await tb.isVisible('a'), false);
  assert.equal(await tb.getElementCount('a'), 0);
  assert.equal(await tb.playwright!.evaluateJs('undefined'), null);
  assert.deepEqual(await tb.dumpMemory(), {});
  await server.close();
});
