/** Unit tests of tools as authors write them, and the contract of a context. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { tool, type Context } from '@trailblaze/scripting';
import { callTool, fakeContext, fakeForeignContext, fakeScreen } from '@trailblaze/scripting/testing';
import { z } from 'zod';

const pay = tool(
  'acme_pay',
  { description: 'Pays.', input: { amount: z.number().positive(), note: z.string().default('none') } },
  async ({ amount, note }, { client, memory, log, progress }) => {
    await client.callTool('inputText', { text: amount.toFixed(2), hideKeyboardAfter: note === 'none' });
    progress('typed');
    const { text } = await client.callTool('getElementText', { id: 'reference' });
    memory.set('reference', text);
    log('info', `paid ${amount}`);
    return `reference ${text}`;
  },
);

test('a tool is tested with fakes for the tools that it calls', async () => {
  const ctx = fakeContext({ tools: { inputText: () => {}, getElementText: () => 'TB-1' } });
  const called = await callTool(pay, { amount: 12.5 }, ctx);
  assert.equal(called.text, 'reference TB-1');
  assert.equal(called.isError, false);
  assert.deepEqual(called.memoryDelta, { reference: 'TB-1' });
  assert.deepEqual(called.memoryDeletions, []);
  assert.deepEqual(called.calls, [
    { name: 'inputText', args: { text: '12.50', hideKeyboardAfter: true } },
    { name: 'getElementText', args: { id: 'reference' } },
  ]);
  assert.deepEqual(ctx.logs, [{ level: 'info', message: 'paid 12.5' }]);
  assert.deepEqual(ctx.progressed, ['typed']);
});

test('a failing fake is a failing tool, and nothing is remembered', async () => {
  const refuse = () => {
    throw new Error('no field has the focus');
  };
  const called = await callTool('acme_pay', { amount: 1 }, fakeContext({ tools: { inputText: refuse } }));
  assert.deepEqual([called.isError, called.text, called.memoryDelta], [true, 'no field has the focus', {}]);
  const without = await callTool('acme_pay', { amount: 1 });
  assert.equal(without.text, 'the test has no fake for `inputText`');
});

test('a fake refuses an argument that the built-in tool does not have, as Trailblaze does', async () => {
  const tools = { tap: () => {}, acme_pay: () => {} };
  const { client, calls } = fakeContext({ tools });
  await assert.rejects(client.callTool('tap', { txt: 'Pay' }), {
    name: 'TrailblazeCallbackError',
    message: /^`tap`: unknown argument `txt`; did you mean `text`\?$/,
  });
  await client.callTool('tap', { text: 'Pay', reasoning: 'it is due' });
  const missing = /^`inputText`: missing argument `text`; unknown argument `word`; expected one of: text, hideKeyboardAfter, reasoning$/;
  await assert.rejects(client.callTool('inputText', { word: 'a' }), { message: missing });
  await assert.rejects(client.callTool('web_click', { reff: 'y1' }), { message: /did you mean `ref`\?$/ });
  await client.callTool('acme_pay', { anything: 1 });
  assert.deepEqual(calls.map(({ name }) => name), ['tap', 'acme_pay']);
});

test('a fake refuses an argument of another type, as Trailblaze does', async () => {
  const tools = { tap: () => {}, swipe: () => {}, isVisible: () => true };
  const { client, calls, tap, maestro } = fakeContext({ tools });
  await assert.rejects(client.callTool('tap', { x: 'a', y: true }), {
    name: 'TrailblazeCallbackError',
    message: '`tap`: `x`: "a" is not of type "integer"; `y`: true is not of type "integer"',
  });
  await assert.rejects(tap({ text: 5 as never }), { message: '`tap`: `text`: 5 is not of type "string"' });
  const words = '"UP", "DOWN", "LEFT", "RIGHT"';
  await assert.rejects(client.callTool('swipe', { direction: 'back' }), { message: `\`swipe\`: \`direction\`: "back" is not one of ${words}` });
  await maestro?.swipe('down');
  await client.callTool('tap', { x: 1, y: 2.0, text: null });
  assert.deepEqual(calls.map(({ name }) => name), ['swipe', 'tap']);
});

test('a result that Trailblaze refuses is refused', async () => {
  const refused = async (name: string, returned: Record<string, unknown>) =>
    (await callTool(tool(`acme_returns_${name}`, { description: '' }, () => ({ content: [], ...returned }) as never))).text;
  const own = (fields: Record<string, unknown>) => ({ _meta: { trailblaze: fields } });
  const begin = 'its answer is malformed: ';
  const place = 'in `_meta.trailblaze`';
  assert.equal(await refused('near', own({ memory_delta: {} })), `${begin}unknown key \`memory_delta\` ${place}; did you mean \`memoryDelta\`?`);
  assert.equal(await refused('list', own({ memoryDelta: ['a'] })), `${begin}\`memoryDelta\` ${place} must be an object, got ["a"]`);
  assert.equal(await refused('texts', own({ memoryDeletions: 'a' })), `${begin}\`memoryDeletions\` ${place} must be a list of texts, got "a"`);
  assert.equal(await refused('outside', { memoryDelta: {} }), `${begin}\`memoryDelta\` has no effect there; put it into \`_meta.trailblaze\``);
  assert.equal(await refused('meta', { _meta: { trailblase: { memoryDelta: {} } } }), `${begin}unknown key \`trailblase\` in \`_meta\`; did you mean \`trailblaze\`?`);
  assert.equal(await refused('error', { is_error: true }), `${begin}unknown key \`is_error\`; did you mean \`isError\`?`);
  assert.equal(await refused('fine', { _meta: { trailblaze: { memoryDelta: { a: 1 } }, 'com.example/own': {} }, structuredContent: { total: 4 } }), '');
});

test('a result that JSON would change is refused', async () => {
  const refused = async (name: string, value: unknown) => {
    const returned = { content: [], structuredContent: { value } };
    return (await callTool(tool(`acme_gives_${name}`, { description: '' }, () => returned as never))).text;
  };
  const begin = (name: string) => `the result of \`acme_gives_${name}\` cannot be sent: `;
  const starts = async (name: string, value: unknown, expected: string) => {
    const said = await refused(name, value);
    assert.ok(said.startsWith(begin(name) + expected), said);
  };
  await starts('nan', [1, NaN], 'it has NaN at `structuredContent.value.1`');
  await starts('map', new Map(), 'it has a Map at `structuredContent.value`');
  for (const bytes of [Uint8Array.of(1), Buffer.of(1), Float32Array.of(1), new ArrayBuffer(1), new DataView(new ArrayBuffer(1))]) {
    const kind = bytes.constructor.name;
    await starts(kind, bytes, `it has bytes (${kind}) at \`structuredContent.value\`, which JSON does not have; use base64 text`);
  }
  await starts('bigint', 1n, 'it has a bigint at `structuredContent.value`');
  const circle: Record<string, unknown> = {};
  circle['again'] = circle;
  await starts('circle', circle, 'it contains itself at `structuredContent.value.again`');
  assert.equal(await refused('date', new Date(0)), '');
});

test('names that Trailblaze sets itself are not changed in memory', async () => {
  for (const name of ['target.appId', 'args.x']) {
    const sets = tool(`acme_sets_${name.slice(0, 4)}`, { description: '' }, (_, { memory }) => memory.set(name, 1));
    const { isError, text } = await callTool(sets, {}, fakeContext());
    const prefix = name.slice(0, name.indexOf('.') + 1);
    const told = `TypeError: \`${name}\` cannot be changed in memory: names that begin with \`${prefix}\` are set by Trailblaze`;
    assert.deepEqual([isError, text], [true, told]);
  }
});

test('a context is refused after its call', async () => {
  const ctx = fakeContext({ tools: { tap: () => {} } });
  const { tap, log, memory } = ctx;
  await callTool(tool('acme_short', { description: '' }, () => 'done'), {}, ctx);
  const late = (what: string) => ({ code: 'not_found', message: new RegExp(`^\`acme_short\` called \`${what}\` after it had ended`) });
  await assert.rejects(tap({ text: 'Pay' }), late('tap'));
  assert.throws(() => log('info', 'a'), late('log'));
  assert.throws(() => memory.set('a', 1), late('memory.set'));
  assert.deepEqual([ctx.calls.length, ctx.logs.length], [0, 3]);
});

const visit = tool(
  'acme_visit',
  { description: 'Uses typed commands.', input: { name: z.string() } },
  async ({ name }, { tap, inputText, isVisible, getElementCount, getElementText, screen, maestro, playwright, assertVisible }) => {
    if (await isVisible({ text: 'Skip', timeoutMs: 10 })) {
      await tap({ text: 'Skip' });
    }
    await inputText(name);
    await maestro?.swipe('down');
    await playwright?.click('#a');
    const { root, elements } = await screen();
    await assertVisible('Done');
    const roles = elements.map(({ role }) => role).join(' ');
    return `${await getElementCount('Row')} ${await getElementText('title')} ${root.role}: ${roles}`;
  },
);

test('typed commands use the same fakes', async () => {
  const ok = () => {};
  const tools = { tap: ok, inputText: ok, swipe: ok, assertVisible: ok, getElementText: () => '7' };
  const screen = { platform: 'android', width: 1, height: 1, root: { role: 'window', children: [{ role: 'list', children: [{ role: 'text' }] }, { role: 'button' }] } };
  const answers = { ...tools, isVisible: () => true, getElementCount: () => '3', captureScreen: () => screen };
  const called = await callTool(visit, { name: 'Ada' }, fakeContext({ tools: answers }));
  assert.equal(called.text, '3 7 window: window list text button');
  assert.deepEqual(called.calls.slice(0, 4), [
    { name: 'isVisible', args: { text: 'Skip', timeoutMs: 10 } },
    { name: 'tap', args: { text: 'Skip' } },
    { name: 'inputText', args: { text: 'Ada' } },
    { name: 'swipe', args: { direction: 'down' } },
  ]);
  const fails = () => {
    throw new Error('no Done');
  };
  const failed = await callTool(visit, { name: 'Ada' }, fakeContext({ tools: { ...answers, assertVisible: fails } }));
  assert.deepEqual([failed.text, failed.result._meta], ['no Done', { trailblaze: { variant: 'AssertionFailed' } }]);
  const without = await callTool(visit, { name: 'Ada' });
  assert.equal(without.text, 'the test has no fake for `isVisible`');
  const foreign = await callTool(visit, { name: 'Ada' }, fakeForeignContext());
  assert.match(foreign.text, /^this tool needs Trailblaze for `tap`, and another MCP client called it: no Trailblaze session is open\nhint: /);
});

test('arguments are checked as in a server', async () => {
  const missing = await callTool(pay, {});
  assert.deepEqual(missing.result._meta, { trailblaze: { variant: 'MissingRequiredArgs', missing: ['amount'] } });
  const wrong = await callTool(pay, { amount: -1 });
  assert.match(wrong.text, /^invalid arguments for `acme_pay`: .*at amount$/);
  assert.deepEqual(wrong.result._meta, { trailblaze: { variant: 'ExceptionThrown' } });
});

test('an undefined, duplicate or invalid name is refused', async () => {
  await assert.rejects(callTool('acme_fly'), /no tool `acme_fly` is defined; defined tools: .*`acme_pay`/);
  const at = String.raw`\S*testing\.test\.ts:\d+:\d+`;
  const twice = new RegExp(`^two tools are named \`acme_pay\` \\(${at} and ${at}\\); rename one$`);
  assert.throws(() => tool('acme_pay', { description: '' }, () => ''), { message: twice });
  assert.throws(() => tool('acme.pay', { description: '' }, () => ''), /`acme.pay` is not a valid tool name/);
  assert.throws(() => tool('', { description: '' }, () => ''), /is not a valid tool name/);
});

test('an input must be an object when it is defined', () => {
  const define = (input: never) => () => tool('acme_input', { description: '', input }, () => '');
  assert.throws(define(z.string() as never), /the input of `acme_input` must be an object/);
  assert.throws(define({ text: 'string' } as never), /the input of `acme_input` must be an object/);
  assert.throws(
    define({ type: 'object', properties: { a: { type: 'nonsense' } } } as never),
    /the JSON Schema of `acme_input` cannot be used/,
  );
});

test('memory shows the changes of the call, and sends only those', async () => {
  const memory = { kept: 1, list: ['a'], gone: true, back: 'old' };
  const remember = tool('acme_remember', { description: '' }, (_args, ctx) => {
    const { memory } = ctx;
    memory.get<string[]>('list')?.push('not remembered');
    const added = { deep: 1 };
    memory.set('added', added);
    added.deep = 2;
    memory.set('brief', 1);
    assert.equal(memory.delete('brief'), true);
    assert.equal(memory.delete('gone'), true);
    assert.equal(memory.delete('never'), false);
    memory.delete('back');
    assert.equal(memory.get('back'), undefined);
    memory.set('back', null);
    memory.set('__proto__', 'a name like any other');
    assert.deepEqual(memory.keys(), ['kept', 'list', 'back', 'added', '__proto__']);
    assert.deepEqual([memory.has('gone'), memory.has('kept'), memory.get('back')], [false, true, null]);
    assert.throws(() => memory.set('x', undefined), /`x` cannot be remembered: JSON has no undefined/);
    assert.throws(() => memory.set('x', { total: NaN }), /`x` cannot be remembered: it has NaN at `total`/);
    assert.throws(() => memory.set('x', { picture: Buffer.of(1) }), /`x` cannot be remembered: it has bytes \(Buffer\) at `picture`, .*use base64 text/);
  });
  const called = await callTool(remember, {}, fakeContext({ memory }));
  assert.equal(called.text, '');
  assert.equal(called.isError, false);
  assert.deepEqual(Object.entries(called.memoryDelta), [
    ['added', { deep: 1 }],
    ['back', null],
    ['__proto__', 'a name like any other'],
  ]);
  assert.deepEqual(called.memoryDeletions, ['gone']);
  assert.deepEqual(memory, { kept: 1, list: ['a'], gone: true, back: 'old' });
});

test('under another client, a tool can detect it, and errors name what is missing', async () => {
  const either = tool('acme_either', { description: '' }, (_args, ctx) => (ctx.isTrailblaze ? ctx.device.platform : 'alone'));
  assert.equal((await callTool(either, {}, fakeContext({ device: { platform: 'web' } }))).text, 'web');
  assert.equal((await callTool(either, {}, fakeForeignContext())).text, 'alone');
  for (const key of ['device', 'session', 'memory', 'client'] as const) {
    const needs = tool(`acme_needs_${key}`, { description: '' }, (_args, ctx) => void ctx[key]);
    const called = await callTool(needs, {}, fakeForeignContext());
    assert.equal(called.isError, true);
    assert.match(called.text, new RegExp(`^this tool needs Trailblaze for \`${key}\``));
  }
});

test('a cancelled call calls nothing more', async () => {
  const ctx = fakeContext({ tools: { inputText: () => {} }, signal: AbortSignal.abort(new Error('cancelled')) });
  const called = await callTool(pay, { amount: 1 }, ctx);
  assert.deepEqual([called.text, called.calls], ['cancelled', []]);
});

test('a query whose answer nothing waits for fails the call', async () => {
  const tools = { isVisible: () => false, tap: () => {}, captureScreen: () => fakeScreen('Paid') };
  const called = async (name: string, handler: (ctx: Context) => string | Promise<string>) =>
    callTool(tool(name, { description: '' }, (_args, ctx) => handler(ctx)), {}, fakeContext({ tools }));
  // `tsc` would refuse the promise as a condition.
  const forgotten = await called('acme_forgets', ({ isVisible }) => ((isVisible('Paid') as unknown) ? 'paid' : 'not paid'));
  assert.deepEqual(
    [forgotten.isError, forgotten.text],
    [true, 'the tool did not wait for the answer of `isVisible`\nhint: write `await` before the call'],
  );
  const early = await called('acme_forgets_early', async ({ isVisible, tap }) => {
    const seen: unknown = isVisible('Paid');
    await tap({ text: 'Pay' });
    return seen ? 'paid' : 'not paid';
  });
  assert.equal(early.isError, true);
  // `tsc` would refuse the fields of a promise.
  const field = await called('acme_forgets_field', ({ screen }) => `${(screen() as any).elements.length} elements`);
  assert.equal(field.isError, true);
  assert.match(field.text, /^TypeError: .*\nhint: write `await` before the call of `captureScreen`$/);
  const undefinedField = await called('acme_forgets_undefined', ({ screen }) => `${(screen() as any).elements}`);
  assert.deepEqual(
    [undefinedField.isError, undefinedField.text],
    [true, 'the tool did not wait for the answer of `captureScreen`\nhint: write `await` before the call'],
  );
  const text = await called('acme_forgets_text', ({ client }) => (client.callTool('tap', { text: 'Pay' }) as any).text.trim());
  assert.match(text.text, /^TypeError: .*\nhint: write `await` before the call of `tap`$/);
  const waits = await called('acme_waits', async ({ isVisible, tap }) => {
    void tap({ text: 'Pay' });
    const [first, second] = await Promise.all([isVisible('a'), isVisible('b')]);
    return `${first} ${second} ${await isVisible('c').then((seen) => !seen)}`;
  });
  assert.deepEqual([waits.isError, waits.text], [false, 'false false true']);
});

const list = tool('acme_list', { description: 'Lists the rows.' }, async ({}, { screen, tap }) => {
  const { root } = await screen();
  const [first, ...others] = root.children;
  if (first?.id === 'next') {
    await tap({ id: 'next' });
  }
  return others.map(({ text, bounds }) => `${text} at ${bounds?.top}`).join(', ');
});

test('a screen is built from texts and elements', async () => {
  const captureScreen = () => fakeScreen({ role: 'button', id: 'next' }, 'Milk', { text: 'Bread', children: ['2'] }, 'Salt');
  const called = await callTool(list, {}, fakeContext({ tools: { captureScreen, tap: () => {} } }));
  assert.equal(called.text, 'Milk at 100, Bread at 200, Salt at 400');
  assert.deepEqual(called.calls[1], { name: 'tap', args: { id: 'next' } });
});
