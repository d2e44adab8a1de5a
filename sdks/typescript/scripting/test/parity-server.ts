/** A tool that answers the cases of tests/parity on its device. */

import { TrailblazeClient } from '@trailblaze/client';
import { Server } from '@trailblaze/scripting';

import { answerOf, casesOn } from '../../client/test/parity-cases.ts';

const server = new Server({ name: 'parity' });

server.tool('parity_answers', async (_args, ctx) => {
  const tb = TrailblazeClient.fromContext(ctx);
  const wrong: unknown[] = [];
  for (const one of casesOn(ctx.device.id)) {
    const answer = await answerOf(tb, one);
    if (JSON.stringify(sorted(answer)) !== JSON.stringify(sorted(one.answer))) {
      wrong.push({ name: one.name, answer, expected: one.answer });
    }
  }
  return JSON.stringify(wrong);
});

/** Two clients in one process: one that knows its call, and one that was created without an id. */
server.tool('parity_clients', async (_args, ctx) => {
  await ctx.launchApp('com.example.counter');
  await TrailblazeClient.fromContext(ctx).tap({ id: 'add' });
  await new TrailblazeClient('localhost:1').tap({ id: 'add' });
  await ctx.client.callTool('tap', { id: 'add' });
  const asked = await TrailblazeClient.fromContext(ctx)
    .askLlm('What is it?', true)
    .catch(({ code, message }: { code: string; message: string }) => `${code}: ${message}`);
  return `${await ctx.getElementText('count')} ${JSON.stringify(asked)}`;
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(sorted);
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, sorted(one)]);
  }
  return value;
}

await server.run();
