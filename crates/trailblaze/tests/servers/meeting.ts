/** Our own package, served by its `run()`, with a tool in which several devices can meet. */

import { run, tool } from '@trailblaze/scripting';
import { success } from '@trailblaze/scripting/result';
import { z } from 'zod';

const present = new Set<string>();

tool(
  'sdk_meet',
  { description: 'Answers when so many devices are here at once.', input: { n: z.number() } },
  async ({ n }, { device, client, log }) => {
    present.add(device.id);
    while (present.size < n) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    log('info', `met on ${device.platform}`);
    const { text } = await client.callTool('hasText', { text: 'Nowhere' });
    const transport = process.argv.includes('--transport') ? 'http' : 'stdio';
    return success('met', { process: process.pid, transport, hasText: text });
  },
);

await run();
