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

/** The daemon reads YAML; of that, this reads JSON. */
const readYaml = async (text: string) => {
  try {
    return { value: JSON.parse(text) as unknown, problem: '' };
  } catch (thrown) {
    return { value: null, problem: String(thrown) };
  }
};

test('fields become arguments, and empty ones are left out', async () => {
  const texts = { text: '12', count: '3', direction: '', isFast: 'true', points: '[1, 2]', ratio: '{{ratio}}' };
  const { args, problems } = await argumentsOf(fieldsOf(SCHEMA), texts, readYaml);
  assert.deepEqual([args, problems], [{ text: '12', count: 3, isFast: true, points: [1, 2], ratio: '{{ratio}}' }, {}]);
});

test('what a field cannot mean is said at the field', async () => {
  const { problems } = await argumentsOf(fieldsOf(SCHEMA), { count: '1.5', points: '[1', ratio: 'much' }, readYaml);
  assert.deepEqual(Object.keys(problems).sort(), ['count', 'points', 'ratio', 'text']);
  assert.equal(problems['text'], 'is required');
});
