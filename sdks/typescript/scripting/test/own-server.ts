/** A `Server` with one tool for each kind of answer. Tests start it as a process. */

import { registry, Server } from '@trailblaze/scripting';
import { error } from '@trailblaze/scripting/result';
import { z } from 'zod';

const server = new Server({ name: 'own', version: '2.0.0' });

server
  .tool('text', () => 'said')
  .tool('nothing', () => {})
  .tool('list', () => [1, 2])
  .tool('echo', (args) => args)
  .tool('refused', () => error('no'))
  .tool('unsendable', () => ({ big: 1n }))
  .tool('throws', async () => {
    throw new Error('it broke');
  })
  .tool('add', { description: 'Adds.', input: { a: z.number(), b: z.number() }, groups: ['math'] }, ({ a, b }) => ({ sum: a + b }))
  .tool('steps', async ({ label }: { label: string }, { tap, isVisible, screen, maestro, memory }) => {
    if (await isVisible('Cookies', { timeoutMs: 5 })) {
      await tap({ text: 'Accept' });
    }
    const { root, width } = await screen();
    memory.set('width', width);
    await maestro?.swipe('down');
    return { label, children: root.children.length };
  })
  .tool('checks', async (_args, ctx) => {
    await ctx.assertVisible('Dashboard');
  });

server.resource('trailblaze://registry', () =>
  registry({ tools: { add: { groups: ['math'] } } }, { groups: { math: { description: 'Sums' } } }),
);

await server.run();
