import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attempt } from '../src/generated/data.ts';
import { compare, difference } from '../src/report/difference.ts';
import { alikeWords, byForm, formOf, softFailures } from '../src/report/forms.ts';

function attempt(id: string, more: Partial<Attempt> = {}): Attempt {
  return {
    id,
    name: id,
    trail: { id: 'pay', title: 'Pay', path: 'trails/pay.trail.yaml' },
    lane: 0,
    number: 1,
    state: 'failed',
    standing: 'counts',
    at: 0,
    micros: 1,
    message: '',
    nCalls: 0,
    ...more,
  };
}

test('what was retried is shown by what became of its trail', () => {
  const other = { id: 'search', title: 'Search', path: 'trails/search.trail.yaml' };
  const attempts = [
    attempt('a', { standing: 'retried' }),
    attempt('b', { standing: 'retried', trail: other }),
    attempt('c', { number: 2, state: 'passed', standing: 'healed' }),
    attempt('d', { number: 2, state: 'passed', standing: 'flaky', trail: other }),
    attempt('e', { standing: 'retried', lane: 1 }),
    attempt('f', { number: 2, lane: 1 }),
  ];
  const forms = attempts.map((one) => formOf(one, attempts)).map(({ form, passed }) => [form, passed?.id]);
  assert.deepEqual(forms.slice(0, 2), [
    ['healed', 'c'],
    ['flaky', 'd'],
  ]);
  assert.deepEqual(forms.slice(4), [
    ['retried', undefined],
    ['failure', undefined],
  ]);
  assert.deepEqual(byForm([[0, 1, 4]], attempts), { healed: [[0]], flaky: [[1]], retried: [[4]] });
});

test('attempts that are alike are counted as trails only if they are different trails', () => {
  const other = { id: 'search', title: 'Search', path: 'trails/search.trail.yaml' };
  const again = (number: number) => attempt(`again ${number}`, { number });
  assert.equal(alikeWords([again(1), again(2), again(3)]), '3 attempts of one trail failed alike');
  assert.equal(alikeWords([again(1), attempt('other', { trail: other })]), '2 trails failed alike');
  assert.equal(alikeWords([again(1), again(2), attempt('other', { trail: other })]), '3 attempts of 2 trails failed alike');
  const row = (nth: number) => attempt(`row ${nth}`, { trail: { ...other, row: nth } });
  assert.equal(alikeWords([row(1), row(2)]), '2 trails failed alike');
});

test('soft checks are listed one by one', () => {
  assert.equal(softFailures('no element with text `Pay`'), null);
  assert.equal(softFailures('2 checks failed: none of them matters'), null);
  assert.deepEqual(softFailures('2 checks failed:\n  the total is 12\n    saw 13\n  no element with text `Thanks`'), {
    own: null,
    checks: ['the total is 12\nsaw 13', 'no element with text `Thanks`'],
  });
  assert.deepEqual(softFailures('no button `Pay`\nsaw `Buy`\nalso failed:\n  the total is 12'), {
    own: 'no button `Pay`\nsaw `Buy`',
    checks: ['the total is 12'],
  });
  assert.equal(formOf(attempt('a', { message: '2 checks failed:\n  one\n  two' }), []).form, 'soft');
});

const marked = (parts: { text: string; isDifferent: boolean }[]) =>
  parts.map(({ text, isDifferent }) => (isDifferent ? `[${text}]` : text)).join('');

test('the part is marked in which two texts differ', () => {
  const [expected, saw] = difference('Total: 12.50 EUR', 'Total: 12.05 EUR')!;
  assert.deepEqual([marked(expected), marked(saw)], ['Total: 12.[50] EUR', 'Total: 12.[05] EUR']);
  assert.equal(difference('Thank you', 'Not found'), null);
  assert.equal(difference('same', 'same'), null);
  const [login, other] = difference('login', 'log-in')!;
  assert.deepEqual([marked(login), marked(other)], ['login', 'log[-]in']);
  const inserted = difference('Pay the bill', 'Pay the very large bill')!;
  assert.equal(marked(inserted[1]), 'Pay the [very large ]bill');
});

test('of several candidates the nearest comes first, with its difference marked', () => {
  const shown = (expected: string, saw: string) => {
    const found = compare(expected, saw);
    return [found.kind, marked(found.expected), ...found.saw.map(({ parts, isNearest }) => (isNearest ? '> ' : '') + marked(parts))];
  };
  assert.deepEqual(shown('text `Your cart is empty`', '`1 item, or more`, `Your basket is empty`, `Check out`'), [
    'nearest',
    'text `Your [cart] is empty`',
    '> Your [basket] is empty',
    '1 item, or more',
    'Check out',
  ]);
  assert.deepEqual(shown('text `Your cart is empty`', '`1 item`, `Fern`'), ['instead', 'text `Your cart is empty`', '1 item', 'Fern']);
  assert.deepEqual(
    shown('text "pay now"', 'nothing on the screen has the text "pay now"; the nearest are Button "Pay, now" [id=p], Link "Other"'),
    ['none', 'text "[pay] now"', '> Button "[Pay,] now" [id=p]', 'Link "Other"'],
  );
  assert.deepEqual(shown('text "Thanks"', 'nothing on the screen has the text "Thanks"'), [
    'none',
    'text "Thanks"',
    'nothing on the screen has the text "Thanks"',
  ]);
  assert.deepEqual(shown('id "total" with the text "12.50"', '"12.05"'), ['instead', 'id "total" with the text "12.[50]"', '"12.[05]"']);
});
