// A daemon with a made-up device, for work on the studio without a build of Trailblaze: `node ui/mock/server.mjs [REPORT.html]`.
// Its run is read from a report, or made up if none is named. Prints the address to open.
import { createServer } from 'node:http';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, extname, join, relative } from 'node:path';
import { writeReport } from './report.mjs';
import { shop } from './shop.mjs';

const pages = join(import.meta.dirname, '../../crates/trailblaze/src/api/pages');
const KEY = 'mock';
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const TYPES = {
  'studio.html': 'text/html; charset=utf-8',
  'studio.js': 'text/javascript; charset=utf-8',
  'studio.css': 'text/css; charset=utf-8',
};

const FILE_TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
};

// ---- State, and who follows it.

const state = {
  sessions: [],
  runs: [],
  reruns: [],
  revision: 1,
  steps: [],
  undo: [],
  redo: [],
  memory: { pin: '1234', amount: 12.5 },
  working: '',
  savedAs: '',
  log: [],
  proposals: [],
  files: { 'trails/pay.trail.yaml': 'config:\n  id: pay\n\ntrail:\n  - step: Pay\n    tools:\n      - tap: {text: Pay}\n' },
};
const device = shop(Number(process.env.ELEMENTS ?? 0));
const listeners = new Set();
const changed = (what) => {
  for (const listener of [...listeners]) if (listener.what === what) listener.send();
};
const note = (kind, title, level = 'ok', detail = '') => {
  state.log.push({ number: state.log.length + 1, kind, at: process.uptime(), level, title, detail });
  changed('session');
};
const reply = (more = {}) => ({ isDone: true, text: '', isStale: false, value: null, ...more });

const workspace = () => ({
  name: 'web-shop',
  folder: '/projects/web-shop',
  version: '0.9.0',
  device: '',
  problem: '',
  reruns: state.reruns,
  devices: [
    { id: 'web/chromium', platform: 'web', summary: 'Chromium', width: 1280, height: 800, sessions: state.sessions.map((one) => one.name) },
    { id: 'android/sim-1', platform: 'android', summary: 'Simulated phone', width: 390, height: 844, sessions: [] },
    { id: 'ios/sim-1', platform: 'ios', summary: 'Simulated phone', width: 390, height: 844, sessions: ['ada-terminal'] },
  ],
  sessions: state.sessions,
  trails: [
    ['trails/pay.trail.yaml', 'Pay for the basket', ['smoke', 'payments'], 'passed'],
    ['trails/basics/search.trail.yaml', 'Search for a product', ['smoke'], 'failed'],
    ['trails/basics/mouse.trail.yaml', 'Use the mouse', [], 'passed'],
    ['trails/account/sign-in.trail.yaml', 'Sign in and out', ['account'], ''],
    ['trails/account/forgot.trail.yaml', 'Forgotten password', ['account'], 'environment'],
  ].map(([path, title, tags, last], nth) => ({ path, title, tags, last, steps: 4 + nth })),
  runs: state.runs.map(({ report, ...run }) => run),
});
const steps = () => ({
  revision: state.revision,
  steps: state.steps,
  memory: state.memory,
  working: state.working,
  proposals: state.proposals,
  canUndo: state.undo.length > 0,
  canRedo: state.redo.length > 0,
  savedAs: state.savedAs,
  hasModel: true,
  lost: '',
});

const write = (call) => Object.entries(call).map(([tool, args]) => `${tool}: ${JSON.stringify(args)}`)[0];

function setSteps(next, isUndo = false) {
  if (!isUndo) [state.undo, state.redo] = [[...state.undo, state.steps], []];
  [state.steps, state.savedAs] = [next.map((step) => ({ ...step, written: step.calls.map(write) })), ''];
  state.revision += 1;
  changed('session');
}

const describe = (element) =>
  [
    element.id && { text: `id "${element.id}"`, arguments: { id: element.id }, matches: 1 },
    element.name && {
      text: `text "${element.name}"`,
      arguments: { text: element.name },
      matches: device.elements.filter((other) => other.name === element.name).length,
    },
    { text: `${element.role} number ${element.index}`, arguments: { role: element.role, index: element.index }, matches: 1 },
  ]
    .filter(Boolean)
    .map((one) => ({ ...one, written: JSON.stringify(one.arguments) }));
const assertions = (element) =>
  [
    { text: `${element.name || element.role} is visible`, call: { assertVisible: describe(element)[0].arguments } },
    element.value && { text: `${element.name} contains “${element.value}”`, call: { assertText: { text: element.value } } },
  ].filter(Boolean);

const WORDS = {
  tap: 'Tap',
  longPress: 'Long-press',
  doubleTap: 'Double-tap',
  swipe: 'Swipe on',
  scroll: 'Scroll',
  type: 'Type',
  pressKey: 'Press',
  fill: 'Fill',
  choose: 'Choose',
  back: 'Go back',
  home: 'Go home',
  hover: 'Hover over',
  assert: 'Check',
};
const sleep = (ms) => new Promise((go) => setTimeout(go, ms));

async function act({ generation, element, action, text, assertion, x, y, toX, toY }) {
  if (generation !== device.generation) return reply({ isDone: false, isStale: true, text: 'the screen changed' });
  await sleep(80);
  const target = device.elements[element];
  if (action === 'assert') {
    const chosen = assertions(target)[assertion ?? 0];
    setSteps([...state.steps, { kind: 'verify', text: chosen.text, calls: [chosen.call], needsModel: false }]);
  } else {
    device.act(action, target, text);
    changed('session');
    const args = target
      ? describe(target)[0].arguments
      : action === 'swipe'
        ? { from: [x, y], to: [toX, toY] }
        : text
          ? { text }
          : { x, y };
    setSteps([
      ...state.steps,
      {
        kind: 'step',
        text: `${WORDS[action]} ${target ? target.name || target.role : (text ?? '')}`.trim(),
        calls: [{ [action === 'type' ? 'inputText' : action]: text && !target ? { text } : args }],
        needsModel: false,
      },
    ]);
    state.proposals = [
      { text: `“${target?.name || 'Basket'}” is visible`, call: { assertVisible: { text: target?.name || 'Basket' } } },
      { text: 'The basket has 1 item', call: { assertVisible: { text: '1 item' } } },
    ];
    changed('session');
  }
  note('call', `${action} ${target?.name ?? text ?? ''}`, 'ok', JSON.stringify({ element, x, y, text }));
  return reply({ text: 'done' });
}

async function work(what, ms, finish) {
  state.working = what;
  changed('session');
  await sleep(ms);
  state.working = '';
  finish?.();
  changed('session');
  return reply();
}

const UNARY = {
  OpenSession({ device: id }) {
    const name = 'shop';
    if (!state.sessions.length)
      state.sessions.push({ name, device: id || 'web/chromium', platform: id.split('/')[0] || 'web', steps: 0, ageSeconds: 3, lost: '' });
    changed('workspace');
    return { session: state.sessions[0].name };
  },
  CloseSession() {
    state.sessions = [];
    changed('workspace');
    return reply();
  },
  Inspect({ generation, element }) {
    const target = device.elements[element];
    if (generation !== device.generation || !target) return { isStale: true, descriptions: [], properties: {}, assertions: [] };
    return {
      isStale: false,
      descriptions: describe(target),
      assertions: assertions(target),
      properties: { ...target, bounds: `${target.x}, ${target.y}` },
    };
  },
  TrySelector({ selector }) {
    if (selector.endsWith('{')) return { generation: device.generation, elements: [], problem: 'expected `}` at the end', understood: '' };
    return {
      generation: device.generation,
      problem: '',
      understood: `text contains "${selector}"`,
      elements: device.elements.filter((one) => one.name.toLowerCase().includes(selector.toLowerCase())).map((one) => one.index),
    };
  },
  Act: act,
  ListPalette: () => ({
    generation: 1,
    tools: [
      {
        name: 'shop_signIn',
        description: 'Sign in as a customer.\nUses the form of the shop.',
        group: 'shop',
        isCustom: true,
        schema: {
          type: 'object',
          required: ['user'],
          properties: {
            user: { type: 'string', description: 'Who signs in.' },
            isNew: { type: 'boolean', default: false },
            address: { type: 'object', description: 'Where to send it.' },
          },
        },
      },
      {
        name: 'tap',
        description: 'Tap an element.',
        group: 'touch',
        isCustom: false,
        schema: {
          type: 'object',
          properties: { text: { type: 'string' }, id: { type: 'string' }, index: { type: 'integer', default: 0 } },
        },
      },
      {
        name: 'scroll',
        description: 'Scroll the screen.',
        group: 'touch',
        isCustom: false,
        schema: {
          type: 'object',
          required: ['direction'],
          properties: { direction: { enum: ['UP', 'DOWN', 'LEFT', 'RIGHT'], description: 'Where to.' } },
        },
      },
      { name: 'back', description: 'Go back.', group: 'keys', isCustom: false, schema: { type: 'object', properties: {} } },
    ],
  }),
  async CallStudioTool({ tool, arguments: args, text }) {
    await sleep(200);
    if (tool === 'back') return reply({ isDone: false, text: '`back` failed: there is nothing to go back to' });
    setSteps([...state.steps, { kind: 'step', text: text || `Call ${tool}`, calls: [{ [tool]: args ?? {} }], needsModel: false }]);
    note('call', tool, 'ok', JSON.stringify(args));
    if (tool === 'openUrl') {
      device.app = args.url;
      device.generation += 1;
      changed('session');
    }
    return reply();
  },
  CarryOut: ({ text, isCheck }) =>
    work(text, 2500, () => {
      note('turn', `model: ${text}`, 'ok', 'I will tap Pay.');
      setSteps([...state.steps, { kind: isCheck ? 'verify' : 'step', text, calls: [{ tap: { text: 'Pay' } }], needsModel: false }]);
    }),
  EditSteps({ revision, steps: next }) {
    if (revision !== state.revision) return reply({ isDone: false, isStale: true, text: 'the steps changed' });
    setSteps(next);
    return reply();
  },
  /** Reads what this daemon writes: JSON, and calls as `- tool: JSON`. */
  ReadYaml({ text, isCalls }) {
    const call = (line) => {
      const [, tool, args] = /^- (\w+): (.*)$/.exec(line) ?? [];
      return { [tool]: JSON.parse(args) };
    };
    try {
      return { value: isCalls ? text.split('\n').filter(Boolean).map(call) : JSON.parse(text), problem: '' };
    } catch (error) {
      return { value: null, problem: `line 1: ${error.message}` };
    }
  },
  UndoSteps({ redo }) {
    const [from, to] = redo ? [state.redo, state.undo] : [state.undo, state.redo];
    const old = from.pop();
    if (!old) return reply({ isDone: false, text: 'there is nothing to undo' });
    to.push(state.steps);
    setSteps(old, true);
    return reply();
  },
  ReplaySteps: ({ from }) => work(`replaying step ${from || 1} of ${state.steps.length}`, 1500),
  StopWork() {
    state.working = '';
    changed('session');
    return reply();
  },
  SaveTrail({ path, merge }) {
    if (!path.endsWith('.trail.yaml')) throw Object.assign(new Error(`\`${path}\` must end in .trail.yaml`), { code: 'invalid_argument' });
    if (state.files[path] && !merge) return { path, text: `${path} exists`, exists: true };
    state.files[path] = `trail: # ${state.steps.length} steps\n`;
    state.savedAs = path;
    changed('session');
    return { path, text: `wrote ${state.steps.length} steps to ${path}`, exists: false };
  },
  ReadTrail: ({ path }) => ({
    path,
    text: state.files[path] ?? `# ${path}\n`,
    digest: String((state.files[path] ?? '').length),
    problems: [],
    isRefused: false,
  }),
  WriteTrail({ path, text, digest }) {
    const now = UNARY.ReadTrail({ path });
    if (now.digest !== digest) return { ...now, isRefused: true };
    if (text.includes('bad')) return { ...now, text, problems: [`${path}:1:1: unknown key \`bad\``], isRefused: true };
    state.files[path] = text;
    return UNARY.ReadTrail({ path });
  },
  OpenInEditor: () => reply(),
  StartRun({ trails, rerunOf }) {
    if (!state.runs.length) return { run: '', problem: 'this mock was started without a report' };
    const run = {
      ...state.runs[0],
      id: `run-${state.runs.length + 1}`,
      startedAt: new Date().toISOString(),
      state: 'running',
      isStoppable: true,
      rerun: rerunOf ?? '',
      trails: trails ?? [],
    };
    state.runs.unshift(run);
    setTimeout(() => {
      run.state = 'failed';
      run.isStoppable = false;
      changed('workspace');
      changed('run');
    }, 6000);
    changed('workspace');
    return { run: run.id, problem: '' };
  },
  StopRun({ run }) {
    const found = state.runs.find((one) => one.id === run);
    found.state = 'failed';
    found.isStoppable = false;
    changed('workspace');
    changed('run');
    return reply();
  },
  RerunOnChange({ trails }) {
    state.reruns = trails ?? [];
    changed('workspace');
    return reply();
  },
  GetAttempt({ run, attempt }) {
    const { report } = state.runs.find((one) => one.id === run);
    return { attempt: withAddresses(stored(report, `attempt-${attempt}`)) };
  },
};

// ---- Runs, from a report.

const stored = (report, id) => JSON.parse(report.split(`id="${id}">`)[1].split('</script>')[0]);

/** What is embedded in the report, by its file. */
const files = new Map();

/** Files in the page become files next to it, as the daemon sends them. */
function withAddresses(value) {
  if (Array.isArray(value)) return value.map(withAddresses);
  if (typeof value !== 'object' || value === null) return value;
  if (typeof value.kept?.embedded === 'number') files.set(value.file, `picture-${value.kept.embedded}`);
  if (typeof value.tree?.embedded === 'number') files.set(value.treeFile, `tree-${value.tree.embedded}`);
  return typeof value.embedded === 'number'
    ? 'nextToPage'
    : Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withAddresses(inner)]));
}

function madeUpReport() {
  const folder = mkdtempSync(join(tmpdir(), 'trailblaze-mock-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit());
  return writeReport(folder);
}

const reportFile = process.argv[2] ?? madeUpReport();
{
  const report = readFileSync(reportFile, 'utf8');
  const index = stored(report, 'index');
  state.runs.push({
    id: index.run,
    startedAt: index.startedAt,
    state: index.exit,
    totals: `${index.counts.passed} passed, ${index.counts.failed} failed`,
    trails: index.attempts.map((one) => one.trail.path),
    failed: index.attempts.filter((one) => one.state === 'failed').map((one) => one.trail.path),
    isStoppable: false,
    rerun: '',
    report,
  });
}

/** A run that is still going shows its first attempts only. */
function runUpdate(id) {
  const run = state.runs.find((one) => one.id === id);
  if (!run) return { run: null, isOver: true, report: '', problem: `there is no run \`${id}\`` };
  const index = withAddresses(stored(run.report, 'index'));
  const isOver = run.state !== 'running';
  if (!isOver) {
    index.exit = null;
    index.attempts = index.attempts.slice(0, 1 + Math.floor((Date.now() - Date.parse(run.startedAt)) / 1000));
    [index.failures, index.retried] = [index.failures, index.retried].map((groups) =>
      groups.map((group) => group.filter((nth) => nth < index.attempts.length)).filter((group) => group.length),
    );
  }
  return { run: { ...index, run: id }, isOver, report: isOver ? '/studio/runs/mock/report.html' : '', problem: '' };
}

// ---- The wire.

const STREAMS = {
  WatchWorkspace: { what: 'workspace', get: workspace },
  WatchSession: { what: 'session', get: (_, seen) => ({ screen: device.update(seen), steps: steps(), log: logAfter(seen) }) },
  WatchRun: { what: 'run', get: ({ run }) => runUpdate(run), isOver: (update) => update.isOver },
};

function logAfter(seen) {
  const from = seen.log ?? 0;
  seen.log = state.log.length;
  return { isReset: from === 0, entries: state.log.slice(from) };
}

const framed = (message, flags = 0) => {
  const json = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(5);
  head[0] = flags;
  head.writeUInt32BE(json.length, 1);
  return Buffer.concat([head, json]);
};

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const { pathname } = new URL(request.url, 'http://localhost');
  if (pathname === '/studio/enter') {
    if (JSON.parse(body).key !== KEY) return response.writeHead(403).end('the key of this page is not valid');
    return response.writeHead(204, { 'set-cookie': 'studio=1; HttpOnly; SameSite=Strict; Path=/' }).end();
  }
  const file = pathname === '/studio/' ? 'studio.html' : pathname.replace('/studio/', '');
  if (TYPES[file])
    return response.writeHead(200, { 'content-type': TYPES[file], 'content-security-policy': POLICY }).end(readFileSync(join(pages, file)));
  if (pathname.startsWith('/studio/runs/')) {
    const file = decodeURIComponent(pathname.split('/').slice(5).join('/'));
    const path = join(dirname(reportFile), file);
    if (file && !relative(dirname(reportFile), path).startsWith('..') && existsSync(path)) {
      const type = FILE_TYPES[extname(file)] ?? 'text/plain; charset=utf-8';
      return response.writeHead(200, { 'content-type': type, 'x-content-type-options': 'nosniff' }).end(readFileSync(path));
    }
    const data = files.has(file) ? stored(state.runs[0].report, files.get(file)) : '';
    if (!data.startsWith('data:')) return response.writeHead(data ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8' }).end(data);
    return response.writeHead(200, { 'content-type': data.slice(5, data.indexOf(';')) }).end(Buffer.from(data.split(',')[1], 'base64'));
  }
  const method = pathname.split('/').pop();
  if (!request.headers.cookie?.includes('studio=1'))
    return response.writeHead(401, { 'content-type': 'application/json' }).end('{"code":"unauthenticated","message":"no cookie"}');
  if (UNARY[method]) {
    try {
      return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(await UNARY[method](JSON.parse(body))));
    } catch (error) {
      return response
        .writeHead(400, { 'content-type': 'application/json' })
        .end(JSON.stringify({ code: error.code ?? 'internal', message: error.message }));
    }
  }
  const stream = STREAMS[method];
  if (!stream) return response.writeHead(404).end('no such method');
  const asked = JSON.parse(body.subarray(5));
  response.writeHead(200, { 'content-type': 'application/connect+json' });
  if (asked.session && !state.sessions.some((one) => one.name === asked.session))
    return response.end(framed({ error: { code: 'not_found', message: `there is no session \`${asked.session}\`` } }, 2));
  const seen = {};
  const listener = {
    what: stream.what,
    send() {
      const update = stream.get(asked, seen);
      response.write(framed(update));
      if (stream.isOver?.(update)) {
        listeners.delete(listener);
        response.end(framed({}, 2));
      }
    },
  };
  listeners.add(listener);
  response.on('close', () => listeners.delete(listener));
  listener.send();
}).listen(Number(process.env.PORT ?? 8899), '127.0.0.1', function () {
  console.log(`http://127.0.0.1:${this.address().port}/studio/#key=${KEY}&workspace=mock`);
});
setInterval(() => changed('run'), 1000);
if (process.env.FAST)
  setInterval(() => {
    device.blink();
    changed('session');
  }, 16);
