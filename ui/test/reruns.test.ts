import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Workspace, WorkspaceRun } from '../src/generated/messages.ts';
import { rerunNews, rerunWords } from '../src/studio/reruns.ts';

const run = (id: string, state: string, rerun: string): WorkspaceRun => ({
  id,
  startedAt: '2026-03-01T10:00:00Z',
  state,
  totals: '1 failed',
  trails: [],
  failed: [],
  isStoppable: false,
  rerun,
});
const workspace = (...runs: WorkspaceRun[]) => ({ runs }) as unknown as Workspace;

test('reruns are announced when they begin and end', () => {
  const first = run('1', 'passed', '');
  const before = workspace(first);
  const during = workspace(run('2', 'running', 'change'), first);
  assert.deepEqual(rerunNews(null, during), []);
  assert.deepEqual(rerunNews(before, during), [{ text: 'A file changed: the trails run again.', isBad: false }]);
  assert.deepEqual(rerunNews(during, during), []);
  const after = workspace(run('2', 'failed', 'change'), first);
  assert.deepEqual(rerunNews(during, after), [{ text: 'Rerun ended: 1 failed', isBad: true }]);
  assert.deepEqual(rerunNews(during, after, '2'), []);
  assert.deepEqual(rerunNews(before, workspace(run('3', 'running', ''), first)), []);
});

test('a rerun says why it is one', () => {
  const first = run('1', 'passed', '');
  assert.equal(rerunWords(first, [first]), '');
  assert.equal(rerunWords(run('2', 'passed', 'change'), [first]), 'Rerun: a file changed');
  assert.match(rerunWords(run('2', 'passed', '1'), [first]), /^Rerun of .*2026/);
  assert.equal(rerunWords(run('2', 'passed', 'gone'), [first]), 'Rerun');
});
