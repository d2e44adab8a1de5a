import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Counts, Run } from '../src/generated/data.ts';
import { exitOf, headline } from '../src/report/verdict.ts';

const NONE: Counts = {
  total: 0,
  passed: 0,
  failed: 0,
  errored: 0,
  invalid: 0,
  skipped: 0,
  cancelled: 0,
  bug: 0,
  unfinished: 0,
  notRun: 0,
  flaky: 0,
  healed: 0,
  retried: 0,
};
const ended = (counts: Partial<Counts>) => ({ exit: 'environment', counts: { ...NONE, ...counts }, micros: 1e6 }) as Run;

test('a run that was stopped says so, even if no trail was in progress', () => {
  assert.deepEqual(exitOf(ended({ total: 2, cancelled: 1, passed: 1 }), false), ['cancelled', 'Stopped']);
  assert.deepEqual(exitOf(ended({ total: 2, notRun: 1, passed: 1 }), false), ['cancelled', 'Stopped']);
  assert.deepEqual(exitOf(ended({ total: 2, notRun: 1, errored: 1 }), false), ['errored', 'Environment failed']);
});

test('trails that were not started are counted', () => {
  assert.match(headline(ended({ total: 3, passed: 1, failed: 1, notRun: 1 }), false), /^1 of 3 trails passed, 1 failed, 1 not run in /);
});
