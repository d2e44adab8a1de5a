// A made-up run with failures of every form, and the trace of one attempt in a web shop.

import { HOSTILE, hostileTrace } from './hostile.mjs';

const SIZE = { width: 1280, height: 800 };
const T0 = 1_200_000;

/** The pages of the shop, each as a picture and as a document. */
const SCREENS = [
  { at: 0, page: 'shop', cart: 0 },
  { at: 900_000, page: 'shop', cart: 0, search: 'fern' },
  { at: 1_700_000, page: 'shop', cart: 1, search: 'fern' },
  { at: 2_600_000, page: 'cart', cart: 1 },
  { at: 3_300_000, page: 'cart', cart: 1, busy: true },
  { at: 4_400_000, page: 'cart', cart: 1, problem: 'Payment is not available right now' },
];
const PLANTS = [
  ['Monstera', '24.00'],
  ['Boston fern', '12.50'],
  ['Aloe', '9.00'],
];

const CSS = `
* { box-sizing: border-box; } body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: #1c2b22; background: #f4f7f4; }
header { display: flex; align-items: center; gap: 24px; padding: 14px 40px; background: #265c42; color: #fff; } header a { color: #fff; }
header h1 { font-size: 22px; margin: 0; flex: 1; } input { font: inherit; padding: 8px 12px; border: 1px solid #9bb3a5; border-radius: 6px; width: 260px; }
main { max-width: 980px; margin: 32px auto; } ul { list-style: none; padding: 0; display: grid; grid-template-columns: repeat(3, 1fr); gap: 20px; }
li { background: #fff; border-radius: 10px; padding: 18px; box-shadow: 0 1px 4px rgb(0 0 0 / .12); } li img { width: 100%; height: 150px; border-radius: 6px; }
button { font: inherit; padding: 9px 18px; border: 0; border-radius: 6px; background: #265c42; color: #fff; } button[disabled] { opacity: .5; }
.problem { background: #fdecec; border: 1px solid #c0232f; color: #8b1620; padding: 12px 16px; border-radius: 6px; } .total { font-size: 20px; font-weight: 600; }
`;

const BADGE = 'b { background: #ffd95e; color: #1c2b22; border-radius: 10px; padding: 1px 8px; }';

function documentOf({ page, cart, search = '', busy, problem }) {
  const header = [
    'header',
    ['h1', ['a', { href: '/' }, 'Green corner']],
    ['label', { for: 'q', hidden: '' }, 'Search'],
    ['input', { id: 'q', type: 'search', placeholder: 'Search plants', ':value': search }],
    [
      'a',
      { href: '/cart', 'data-testid': 'cart-link' },
      'Cart ',
      ['shop-badge', { ':shadow': [['b', String(cart)]], ':sheets': [{ text: BADGE }] }],
    ],
  ];
  const plants = PLANTS.filter(([name]) => name.toLowerCase().includes(search));
  const main =
    page === 'shop'
      ? ['main', ['h2', search ? `Results for “${search}”` : 'Plants'], ['ul', ...plants.map(plant)]]
      : [
          'main',
          ['h2', 'Your cart'],
          ...(problem ? [['p', { class: 'problem', role: 'alert' }, problem]] : []),
          ['ul', ['li', ['strong', 'Boston fern'], ['p', '12.50 EUR'], ['button', { 'aria-label': 'Remove Boston fern' }, '×']]],
          ['p', { class: 'total' }, 'Total: 12.50 EUR'],
          ['button', { id: 'pay', type: 'submit', onclick: 'pay()', ...(busy ? { disabled: '' } : {}) }, busy ? 'Paying…' : 'Pay now'],
          [
            'iframe',
            {
              title: 'Bank',
              style: 'border: 1px solid #9bb3a5; width: 420px; height: 120px; display: block; margin-top: 24px',
              ':frame': 1,
            },
          ],
        ];
  return ['html', { lang: 'en' }, ['body', header, main, ['script', 'alert(1)']]];
}

const plant = ([name, price]) => [
  'li',
  ['img', { src: `https://shop.example/pictures/${name}.jpg`, alt: name }],
  ['h3', name],
  ['p', { class: 'price' }, `${price} EUR`],
  ['button', { class: 'add', 'data-testid': `add-${name.toLowerCase().replace(' ', '-')}` }, 'Add to cart'],
];

const BANK = [
  'html',
  [
    'body',
    { style: 'font: 14px sans-serif; padding: 12px' },
    ['p', 'The bank asks for a code.'],
    ['input', { 'aria-label': 'Code', type: 'text' }],
  ],
];

/** A picture of the same page. */
function pictureOf({ page, cart, search = '', busy, problem }) {
  const plants = PLANTS.filter(([name]) => name.toLowerCase().includes(search));
  const text = (x, y, size, words, fill = '#1c2b22', weight = 400) =>
    `<text x="${x}" y="${y}" font-family="sans-serif" font-size="${size}" font-weight="${weight}" fill="${fill}">${words}</text>`;
  const box = (x, y, w, h, fill, stroke = 'none') =>
    `<rect x="${x}" y="${y}" width="${w}" height="${h}" rx="6" fill="${fill}" stroke="${stroke}"/>`;
  let body = box(0, 0, 1280, 68, '#265c42') + text(40, 42, 22, 'Green corner', '#fff', 700) + box(880, 13, 260, 42, '#fff', '#9bb3a5');
  body += text(894, 40, 16, search || 'Search plants', search ? '#1c2b22' : '#8a998f') + text(1166, 40, 16, `Cart  ${cart}`, '#fff');
  if (page === 'shop') {
    body += text(150, 132, 24, search ? `Results for “${search}”` : 'Plants', '#1c2b22', 700);
    plants.forEach(([name, price], nth) => {
      const x = 150 + nth * 333;
      body += box(x, 160, 313, 340, '#fff') + box(x + 18, 178, 277, 150, ['#cfe3d4', '#bcd8c4', '#dbe8cf'][nth]);
      body +=
        text(x + 18, 368, 19, name, '#1c2b22', 700) +
        text(x + 18, 404, 16, `${price} EUR`) +
        box(x + 18, 428, 130, 42, '#265c42') +
        text(x + 36, 455, 16, 'Add to cart', '#fff');
    });
  } else {
    body += text(150, 132, 24, 'Your cart', '#1c2b22', 700);
    if (problem) body += box(150, 152, 980, 50, '#fdecec', '#c0232f') + text(168, 183, 16, problem, '#8b1620');
    const y = problem ? 80 : 0;
    body +=
      box(150, 150 + y, 313, 140, '#fff') + text(168, 190 + y, 16, 'Boston fern', '#1c2b22', 700) + text(168, 224 + y, 16, '12.50 EUR');
    body +=
      text(150, 336 + y, 20, 'Total: 12.50 EUR', '#1c2b22', 700) +
      box(150, 360 + y, 106, 42, busy ? '#8fae9d' : '#265c42') +
      text(168, 387 + y, 16, busy ? 'Paying…' : 'Pay now', '#fff');
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="1280" height="800" viewBox="0 0 1280 800"><rect width="1280" height="800" fill="#f4f7f4"/>${body}</svg>`;
}

const YAML = `config:
  id: pay
  title: Pay for the basket
  tags: [smoke, payments]

trailhead:
  step: Open the shop
  tools:
    - launchApp: {url: "{{target.appId}}"}

trail:
  - step: Find the fern
    tools:
      - fill: {id: q, text: "{{memory.plant}}"}
      - waitForIdle: {}
  - step: Put it into the cart
    tools:
      - tap: {ref: button "Add to cart"}
      - tap: {id: cart-link}
  - step: Pay
    tools:
      - tap: {id: pay}
  - verify: The order is confirmed
    tools:
      - assertVisible: {text: Thank you for your order}
`;

const PATH = 'trails/pay.trail.yaml';
let n = 0;

function call(tool, at, micros, line, more = {}) {
  const { args = [], ...rest } = more;
  return {
    id: `c${(n += 1)}`,
    at: T0 + at,
    depth: 0,
    tool,
    args,
    origin: 'step',
    kind: tool.startsWith('assert') ? 'assertion' : 'action',
    isRecordable: true,
    isDelegating: false,
    source: 'built-in',
    micros,
    touches: [],
    waits: [],
    notes: [],
    pictures: [],
    judgedBy: null,
    place: line ? { path: PATH, line } : null,
    answer: success(),
    ...rest,
  };
}
const success = (text = '') => ({
  outcome: { variant: 'success', text, structured: null, attachments: [], delegates: [], remembered: [], forgotten: [] },
});
const step = (number, kind, text, at, micros, line, calls, more = {}) => ({
  number,
  at: T0 + at,
  place: { path: PATH, line },
  kind,
  isWithin: false,
  text,
  plan: 'authored',
  state: 'passed',
  isTolerated: false,
  choices: [],
  message: '',
  micros,
  calls,
  pictures: [],
  notes: [],
  turns: [],
  modelUse: null,
  ...more,
});
const touch = (at, what, left, top, right, bottom) => ({
  at: T0 + at,
  what,
  point: { x: Math.round((left + right) / 2), y: Math.round((top + bottom) / 2) },
  bounds: { left, top, right, bottom },
});
const request = (at, method, path, status, kind, micros, more = {}) => ({
  at: T0 + at,
  until: T0 + at + micros,
  kind: 'request',
  level: status >= 400 ? 'error' : 'info',
  isTrouble: status >= 400,
  text: `${method} https://shop.example${path} → ${status}`,
  exchange: { method, url: `https://shop.example${path}`, status, kind, micros, failure: null, ...more },
});
const said = (at, level, text, kind = 'console') => ({ at: T0 + at, until: null, kind, level, text, isTrouble: level === 'error' });

export function madeUp() {
  n = 0;
  const message = 'no element with text `Thank you for your order` within 2 s';
  const calls = {
    launch: call('launchApp', 100_000, 500_000, 9, {
      args: [['url', '{{target.appId}}']],
      waits: [{ what: 'the page to load', micros: 420_000, met: true, saw: '' }],
    }),
    remember: call('remember', 20_000, 2_000, 0, {
      args: [
        ['name', 'plant'],
        ['value', 'fern'],
      ],
      answer: { outcome: { ...success().outcome, remembered: [['plant', 'fern']] } },
    }),
    fill: call('fill', 750_000, 240_000, 14, {
      args: [
        ['id', 'q'],
        ['text', '{{memory.plant}}'],
      ],
      touches: [touch(800_000, 'searchbox `Search plants`', 880, 13, 1140, 55)],
    }),
    idle: call('waitForIdle', 1_000_000, 300_000, 15, {
      waits: [{ what: 'two frames without change', micros: 280_000, met: true, saw: '' }],
    }),
    add: call('tap', 1_500_000, 260_000, 18, {
      args: [['ref', 'button "Add to cart"']],
      touches: [touch(1_600_000, 'button `Add to cart`', 168, 428, 298, 470)],
    }),
    cart: call('tap', 2_200_000, 500_000, 19, {
      args: [['id', 'cart-link']],
      touches: [touch(2_400_000, 'link `Cart 1`', 1150, 16, 1240, 52)],
    }),
    pay: call('tap', 3_000_000, 240_000, 22, {
      args: [['id', 'pay']],
      touches: [touch(3_100_000, 'button `Pay now`', 150, 360, 256, 402)],
      notes: [{ level: 'info', text: 'the button is disabled after the touch' }],
    }),
    check: call('assertVisible', 3_300_000, 2_010_000, 25, {
      args: [['text', 'Thank you for your order']],
      waits: [
        {
          what: 'an element with text `Thank you for your order`',
          micros: 2_000_000,
          met: false,
          saw: '`Your cart`, `Payment is not available right now`, `Pay now`',
        },
      ],
      answer: {
        outcome: {
          ...success().outcome,
          variant: 'assertionFailed',
          text: message,
          attachments: [{ name: 'server log', mime: 'text/plain', file: 'attachments/server.log', kept: 'nextToPage' }],
        },
      },
    }),
  };
  const picture = (nth, moment) => ({
    moment,
    at: T0 + SCREENS[nth].at,
    file: `pictures/${nth}.svg`,
    screen: SIZE,
    kept: 'nextToPage',
    tree: null,
    treeFile: null,
  });
  calls.pay.pictures = [picture(3, 'before'), picture(4, 'after')];
  calls.check.pictures = [picture(5, 'failure')];
  const steps = [
    step(null, 'trailhead', 'Open the shop', 10_000, 620_000, 7, [calls.remember, calls.launch]),
    step(1, 'step', 'Find the fern', 700_000, 650_000, 12, [calls.fill, calls.idle]),
    step(2, 'step', 'Put it into the cart', 1_450_000, 1_300_000, 16, [calls.add, calls.cart]),
    step(3, 'step', 'Pay', 2_950_000, 310_000, 20, [calls.pay]),
    step(4, 'verify', 'The order is confirmed', 3_280_000, 2_040_000, 23, [calls.check], { state: 'failed', message }),
  ];
  const activity = [
    request(120_000, 'GET', '/', 200, 'document', 90_000),
    request(230_000, 'GET', '/assets/shop.css', 200, 'stylesheet', 20_000),
    request(240_000, 'GET', '/assets/shop.js', 200, 'script', 60_000),
    said(330_000, 'info', 'shop 4.2.0 started'),
    said(340_000, 'warning', 'The label of #q is hidden'),
    request(900_000, 'GET', '/api/plants?search=fern', 200, 'fetch', 130_000),
    request(1_650_000, 'POST', '/api/cart', 201, 'fetch', 80_000),
    request(2_450_000, 'GET', '/cart', 200, 'document', 110_000),
    request(3_150_000, 'POST', '/api/payments', 503, 'fetch', 1_150_000),
    said(4_310_000, 'error', 'payment failed: 503 {"reason":"no provider"}'),
    said(
      4_320_000,
      'error',
      "Uncaught TypeError: Cannot read properties of undefined (reading 'receipt')\n    at pay (shop.js:88:14)",
      'exception',
    ),
  ];
  const detail = {
    steps,
    loose: [],
    failingStep: 4,
    activity,
    sources: [{ path: PATH, file: 'traces/a1/pay.trail.yaml', kept: { embedded: 0 } }],
    trace: { file: 'traces/a1/trace.js', kept: 'nextToPage' },
  };
  const trouble = {
    step: 'The order is confirmed',
    stepNumber: 4,
    stepKind: 'verify',
    message,
    expected: 'text `Thank you for your order`',
    saw: '`Your cart`, `Payment is not available right now`, `Pay now`',
    picture: picture(5, 'failure'),
    justBefore: ['POST /api/payments → 503, 1.1 s before', 'console.error: payment failed: 503 {"reason":"no provider"}'],
    place: `${PATH}:25`,
    excerpt: { line: 23, text: YAML.split('\n').slice(22, 25).join('\n') },
    commands: [`trailblaze run ${PATH} -d web/chromium --show`, `trailblaze check ${PATH}`],
  };
  const other = (more) => ({
    ...trouble,
    picture: null,
    justBefore: [],
    place: null,
    excerpt: null,
    commands: [],
    expected: null,
    saw: null,
    ...more,
  });
  const trail = (id, title, tags) => ({ id, title, path: `trails/${id}.trail.yaml`, tags });
  const attempt = (id, ref, lane, number, state, standing, at, micros, more = {}) => ({
    id,
    name: ref.title,
    trail: ref,
    lane,
    number,
    state,
    standing,
    at: T0 + at,
    micros,
    message: '',
    nCalls: 3,
    ...more,
  });
  const pay = trail('pay', 'Pay for the basket', ['smoke', 'payments']);
  const search = trail('search', 'Search for a plant', ['smoke']);
  const signIn = trail('sign-in', 'Sign in and out', ['account']);
  const receipt = trail('receipt', 'The receipt is complete', ['payments']);
  const long = trail('long', 'All pages of the shop', ['nightly']);
  const repeated = trail('repeated', 'Load the list of orders', ['account']);
  const attempts = [
    attempt('a1', pay, 0, 1, 'failed', 'counts', 0, 5_400_000, { message, trouble, nCalls: 8 }),
    attempt('a2', search, 1, 1, 'failed', 'retried', 0, 1_500_000, {
      message: 'the keyboard did not come up',
      trouble: other({ step: 'Type `fern`', stepNumber: 2, stepKind: 'step', message: 'the keyboard did not come up' }),
    }),
    attempt('a3', search, 1, 2, 'passed', 'flaky', 1_600_000, 1_300_000),
    attempt('a4', signIn, 1, 1, 'failed', 'retried', 3_000_000, 900_000, {
      message: 'no element with id `login`',
      trouble: other({
        step: 'Open the form',
        stepNumber: 1,
        stepKind: 'step',
        message: 'no element with id `login`',
        expected: 'id `login`',
        saw: '`log-in`, `sign-up`',
      }),
    }),
    attempt('a5', signIn, 1, 2, 'passed', 'healed', 4_000_000, 1_000_000),
    attempt('a6', receipt, 0, 1, 'failed', 'counts', 5_500_000, 2_000_000, {
      message:
        '3 checks failed:\n  the text of id `total` is `12.05`, not `12.50`\n  no element with text `VAT`\n  no element with text `Thank you`',
      trouble: other({
        step: 'The receipt is complete',
        stepNumber: 3,
        stepKind: 'verify',
        message:
          '3 checks failed:\n  the text of id `total` is `12.05`, not `12.50`\n  no element with text `VAT`\n  no element with text `Thank you`',
        place: 'trails/receipt.trail.yaml:14',
        picture: picture(3, 'failure'),
      }),
    }),
    attempt('a7', long, 0, 1, 'passed', 'counts', 7_600_000, 42_000_000, { nCalls: 400 }),
    ...[1, 2, 3].map((repeat) =>
      attempt(`a${7 + repeat}`, repeated, 1, 1, 'failed', 'counts', 5_200_000 + repeat * 900_000, 800_000, {
        repeat,
        message: `no row ${repeat}`,
        trouble: other({ step: 'Wait for the list', stepNumber: 1, stepKind: 'step', message: `no row ${repeat}` }),
      }),
    ),
  ];
  const hostile = other({
    step: HOSTILE,
    stepNumber: 1,
    stepKind: 'step',
    message: HOSTILE,
    expected: HOSTILE,
    saw: `\`${HOSTILE}\`, \`${HOSTILE} 2\``,
    picture: picture(5, 'failure'),
    justBefore: [HOSTILE],
    place: HOSTILE,
    excerpt: { line: 99998, text: `${HOSTILE}\n${HOSTILE}` },
    commands: [HOSTILE, `${HOSTILE} again`],
  });
  attempts.push(
    attempt('a11', { ...trail('hostile', HOSTILE, [HOSTILE]), path: HOSTILE }, 1, 1, 'failed', 'counts', 9_000_000, 900_000, {
      message: HOSTILE,
      trouble: hostile,
    }),
  );
  const empty = { steps: [], loose: [], failingStep: null, activity: [], sources: [], trace: null };
  const healed = step(
    1,
    'step',
    'Open the form',
    3_000_000,
    800_000,
    7,
    [call('tap', 3_010_000, 600_000, 9, { args: [['id', 'login']] })],
    {
      state: 'failed',
      message: 'no element with id `login`',
      heals: [
        {
          result: 'healed',
          from: 'tap: {id: login}',
          message: '',
          suggestions: [
            { call: 'tap: {id: log-in}', element: 'button `Log in`', reason: 'the same name and place', score: 92, isByModel: false },
          ],
        },
      ],
    },
  );
  const hostileCall = call(HOSTILE, 9_010_000, 400_000, 0, {
    args: [[HOSTILE, HOSTILE]],
    place: { path: HOSTILE, line: 99_999 },
    waits: [{ what: HOSTILE, micros: 10, met: false, saw: HOSTILE }],
    notes: [{ level: 'error', text: HOSTILE }],
    touches: [touch(9_100_000, HOSTILE, -9e9, 9e9, 9e9, -9e9)],
  });
  const hostileDetail = {
    steps: [step(1, 'step', HOSTILE, 9_000_000, 800_000, 1, [hostileCall], { state: 'failed', message: HOSTILE })],
    loose: [call(HOSTILE, 9_800_000, null, 0, { answer: null })],
    failingStep: 0,
    activity: [said(9_100_000, 'error', HOSTILE), request(9_200_000, HOSTILE, `/${HOSTILE}`, 500, HOSTILE, 1000, { failure: HOSTILE })],
    sources: [
      { path: HOSTILE, file: HOSTILE, kept: { embedded: 0 } },
      { path: 'gone', file: 'gone', kept: { missing: 'is not in the run folder' } },
    ],
    trace: { file: 'traces/a11/trace.js', kept: 'nextToPage' },
  };
  const many = Array.from({ length: 200 }, (_, nth) =>
    step(
      nth + 1,
      nth % 5 === 4 ? 'verify' : 'step',
      `${nth % 5 === 4 ? 'Page is shown:' : 'Open page'} ${nth + 1} of the shop`,
      7_600_000 + nth * 210_000,
      200_000,
      nth + 3,
      [
        call('tap', 7_601_000 + nth * 210_000, 90_000, nth + 4, { args: [['id', `page-${nth}`]] }),
        call('assertVisible', 7_700_000 + nth * 210_000, 60_000, nth + 5, { args: [['text', `Page ${nth}`]] }),
      ],
      nth % 20 === 0 ? { heading: `Part ${nth / 20 + 1} of the shop`, isWithin: true } : { isWithin: true },
    ),
  );
  const details = attempts.map(({ id }) =>
    id === 'a1'
      ? detail
      : id === 'a4'
        ? { ...empty, steps: [healed], failingStep: 0 }
        : id === 'a7'
          ? { ...empty, steps: many }
          : id === 'a11'
            ? hostileDetail
            : empty,
  );
  const lane = (id, platform, driver, size, classifiers) => ({
    name: id,
    sessions: [{ device: { id, platform, driver, size, classifiers } }],
  });
  const index = {
    run: '2026-11-19-1012-heron',
    startedAt: '2026-11-19T10:12:00Z',
    version: '0.9.0',
    isNewer: false,
    command: 'trailblaze run trails',
    project: 'web-shop',
    seed: '18446744073709551557',
    trails: 6,
    exit: 'failed',
    code: 1,
    micros: 52_000_000,
    torn: 0,
    unknown: 0,
    stray: 0,
    counts: {
      total: 8,
      passed: 3,
      failed: 5,
      errored: 0,
      invalid: 0,
      skipped: 0,
      cancelled: 0,
      bug: 0,
      unfinished: 0,
      notRun: 0,
      flaky: 1,
      healed: 1,
      retried: 2,
    },
    modelUse: null,
    lanes: [
      lane('web/chromium', 'web', 'chromium', SIZE, ['web', 'web-desktop']),
      lane('android/pixel-8', 'android', 'adb', { width: 1080, height: 2400 }, ['android', 'android-phone']),
    ],
    servers: [],
    leakedProcesses: 0,
    notes: [],
    attempts,
    failures: [[0], [5], [7, 8, 9], [10]],
    retried: [[1], [3]],
  };
  return { index, details, trees: [YAML], files: files(calls) };
}

/** The files of the run folder. */
function files(calls) {
  const all = new Map();
  SCREENS.forEach((screen, nth) => {
    all.set(`pictures/${nth}.svg`, pictureOf(screen));
    all.set(`traces/a1/${nth}.svg`, pictureOf(screen));
  });
  all.set('attachments/server.log', 'POST /api/payments 503 no provider\n');
  all.set('traces/a1/pay.trail.yaml', YAML);
  all.set('traces/sheets/shop.css', CSS);
  const document = (nth, at, of, moment, mark) => {
    const screen = SCREENS[nth];
    const main = {
      url: `https://shop.example/${screen.page === 'cart' ? 'cart' : ''}`,
      base: 'https://shop.example/',
      scroll: [0, 0],
      sheets: ['traces/sheets/shop.css', { text: 'h3 { margin: 12px 0 4px; }' }],
      node: mark,
    };
    const bank = { url: 'https://bank.example/', base: 'https://bank.example/', scroll: [0, 0], sheets: [], node: BANK };
    return {
      at: T0 + at,
      call: of.id,
      moment,
      url: main.url,
      title: 'Green corner',
      ...SIZE,
      frames: screen.page === 'cart' ? [main, bank] : [main],
      root: 0,
    };
  };
  const numbered = SCREENS.map((screen, nth) => ['=', nth + 1, documentOf(screen)]);
  const documents = [
    document(0, 745_000, calls.fill, 'before', numbered[0]),
    document(1, 995_000, calls.fill, 'after', numbered[1]),
    document(1, 1_495_000, calls.add, 'before', ['#', 2]),
    document(2, 1_770_000, calls.add, 'after', numbered[2]),
    document(3, 2_710_000, calls.cart, 'after', numbered[3]),
    document(3, 2_990_000, calls.pay, 'before', ['#', 4]),
    document(4, 3_245_000, calls.pay, 'after', numbered[4]),
    document(5, 5_320_000, calls.check, 'after', numbered[5]),
  ];
  const frames = SCREENS.map(({ at }, nth) => ({ at: T0 + at, file: `traces/a1/${nth}.svg`, ...SIZE }));
  const exchanges = [
    {
      at: T0 + 3_150_000,
      time: 1150,
      timings: { send: 1, wait: 1140, receive: 9 },
      request: {
        method: 'POST',
        url: 'https://shop.example/api/payments',
        headers: [
          { name: 'content-type', value: 'application/json' },
          { name: 'cookie', value: '{{redacted}}' },
        ],
        postData: { mimeType: 'application/json', text: '{"amount":12.5,"card":"{{CARD}}"}' },
      },
      response: {
        status: 503,
        statusText: 'Service Unavailable',
        headers: [{ name: 'content-type', value: 'application/json' }],
        content: { mimeType: 'application/json', size: 24, text: '{"reason":"no provider"}' },
      },
    },
  ];
  all.set('traces/a1/trace.js', `trailblazeTrace("a1",${JSON.stringify({ frames, documents, exchanges })});\n`);
  all.set('traces/a11/trace.js', hostileTrace(frames, SIZE, T0 + 9_400_000));
  return all;
}
