import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attempt, Call, Detail, Step } from '../src/generated/data.ts';
import { parseTrace, type TraceData } from '../src/report/trace/data.ts';
import { decodeDocuments, elementsOf, placed, type SnapshotElement } from '../src/report/trace/decode.ts';
import {
  activityOf,
  documentOf,
  entryAt,
  filmOf,
  frameAt,
  frameOf,
  harOf,
  modelOf,
  placeOf,
  resolvedArgs,
} from '../src/report/trace/model.ts';
import { isLeftOut, safeAttributes } from '../src/report/trace/safety.ts';
import { DocumentIndex, scalar } from '../src/report/trace/selectors.ts';
import { listed, traceControl } from '../src/report/trace/state.ts';

function call(id: string, at: number, micros: number | null, more: Partial<Call> = {}): Call {
  return {
    id,
    at,
    micros,
    depth: 0,
    place: null,
    tool: 'tap',
    args: [],
    origin: 'step',
    kind: 'action',
    isRecordable: true,
    isDelegating: false,
    source: 'built-in',
    touches: [],
    waits: [],
    notes: [],
    pictures: [],
    answer: null,
    judgedBy: null,
    ...more,
  };
}
function step(number: number, at: number, micros: number, calls: Call[], more: Partial<Step> = {}): Step {
  return { number, at, micros, calls, place: null, kind: 'step', text: `Step ${number}`, state: 'passed', pictures: [], ...more } as Step;
}
const attempt = { id: 'a1', at: 1000, micros: 9000 } as Attempt;
const detail = (steps: Step[], more: Partial<Detail> = {}): Detail => ({
  steps,
  loose: [],
  failingStep: null,
  activity: [],
  sources: [],
  trace: null,
  ...more,
});
const frames = (...at: number[]) => at.map((one) => ({ at: one, file: `${one}.jpg`, width: 10, height: 10 }));
const data = (more: Partial<TraceData>): TraceData => ({ frames: [], documents: [], exchanges: [], ...more });
const document = (at: number, of: string, moment: 'before' | 'after', node: unknown = ['html']) => ({
  at,
  call: of,
  moment,
  url: 'https://shop.example/',
  title: '',
  width: 100,
  height: 100,
  frames: [{ url: '', base: '', scroll: [0, 0] as [number, number], sheets: [], node }],
  root: 0,
});

test('a request is shown with the headers and bodies of the one that began nearest to it', () => {
  const url = 'https://shop.example/api';
  const entry = (startedDateTime: string, more: object = {}) => ({ startedDateTime, request: { method: 'GET', url, ...more } });
  const exchanges = [
    entry('2026-01-01T00:00:01Z'),
    entry('2026-01-01T00:00:05Z'),
    entry('2026-01-01T00:00:04Z', { method: 'POST' }),
    entry('2026-01-01T00:00:04Z', { url: `${url}/2` }),
  ];
  const model = modelOf(attempt, detail([]), data({ exchanges }), Date.parse('2026-01-01T00:00:00Z'));
  const said = { at: 4_100_000, exchange: { method: 'GET', url } } as Detail['activity'][number];
  assert.equal(harOf(model, said), exchanges[1]);
  assert.equal(harOf(model, { ...said, exchange: { ...said.exchange!, url: 'https://other.example/' } }), null);
});

test('a trace is read from its statement without evaluating it', () => {
  const text = 'trailblazeTrace("a1", {"frames": [{"at": 7, "file": "x(1).jpg"}, {"at": 3}], "documents": []});\n';
  assert.deepEqual(
    parseTrace(text).frames.map(({ at }) => at),
    [3, 7],
  );
  assert.throws(() => parseTrace('alert(1); trailblazeTrace("a1", {})'));
  assert.throws(() => parseTrace('nothing'), /not the trace/);
});

test('the picture at a time is the last one until then', () => {
  const all = frames(10, 20, 20, 40);
  assert.deepEqual(
    [0, 10, 19, 20, 39, 40, 1000].map((at) => frameAt(all, at)),
    [0, 0, 0, 2, 2, 3, 3],
  );
  assert.equal(frameAt([], 5), -1);
});

test('the film shows for each part of the attempt what was there in its middle', () => {
  const model = modelOf(attempt, detail([]), data({ frames: frames(1000, 6000) }));
  assert.deepEqual(
    filmOf(model, 3).map(({ frame }) => frame.at),
    [1000, 1000, 6000],
  );
  assert.deepEqual(filmOf(modelOf(attempt, detail([]), null), 3), []);
});

test('a call shows the picture that it touched, and the one that followed', () => {
  const touched = call('c1', 2000, 500, { touches: [{ at: 2400, point: null, bounds: null, what: '' }] });
  const model = modelOf(
    attempt,
    detail([step(1, 1900, 700, [touched]), step(2, 4000, 10, [])]),
    data({ frames: frames(1000, 2300, 2600) }),
  );
  const entry = model.entries.find((one) => one.call?.id === 'c1')!;
  assert.equal(frameOf(model, entry, 'before')!.at, 2300);
  assert.equal(frameOf(model, entry, 'after')!.at, 2600);
});

test('what was said belongs to the call after which it was said, until the next one', () => {
  const said = [1500, 2100, 2900, 3100].map((at) => ({ at, text: String(at) })) as Detail['activity'];
  const inner = call('inner', 2200, 100, { depth: 1 });
  const steps = [step(1, 1900, 1000, [call('one', 2000, 500), inner, call('two', 3000, 200)])];
  const model = modelOf(attempt, detail(steps, { activity: said }), null);
  const of = (key: string) =>
    activityOf(
      model,
      model.entries.find((entry) => entry.key === key)!,
    ).map(({ at }) => at);
  assert.deepEqual([of('call one'), of('call inner'), of('call two')], [[2100, 2900], [2900], [3100]]);
  assert.equal(activityOf(model, null).length, 4);
  assert.equal(entryAt(model, 2250)!.key, 'call inner');
  assert.equal(entryAt(model, 0)!.key, 'step 0');
});

test('a side of a call shows its own document, that before the next call, or the nearest one', () => {
  const steps = [step(1, 1900, 2000, [call('one', 2000, 500), call('two', 3000, 500), call('three', 4000, 500)])];
  const documents = [document(2990, 'two', 'before'), document(1990, 'one', 'before'), document(3600, 'two', 'after')];
  const model = modelOf(attempt, detail(steps), data({ documents }));
  const shown = (key: string, side: 'before' | 'after') => {
    const found = documentOf(
      model,
      model.entries.find((entry) => entry.key === key)!,
      side,
      0,
    )!;
    return [found.document.at, found.nth, found.taken];
  };
  assert.deepEqual(shown('call one', 'before'), [1990, 1, 'own']);
  assert.deepEqual(shown('call one', 'after'), [2990, 0, 'next']);
  assert.deepEqual(shown('call two', 'after'), [3600, 2, 'own']);
  assert.deepEqual(shown('call three', 'before'), [3600, 2, 'nearest']);
  assert.deepEqual(shown('call three', 'after'), [3600, 2, 'nearest']);
  assert.deepEqual(shown('step 0', 'after'), [3600, 2, 'own']);
});

test('repeated nodes are known by their numbers in later documents', () => {
  const documents = [
    document(1, 'c', 'before', ['html', ['=', 1, ['body', { class: 'x' }, ['=', 2, 'Hello'], ['p', ['#', 2]]]]]),
    document(2, 'c', 'after', ['html', { lang: 'en' }, ['#', 1], ['#', 99], 7]),
  ];
  const [first, second] = decodeDocuments(documents).map(([node]) => node as SnapshotElement);
  assert.equal(second!.children[0], first!.children[0]);
  assert.deepEqual(second!.attributes, { lang: 'en' });
  assert.equal(second!.children.length, 1);
  const body = first!.children[0] as SnapshotElement;
  assert.deepEqual([body.attributes, body.children[0]], [{ class: 'x' }, 'Hello']);
});

test('numbers are given in the order of reading, which begins with what is in a shadow root', () => {
  const node = ['html', { ':shadow': [['=', 1, ['b', 'shadow']]], ':scroll': [3, 4], ':checked': true, ':unknown': 1 }, ['#', 1]];
  const [[root]] = decodeDocuments([document(1, 'c', 'before', node)]) as [[SnapshotElement]];
  assert.equal(root.children[0], root.shadow![0]);
  assert.deepEqual([root.scroll, root.checked, root.attributes], [[3, 4], true, {}]);
});

test('documents of frames are placed within their elements, each once', () => {
  const whole = document(1, 'c', 'before', ['html', ['iframe', { ':frame': 1 }], ['iframe', { ':frame': 0 }]]);
  whole.frames.push({ ...whole.frames[0]!, node: ['html', ['button', 'Pay']] });
  const root = placed(decodeDocuments([whole])[0]!, 0)!;
  assert.deepEqual(
    [...elementsOf(root)].map(({ node, frame }) => `${node.tag} ${frame}`),
    ['html 0', 'iframe 0', 'html 1', 'button 1', 'iframe 0'],
  );
});

test('nothing of a document becomes part of the page that runs, opens or loads something', () => {
  for (const tag of ['script', 'SCRIPT', 'object', 'embed', 'base', 'link', 'style', 'noscript']) assert.ok(isLeftOut(tag, {}), tag);
  assert.ok(isLeftOut('meta', { 'HTTP-EQUIV': 'refresh' }));
  assert.ok(!isLeftOut('div', {}));
  const hostile = {
    onclick: 'x',
    OnLoad: 'x',
    style: 'color: red',
    src: 'https://evil.example/',
    srcset: 'a.png 1x',
    srcdoc: '<script>',
    formaction: 'javascript:x',
    'xlink:href': 'https://evil.example/#a',
    title: ' java\nscript:alert(1)',
    autofocus: '',
    'bad name': 'x',
    class: 'kept',
  };
  for (const tag of ['div', 'img', 'iframe', 'input', 'form', 'use'])
    assert.deepEqual(safeAttributes(tag, hostile), [['class', 'kept']], tag);
  assert.deepEqual(safeAttributes('a', { href: 'javascript:x' }), [['href', 'about:srcdoc#']]);
  assert.deepEqual(safeAttributes('use', { href: '#icon' }), [['href', '#icon']]);
  assert.deepEqual(safeAttributes('img', { src: 'data:image/png;base64,AA' }), [['src', 'data:image/png;base64,AA']]);
  assert.deepEqual(safeAttributes('img', { src: 'data:text/html,x' }), []);
  assert.deepEqual(safeAttributes('animate', { attributeName: 'href', to: 'javascript:x' }), []);
});

test('an element is found by role and name, text and ids, those first that find nothing else', () => {
  const node = [
    'html',
    [
      'body',
      ['label', { for: 'mail' }, 'E-mail'],
      ['input', { id: 'mail' }],
      ['button', { 'data-testid': 'pay' }, ['span', 'Pay'], ' now'],
      ['button', 'Remove'],
      ['button', { id: 'last', 'aria-label': 'Remove' }, '×'],
      ['p', 'It costs', ' 12'],
    ],
  ];
  const index = new DocumentIndex(placed(decodeDocuments([document(1, 'c', 'before', node)])[0]!, 0)!);
  const of = (is: (tag: string, attributes: Record<string, string>) => boolean) =>
    index.describe(index.elements.find((element) => is(element.node.tag, element.node.attributes))!);
  const lines = (found: ReturnType<typeof of>) => found.selectors.map(({ way, written, matches }) => `${way}: ${written} (${matches})`);
  assert.deepEqual(lines(of((_, { id }) => id === 'mail')), [
    'role and name: ref: textbox "E-mail" (1)',
    'id: id: mail (1)',
    'CSS: ref: css=body > input (1)',
    'text: text: E-mail (2)',
  ]);
  assert.deepEqual(lines(of((_, attributes) => attributes['data-testid'] === 'pay')).slice(0, 3), [
    'role and name: ref: button "Pay now" (1)',
    'text: text: Pay now (1)',
    'test id: id: pay (1)',
  ]);
  assert.deepEqual(lines(of((_, { id }) => id === 'last')), [
    "text: text: '×' (1)",
    'id: id: last (1)',
    'role and name: ref: button "Remove" (2)',
    'CSS: ref: css=body > button (3)',
  ]);
  assert.equal(of((tag) => tag === 'p').text, 'It costs 12');
});

test('a text is quoted in YAML if it would be read as something else', () => {
  for (const plain of ['Pay now', 'button "Pay"', '3 items', 'a/b.c']) assert.equal(scalar(plain), plain);
  for (const other of ['yes', '12', 'a: b', '#x', '- x', '', 'a, b', ' x', '[x]', '2024-01-02']) assert.equal(scalar(other), `'${other}'`);
  assert.equal(scalar("'it'"), "'''it'''");
});

test('templates are shown with what the attempt had remembered by then', () => {
  const remember = call('c1', 2000, 10, {
    answer: { outcome: { remembered: [['user', 'ada']], forgotten: [] } },
  } as unknown as Partial<Call>);
  const args: [string, string][] = [
    ['to', 'Dear {{memory.user}}'],
    ['password', '{{PASSWORD}}'],
    ['plain', 'x'],
  ];
  const use = call('c2', 3000, 10, { args });
  const model = modelOf(attempt, detail([step(1, 1900, 2000, [remember, use])]), null);
  assert.deepEqual(resolvedArgs(model, use), [
    { name: 'to', written: 'Dear {{memory.user}}', value: 'Dear ada' },
    { name: 'password', written: '{{PASSWORD}}', value: null },
  ]);
});

test('a call without a place is where the call or the step around it is written', () => {
  const place = (line: number) => ({ path: 'pay.trail.yaml', line });
  const calls = [call('c1', 2000, 10, { place: place(5) }), call('c2', 2001, 5, { depth: 1 }), call('c3', 2100, 5)];
  const model = modelOf(attempt, detail([step(1, 1900, 2000, calls, { place: place(3) })]), null);
  assert.deepEqual(
    model.entries.map((entry) => placeOf(model, entry)?.line),
    [3, 5, 5, 3],
  );
});

test('long attempts begin with their calls folded, except where they failed', () => {
  const wrong = { outcome: { variant: 'assertionFailed', text: '' } } as unknown as Call['answer'];
  const steps = Array.from({ length: 40 }, (_, nth) =>
    step(nth + 1, 1000 + nth * 100, 90, [call(`a${nth}`, 1001 + nth * 100, 5), call(`b${nth}`, 1050 + nth * 100, 5)]),
  );
  steps[7]!.calls[1]!.answer = wrong;
  const model = modelOf(attempt, detail(steps, { failingStep: 7 }), null);
  const control = traceControl(model, 7);
  assert.equal(control.state.value.chosen, 'call b7');
  assert.equal(listed(model, control.state.value).length, 42);
  control.chooseBy(1);
  assert.equal(control.state.value.chosen, 'step 8');
  control.fold(8);
  control.chooseBy(1);
  assert.equal(control.state.value.chosen, 'call a8');
  control.foldAll(true);
  assert.equal(listed(model, control.state.value).length, 40);
  control.chooseBy(1);
  assert.equal(control.state.value.chosen, 'step 9');
});

test('the scrubber chooses what went on at its time, and moves from picture to picture', () => {
  const steps = [step(1, 1500, 1000, [call('one', 2000, 500)]), step(2, 4000, 500, [])];
  const control = traceControl(modelOf(attempt, detail(steps), data({ frames: frames(1000, 2100, 4200) })), null);
  control.moveTo(2200);
  assert.deepEqual([control.state.value.chosen, control.state.value.isAtTime], ['call one', true]);
  control.moveBy(1);
  assert.deepEqual([control.state.value.at, control.state.value.chosen], [4200, 'step 1']);
  control.moveBy(-2);
  assert.equal(control.state.value.at, 1000);
  control.moveTo(1e9);
  assert.equal(control.state.value.at, 10_000);
  control.choose('call one');
  assert.equal(control.state.value.isAtTime, false);
});
