/** Tools that use all that a context has. */

import { run, tool } from '@trailblaze/scripting';

tool('acts', { description: 'Uses the device.' }, async (_args, { tap, maestro, playwright, device, memory, client, isTrailblaze }) => {
  const groups = [maestro && 'phone', playwright && 'web'].filter(Boolean).join(' and ');
  await tap({ text: 'Pay' });
  const { text } = await client.callTool('eraseText');
  const user = memory.get('user');
  memory.set('total', 3);
  memory.delete('user');
  return `${groups} on ${device.id} ${device.widthPixels}, ${user}, ${text}, ${isTrailblaze}`;
});

tool('asks', { description: 'Asks for the session.' }, (_args, { session }) => session.id);

await run();
