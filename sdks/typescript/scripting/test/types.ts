/** What the types accept and reject. Compiled, never run. */

import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { tool, type CallbackRequest, type TrailblazeTool, type TrailblazeToolMeta, type Variant } from '@trailblaze/scripting';
import { z } from 'zod';

export const meta: TrailblazeToolMeta = {
  'trailblaze/isForLlm': true,
  'trailblaze/supportedPlatforms': ['ANDROID'],
  'com.example/anything': { goes: true },
};

// @ts-expect-error a misspelt key
export const misspelt: TrailblazeToolMeta = { 'trailblaze/isForLLM': true };

// @ts-expect-error a value of the wrong type
export const mistyped: TrailblazeToolMeta = { 'trailblaze/requiresHost': 'yes' };

// @ts-expect-error a platform that does not exist
export const platform: TrailblazeToolMeta = { 'trailblaze/supportedPlatforms': ['android'] };

export const raw: TrailblazeTool = { name: 'a', inputSchema: { type: 'object' }, _meta: meta };
export const asMcp: Tool = raw;

export const rawMisspelt: TrailblazeTool = {
  name: 'a',
  inputSchema: { type: 'object' },
  // @ts-expect-error a misspelt key in a tool
  _meta: { 'trailblaze/toolSet': 'x' },
};

tool('shape', { description: '', input: { n: z.number(), s: z.string().optional() } }, ({ n, s }) => {
  const number: number = n;
  const string: string | undefined = s;
  // @ts-expect-error a string is not a number
  const wrong: number = s;
  return `${number}${string}${wrong}`;
});

tool('object', { description: '', input: z.strictObject({ type: z.enum(['a', 'b']) }) }, ({ type }) => {
  const either: 'a' | 'b' = type;
  return either;
});

// A field named `type` does not make it a JSON Schema.
tool('field', { description: '', input: { type: z.literal('object') } }, ({ type }) => {
  const literal: 'object' = type;
  return literal;
});

tool('converted', { description: '', input: { n: z.string().transform(Number) } }, ({ n }) => n.toFixed(2));

tool('json', { description: '', input: { type: 'object', properties: { n: { type: 'integer' } } } }, (args) => {
  const unknown: unknown = args['n'];
  return String(unknown);
});

tool('none', { description: '' }, async (args, ctx) => {
  // @ts-expect-error there are no arguments
  const wrong: string = args.name;
  const { text } = await ctx.client.callTool('tap', { id: wrong });
  return text;
});

tool('typed', { description: '' }, async (_args, { tap, screen, maestro }) => {
  await tap({ text: 'Pay' });
  await tap(1, 2);
  // @ts-expect-error no such parameter
  await tap({ txt: 'Pay' });
  await maestro?.swipe('down');
  const { root, elements } = await screen({ picture: true });
  // @ts-expect-error no such field of an element
  const wrong: unknown = elements[0]?.txt;
  return root.children[0]?.text ?? elements.find(({ id }) => id === wrong)?.text ?? '';
});

// @ts-expect-error a misspelt flag
tool('flag', { description: '', isForLLM: true }, () => 'x');

// @ts-expect-error no description
tool('silent', {}, () => 'x');

// @ts-expect-error an invalid result
tool('answer', { description: '' }, () => 5);

export const version: CallbackRequest['version'] = 1;
// @ts-expect-error the version is a literal
export const later: CallbackRequest['version'] = 2;

// @ts-expect-error an unknown variant
export const variant: Variant = 'Fatal';
