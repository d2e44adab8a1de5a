/** Calls of tools that `trailblaze types` knows. Compiled, never run. */

import { tool } from '@trailblaze/scripting';

tool('acme_checkout', { description: 'Pays.' }, async (_args, { client }) => {
  await client.callTool('tap');
  await client.callTool('tap', { text: 'Pay' }, { timeoutMs: 5 });
  // @ts-expect-error no such tool
  await client.callTool('tapp');
  // @ts-expect-error no such argument
  await client.callTool('tap', { txt: 'Pay' });
  // @ts-expect-error its arguments are missing
  await client.callTool('acme_pay');
  const { text } = await client.callTool('acme_pay', { amount: 5 });
  return text;
});
