import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StudioStep } from '../src/generated/messages.ts';
import { callsText, changed, joined, lineOf, moved, removed, withAssertion } from '../src/studio/edits.ts';

const step = (text: string, kind = 'step'): StudioStep => ({
  kind,
  text,
  calls: [{ tap: { text } }],
  needsModel: false,
  written: [`tap: {text: ${text}}`],
});
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
  assert.equal(callsText(one!), '- tap: {text: a}\n- tap: {text: b}');
  assert.deepEqual(texts(joined([step('a')], 0)), ['a']);
});

test('steps are removed and assertions added', () => {
  assert.deepEqual(texts(removed([step('a'), step('b')], 0)), ['b']);
  assert.equal(withAssertion([], 'Pay is shown', { assertVisible: { text: 'Pay' } })[0]?.kind, 'verify');
});

test('a call is shown with its tool, and with what the daemon wrote', () => {
  assert.deepEqual(lineOf(step('Pay'), 0), { tool: 'tap', rest: '{text: Pay}' });
  const named = { ...step('Get'), calls: [{ as: 'order', getOrder: {} }], written: ['getOrder: {}\nas: order'] };
  assert.deepEqual(lineOf(named, 0), { tool: 'getOrder', rest: '{}\nas: order' });
  assert.equal(callsText(named), '- getOrder: {}\n  as: order');
  assert.deepEqual(lineOf({ ...named, written: [] }, 0), { tool: 'getOrder', rest: '' });
});
