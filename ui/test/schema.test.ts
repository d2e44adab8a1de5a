import assert from 'node:assert/strict';
import { test } from 'node:test';
import { argumentsOf, fieldsOf } from '../src/studio/schema.ts';

const SCHEMA = {
  type: 'object',
  required: ['text'],
  properties: {
    count: { type: ['integer', 'null'], description: 'How many.', default: 1 },
    text: { type: 'string' },
    direction: { $ref: '#/$defs/Direction' },
    isFast: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
    points: { type: 'array', items: { type: 'number' } },
    ratio: { type: 'number' },
  },
  $defs: { Direction: { enum: ['UP', 'DOWN'] } },
};

test('a schema becomes fields, required ones first', () => {
  const fields = fieldsOf(SCHEMA);
  assert.deepEqual(
    fields.map(({ name, kind }) => `${name} ${kind}`),
    ['text text', 'count integer', 'direction choice', 'isFast boolean', 'points value', 'ratio number'],
  );
  assert.deepEqual(fields[2]?.choices, ['UP', 'DOWN']);
  assert.deepEqual([fields[0]?.isRequired, fields[1]?.help, fields[1]?.preset], [true, 'How many.', '1']);
  assert.deepEqual(fieldsOf({}), []);
});

test('fields become arguments, and empty ones are left out', () => {
  const { args, problems } = argumentsOf(fieldsOf(SCHEMA), {
    text: '12',
    count: '3',
    direction: '',
    isFast: 'true',
    points: '[1, 2]',
    ratio: '{{ratio}}',
  });
  assert.deepEqual([args, problems], [{ text: '12', count: 3, isFast: true, points: [1, 2], ratio: '{{ratio}}' }, {}]);
});

test('what a field cannot mean is said at the field', () => {
  const { problems } = argumentsOf(fieldsOf(SCHEMA), { count: '1.5', points: '[1', ratio: 'much' });
  assert.deepEqual(Object.keys(problems).sort(), ['count', 'points', 'ratio', 'text']);
  assert.equal(problems['text'], 'is required');
});
