/** Tools that drive the wallet's screens through callbacks to Trailblaze. */

import { tool, type ToolClient } from '@trailblaze/scripting';
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
  async ({ to, amount }, { client, memory, progress }) => {
    await client.callTool('tap', { id: 'sendMoney' });
    await fill(client, 'recipient', to);
    await fill(client, 'amount', amount);
    await client.callTool('tap', { id: 'review' });
    await client.callTool('tap', { id: 'confirmSend' });
    progress('waiting for the receipt');
    await client.callTool('waitUntilVisible', { text: `Sent €${amount} to ${to}`, timeoutMs: 5000 });
    const { text: reference } = await client.callTool('getElementText', { id: 'reference' });
    await client.callTool('tap', { id: 'done' });
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
  async ({ euros }, { client, memory }) => {
    await client.callTool('assertVisible', { id: 'balance' });
    const { text } = await client.callTool('getElementText', { id: 'balance' });
    if (text !== `€${euros}`) {
      return assertionFailed(`the balance is ${text}, not €${euros}`);
    }
    memory.set('balance', euros);
    return `the balance is ${text}`;
  },
);

async function fill(client: ToolClient, id: string, text: string): Promise<void> {
  await client.callTool('tap', { id });
  await client.callTool('eraseText');
  await client.callTool('inputText', { text });
}
