/** Tools that drive the wallet's screens with the typed commands of Trailblaze. */

import { tool, type ToolContext } from '@trailblaze/scripting';
import { assertionFailed } from '@trailblaze/scripting/result';
import { z } from 'zod';

tool(
  'acme_sendMoney',
  {
    description: 'Send money, from the home screen. Remembers the number of the receipt as `reference`.',
    input: {
      to: z.string().describe('The recipient'),
      amount: z.string().regex(/^\d+\.\d\d$/, 'must look like 12.50').describe('The amount in euros, such as 12.50'),
    },
    toolset: 'acme',
  },
  async ({ to, amount }, ctx) => {
    const { tap, waitUntilVisible, getElementText, memory, progress } = ctx;
    await tap({ id: 'sendMoney' });
    await fill(ctx, 'recipient', to);
    await fill(ctx, 'amount', amount);
    await tap({ id: 'review' });
    await tap({ id: 'confirmSend' });
    progress('waiting for the receipt');
    await waitUntilVisible(`Sent €${amount} to ${to}`, 5000);
    const reference = await getElementText('reference');
    await tap({ id: 'done' });
    memory.set('reference', reference);
    return `sent €${amount} to ${to}, reference ${reference}`;
  },
);

tool(
  'acme_checkBalance',
  {
    description: 'Fail unless the home screen shows this balance.',
    input: { euros: z.string().describe('Such as 107.50') },
    toolset: 'acme',
  },
  async ({ euros }, { assertVisible, getElementText, memory }) => {
    await assertVisible({ id: 'balance' });
    const text = await getElementText('balance');
    if (text !== `€${euros}`) {
      return assertionFailed(`the balance is ${text}, not €${euros}`);
    }
    memory.set('balance', euros);
    return `the balance is ${text}`;
  },
);

async function fill({ tap, inputText, client }: ToolContext, id: string, text: string): Promise<void> {
  await tap({ id });
  // Any tool of the session can be called by its name.
  await client.callTool('eraseText');
  await inputText(text);
}
