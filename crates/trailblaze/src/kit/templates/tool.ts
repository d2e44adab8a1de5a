/** A tool that looks at the screen: it calls other tools of Trailblaze, and remembers the result. */

import { tool } from '@trailblaze/scripting';
import { z } from 'zod';

tool(
  'NAME_OF_TOOL',
  {
    description: 'Count the elements that have a text, and remember the number as `count`.',
    input: { text: z.string().min(1).describe('The whole text of an element') },
  },
  async ({ text }, { client, memory }) => {
    const counted = await client.callTool('getElementCount', { text });
    memory.set('count', Number(counted.text));
    return `${counted.text} on the screen`;
  },
);
