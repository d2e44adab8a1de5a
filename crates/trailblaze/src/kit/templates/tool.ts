/** A tool that looks at the screen: it calls a command of Trailblaze, and remembers the result. */

import { tool } from '@trailblaze/scripting';
import { z } from 'zod';

tool(
  'NAME_OF_TOOL',
  {
    description: 'Count the elements that have a text, and remember the number as `count`.',
    input: { text: z.string().min(1).describe('The whole text of an element') },
  },
  async ({ text }, { getElementCount, memory }) => {
    const count = await getElementCount(text);
    memory.set('count', count);
    return `${count} on the screen`;
  },
);
