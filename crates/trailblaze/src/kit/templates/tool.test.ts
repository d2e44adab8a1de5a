/** Unit tests of the tool, without a device and without Trailblaze. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { callTool, fakeContext } from '@trailblaze/scripting/testing';

import './NAME_OF_TOOL.ts';

test('matching elements are counted and remembered', async () => {
  const ctx = fakeContext({ tools: { getElementCount: () => 3 } });
  const counted = await callTool('NAME_OF_TOOL', { text: 'Pay' }, ctx);
  assert.equal(counted.text, '3 on the screen');
  assert.deepEqual(counted.memoryDelta, { count: 3 });
  assert.deepEqual(counted.calls, [{ name: 'getElementCount', args: { text: 'Pay' } }]);
});

test('an empty text is refused before any call', async () => {
  const counted = await callTool('NAME_OF_TOOL', { text: '' }, fakeContext());
  assert.equal(counted.isError, true);
  assert.deepEqual(counted.calls, []);
});
