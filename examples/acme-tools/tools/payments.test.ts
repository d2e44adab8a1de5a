/** Unit tests of the tools, without a device and without Trailblaze. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { callTool, fakeContext, type FakeTool } from '@trailblaze/scripting/testing';

import './payments.ts';

const ok: FakeTool = () => {};
const screen = { tap: ok, eraseText: ok, inputText: ok, waitUntilVisible: ok, assertVisible: ok };

test('sending money remembers the receipt', async () => {
  const ctx = fakeContext({ tools: { ...screen, getElementText: () => 'TB-4821' } });
  const sent = await callTool('acme_sendMoney', { to: 'Grace', amount: '12.50' }, ctx);
  assert.equal(sent.text, 'sent €12.50 to Grace, reference TB-4821');
  assert.deepEqual(sent.memoryDelta, { reference: 'TB-4821' });
  assert.deepEqual(
    sent.calls.filter(({ name }) => name === 'inputText').map(({ args }) => args['text']),
    ['Grace', '12.50'],
  );
});

test('an amount without cents is refused before anything is touched', async () => {
  const sent = await callTool('acme_sendMoney', { to: 'Grace', amount: '12' }, fakeContext());
  assert.equal(sent.text, 'invalid arguments for `acme_sendMoney`: must look like 12.50 at amount');
  assert.deepEqual(sent.calls, []);
});

test('another balance is a failed assertion', async () => {
  const ctx = fakeContext({ tools: { ...screen, getElementText: () => '€120.00' } });
  const checked = await callTool('acme_checkBalance', { euros: '107.50' }, ctx);
  assert.equal(checked.text, 'the balance is €120.00, not €107.50');
  assert.deepEqual(checked.result._meta, { trailblaze: { variant: 'AssertionFailed' } });
});
