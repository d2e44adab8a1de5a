import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attempt } from '../src/generated/data.ts';
import { EVERYTHING, filtered } from '../src/report/filters.ts';

const lanes = [{ name: 'web/chromium' }, { name: 'android/pixel-8' }];
const attempt = (id: string, more: object): Attempt =>
  ({
    id,
    name: id,
    lane: 0,
    state: 'failed',
    standing: 'counts',
    message: '',
    trail: { id, path: `trails/${id}.trail.yaml` },
    ...more,
  }) as Attempt;
const attempts = [
  attempt('pay', { trail: { id: 'pay', path: 'trails/pay.trail.yaml', tags: ['smoke', 'money'] }, message: 'no button `Pay`' }),
  attempt('search 1', { standing: 'retried', lane: 1 }),
  attempt('search 2', { state: 'passed', standing: 'flaky', lane: 1 }),
  attempt('sign in', { state: 'passed', standing: 'healed', trail: { id: 'in', path: 'trails/in.trail.yaml', tags: ['smoke'] } }),
];
const shown = (wanted: Partial<typeof EVERYTHING>) => filtered(attempts, lanes, { ...EVERYTHING, ...wanted }).map(({ id }) => id);

test('attempts are filtered by state, and those that were retried have one of their own', () => {
  assert.deepEqual(shown({}), ['pay', 'search 1', 'search 2', 'sign in']);
  assert.deepEqual(shown({ state: 'failed' }), ['pay']);
  assert.deepEqual(shown({ state: 'retried' }), ['search 1']);
  assert.deepEqual(shown({ state: 'flaky' }), ['search 2']);
  assert.deepEqual(shown({ state: 'healed' }), ['sign in']);
  assert.deepEqual(shown({ state: 'passed' }), ['search 2', 'sign in']);
});

test('attempts are filtered by device, tag and words, all at once', () => {
  assert.deepEqual(shown({ lane: '1' }), ['search 1', 'search 2']);
  assert.deepEqual(shown({ tag: 'smoke' }), ['pay', 'sign in']);
  assert.deepEqual(shown({ text: 'BUTTON pay' }), ['pay']);
  assert.deepEqual(shown({ text: 'pixel' }), ['search 1', 'search 2']);
  assert.deepEqual(shown({ tag: 'smoke', state: 'passed', text: 'sign' }), ['sign in']);
  assert.deepEqual(shown({ tag: 'smoke', lane: '1' }), []);
});
