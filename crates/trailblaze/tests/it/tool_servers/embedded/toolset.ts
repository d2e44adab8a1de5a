// A toolset that uses all of @trailblaze/scripting, to be run as a process and in the engine.
import { tool, run } from '@trailblaze/scripting';
import { assertionFailed, delegates, fatalError, success, unsupported } from '@trailblaze/scripting/result';
import ms from 'ms';
import { z } from 'zod';

import words from './lib/words.json' with { type: 'json' };
import { shout } from './lib/shout.js';

let count = 0;
const about = (description: string) => ({ description });

tool('count', about('Counts its calls.'), () => `call ${++count}`);
tool('shout', { description: 'Shouts.', input: { text: z.string().min(2).max(9), times: z.coerce.number().int().default(2) } }, ({ text, times }) =>
  `${shout(text).repeat(times)} ${words.end}`,
);
tool(
  'byJsonSchema',
  { description: 'Has a JSON Schema.', input: { type: 'object', properties: { n: { type: 'integer', minimum: 3 } }, required: ['n'], additionalProperties: true } },
  ({ n }) => success(`n is ${n}`, { n, half: Number(n) / 2 }),
);
tool('keep', { ...about('Remembers.'), input: { key: z.string(), value: z.string() } }, ({ key, value }, { memory }) => {
  const before = memory.get(key);
  memory.set(key, { value, before });
  memory.delete('gone');
  return `${memory.keys().sort().join(' ')}; before: ${JSON.stringify(before)}`;
});
tool('where', about('Says where it runs.'), (_, { device, session, isTrailblaze, memory, signal }) =>
  success('', { device, isTrailblaze, hasIds: session.id !== '' && session.invocationId !== '', keys: memory.keys(), aborted: signal.aborted }),
);
tool('talk', about('Logs and reports progress.'), async (_, { log, progress }) => {
  log('info', 'an info');
  progress('half way');
  log('warning', 'a warning');
  await new Promise((resolve) => setTimeout(resolve, 5));
  log('error', 'at the end');
  return 'talked';
});
tool('callsOthers', about('Calls other tools.'), async (_, { client, captureScreen, isVisible }) => {
  const screen = await captureScreen();
  const { text } = await client.callTool('shout', { text: 'hey', times: 1 });
  const failed = await client.callTool('fails').catch((error: Error) => `${error.name}: ${error.message}`);
  const unknown = await client.callTool('noSuchTool').catch((error: Error) => `${error.name}: ${error.message}`);
  const wrong = await client.callTool('shout', { text: 5, more: 1 }).catch((error: Error) => `${error.name}: ${error.message}`);
  const [a, b] = await Promise.all([client.callTool('count'), client.callTool('wait', { timeToWaitInSeconds: 0.1 })]);
  return [typeof screen, text, failed, unknown, wrong, typeof a.text, b.text, await isVisible('nowhere')].join('\n');
});
tool('taps', about('Taps something that is not there.'), async (_, { tap }) => void (await tap({ text: 'nowhere', timeoutMs: 50 } as never)));
tool('asserts', about('Asserts something that is not so.'), (_, { assertVisible }) => assertVisible({ text: 'nowhere', timeoutMs: 50 }).then(() => 'fine'));
tool('types', about('Passes wrong parameters.'), (_, { tap }) => tap({ txt: 'x' } as never).then(() => 'fine'));
tool('fails', about('Throws.'), () => {
  throw new RangeError('out of range');
});
// On one line: only the engine knows where a text was thrown, and the other runtimes name the tool.
tool('failsOddly', about('Throws a text.'), () => { throw 'just text'; });
tool('refuses', { ...about('Returns failures.'), input: { how: z.enum(['assertion', 'fatal', 'unsupported', 'invalid']) } }, ({ how }) => {
  const results = { assertion: assertionFailed('not so'), fatal: fatalError('the end'), unsupported: unsupported('cannot'), invalid: { a: 1 } };
  return results[how] as never;
});
tool('delegating', { ...about('Delegates.'), isDelegating: true }, () => delegates([{ tool: 'count' }, { tool: 'wait', args: { timeToWaitInSeconds: 0.1 } }]));
tool('uses', about('Uses packages and the platform.'), () => {
  const url = new URL('/a?b=c', 'http://example.com');
  return [ms('2h'), url.searchParams.get('b'), new TextDecoder().decode(new TextEncoder().encode('ü')), atob('aGk='), typeof crypto.randomUUID()].join(' ');
});
tool('onHost', { ...about('Needs a host.'), requiresHost: true }, async () => (await import('node:path')).basename('/a/b'));

await run({ name: 'everything', version: '1.2.3' });
