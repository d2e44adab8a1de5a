import assert from 'node:assert/strict';
import { test } from 'node:test';

import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import * as result from '@trailblaze/scripting/result';

const text = (said: string) => [{ type: 'text', text: said }];

test('every result is an MCP result with a variant', () => {
  const expected: [unknown, unknown][] = [
    [result.success('done'), { content: text('done'), isError: false, _meta: { trailblaze: { variant: 'Success' } } }],
    [result.success(), { content: [], isError: false, _meta: { trailblaze: { variant: 'Success' } } }],
    [
      result.success('one', { n: 1 }),
      { content: text('one'), isError: false, structuredContent: { n: 1 }, _meta: { trailblaze: { variant: 'Success' } } },
    ],
    [result.error('no'), { content: text('no'), isError: true, _meta: { trailblaze: { variant: 'ExceptionThrown' } } }],
    [result.fatalError('x'), { content: text('x'), isError: true, _meta: { trailblaze: { variant: 'FatalError' } } }],
    [
      result.assertionFailed('is 4, not 5'),
      { content: text('is 4, not 5'), isError: true, _meta: { trailblaze: { variant: 'AssertionFailed' } } },
    ],
    [
      result.unsupported('no shell'),
      { content: text('no shell'), isError: true, _meta: { trailblaze: { variant: 'Unsupported' } } },
    ],
    [
      result.missingRequiredArgs(['email', 'pin']),
      {
        content: text('missing required arguments: `email`, `pin`'),
        isError: true,
        _meta: { trailblaze: { variant: 'MissingRequiredArgs', missing: ['email', 'pin'] } },
      },
    ],
  ];
  for (const [made, wanted] of expected) {
    assert.deepEqual(made, wanted);
    assert.deepEqual(CallToolResultSchema.parse(made), wanted);
  }
});

test('delegates are in the structured content', () => {
  const made = result.delegates([{ tool: 'tap', args: { id: 'a' } }, { tool: 'pressBack' }], 'a way back');
  assert.deepEqual(made.structuredContent, {
    _trailblaze_delegates: [
      { tool: 'tap', args: { id: 'a' } },
      { tool: 'pressBack', args: {} },
    ],
  });
  assert.deepEqual(made.content, text('a way back'));
  assert.equal(made.isError, false);
  assert.throws(() => result.delegates([{ tool: '' }]), /a delegate needs the name of a `tool`/);
});
