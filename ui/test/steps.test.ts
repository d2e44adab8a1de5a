import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StudioStep } from '../src/api/messages.ts';
import { callOf, changed, joined, moved, removed, withAssertion } from '../src/studio/edits.ts';
import { readCalls, readFlow, writeCalls, writeFlow } from '../src/studio/flow.ts';

const step = (text: string, kind = 'step'): StudioStep => ({ kind, text, calls: [{ tap: { text } }], needsModel: false });
const texts = (steps: StudioStep[]) => steps.map((one) => one.text);

test('a step moves, and a trailhead stays first', () => {
  const steps = [step('start', 'trailhead'), step('a'), step('b'), step('c')];
  assert.deepEqual(texts(moved(steps, 3, 1)), ['start', 'c', 'a', 'b']);
  assert.deepEqual(texts(moved(steps, 1, 0)), ['start', 'a', 'b', 'c']);
  assert.deepEqual(texts(moved(steps, 0, 2)), ['start', 'a', 'b', 'c']);
  assert.deepEqual(texts(moved(steps, 1, 99)), ['start', 'b', 'c', 'a']);
});

test('an edit finds its step again, unless somebody else changed it', () => {
  const isMeant = (one: StudioStep) => one.text === 'b';
  assert.deepEqual(texts(changed([step('b'), step('c')], 1, isMeant, { text: 'B' })!), ['B', 'c']);
  assert.equal(changed([step('a'), step('c')], 1, isMeant, { text: 'B' }), undefined);
  assert.equal(changed([step('b'), step('b'), step('c')], 2, isMeant, { text: 'B' }), undefined);
});

test('joined steps keep all calls', () => {
  const [one] = joined([step('a'), step('b')], 1);
  assert.equal(one?.text, 'a, then b');
  assert.equal(one?.calls.length, 2);
  assert.deepEqual(texts(joined([step('a')], 0)), ['a']);
});

test('steps are removed and assertions added', () => {
  assert.deepEqual(texts(removed([step('a'), step('b')], 0)), ['b']);
  assert.equal(withAssertion([], 'Pay is shown', { assertVisible: { text: 'Pay' } })[0]?.kind, 'verify');
  assert.deepEqual(callOf({ tap: { text: 'Pay' } }), { tool: 'tap', args: { text: 'Pay' } });
});

test('calls survive being written and read', () => {
  const calls = [
    { tap: { text: 'Pay' } },
    { tap: { text: 'yes' } },
    { inputText: { text: '1234' } },
    { inputText: { text: 'a, "b": {c}' } },
    { swipe: { from: [1, 2.5], isFast: true, to: null } },
    { odd: { 'a key': 'línea\ntwo', deep: { er: [{ x: -1 }] } } },
    { back: {} },
  ];
  assert.deepEqual(readCalls(writeCalls(calls)), { value: calls });
  assert.equal(writeFlow({ text: 'Pay now', id: 'true', count: 3 }), '{text: Pay now, id: "true", count: 3}');
});

test('calls are read as people write them', () => {
  assert.deepEqual(readCalls("tap: {text: 'it''s', url: http://a.b/c?d=1}\n\n- back:\n- pressKey: {\n    keyCode: ENTER\n  }"), {
    value: [{ tap: { text: "it's", url: 'http://a.b/c?d=1' } }, { back: {} }, { pressKey: { keyCode: 'ENTER' } }],
  });
  assert.deepEqual(readFlow('{"a": [1, 2], "b": {"c": null}}'), { value: { a: [1, 2], b: { c: null } } });
  assert.deepEqual(readFlow("'{{pin}}'"), { value: '{{pin}}' });
});

test('what is wrong with a call is said, with its line', () => {
  assert.match(readCalls('- tap: {text: Pay').problem ?? '', /line 1: expected `,` or `}`/);
  assert.match(readCalls('- tap: {text: "Pay}').problem ?? '', /line 1: the text after " has no end/);
  assert.match(readCalls('- back:\ntap {text: Pay}').problem ?? '', /line 2: expected a call/);
  assert.match(readCalls('- tap: {a: 1} b').problem ?? '', /expected nothing more/);
});
