/** A server with one tool for each behaviour that a client can observe. Tests start it as a process. */

import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { promisify } from 'node:util';

import { run, tool } from '@trailblaze/scripting';
import * as result from '@trailblaze/scripting/result';
import { z } from 'zod';

tool('greet', { description: 'Greets somebody.', input: { name: z.string() } }, ({ name }) => `hello ${name}`);

tool('strict', { description: 'Takes nothing else.', input: z.strictObject({ word: z.string() }) }, ({ word }) => word);

tool(
  'schema',
  {
    description: 'Is declared in JSON Schema.',
    input: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'], additionalProperties: false },
    annotations: { readOnlyHint: true },
  },
  (args) => result.success(JSON.stringify(args), { twice: Number(args['n']) * 2 }),
);

tool(
  'flagged',
  {
    description: 'Has every flag.',
    isForLlm: false,
    isRecordable: false,
    isDelegating: true,
    requiresHost: true,
    supportedDrivers: ['android-host'],
    supportedPlatforms: ['ANDROID', 'DESKTOP'],
    toolset: 'odd',
    groups: ['a', 'b'],
    requiresContext: true,
    _meta: { 'com.example/own': 1 },
  },
  () => result.delegates([{ tool: 'tap', args: { id: 'ok' } }, { tool: 'pressBack' }]),
);

tool('where', { description: 'Says where it runs.' }, (_args, { device, session, isTrailblaze }) =>
  JSON.stringify({ device, session, isTrailblaze }),
);

tool('count', { description: 'Counts in memory.' }, (_args, { memory }) => {
  memory.set('count', (memory.get<number>('count') ?? 0) + 1);
  memory.delete('old');
});

tool('press', { description: 'Calls back.', input: { id: z.string() } }, async ({ id }, { client }) => {
  const { text } = await client.callTool('tap', { id });
  return `trailblaze said: ${text}`;
});

tool('throws', { description: 'Throws.' }, () => {
  throw new Error('it broke');
});

tool('mistaken', { description: 'Has a mistake.' }, async (args) => {
  const { orders } = args as unknown as { orders: string[] };
  return `${orders.length}`;
});

tool('forgetsScreen', { description: 'Uses the screen without waiting for it.' }, (_args, { screen }) => {
  const seen: unknown = screen();
  return `${(seen as { elements: unknown[] }).elements.length}`;
});

tool('forgets', { description: 'Does not wait for a call.', input: { id: z.string() } }, ({ id }, { client }) => {
  void client.callTool('tap', { id });
  return 'done';
});

tool('rejects', { description: 'Leaves a promise rejected.' }, () => {
  void Promise.reject(new Error('a forgotten promise'));
  return 'done';
});

tool('throwsOutside', { description: 'Throws where nothing can catch it.', input: { how: z.string() } }, async ({ how }) => {
  const fail = () => {
    throw new Error(`thrown in ${how}`);
  };
  if (how === 'queueMicrotask') {
    queueMicrotask(fail);
  } else {
    new EventEmitter().once('event', () => setImmediate(fail)).emit('event');
    await new Promise((resolve) => setImmediate(resolve));
  }
  return 'done';
});

tool('throwsText', { description: 'Throws a text.' }, () => {
  throw 'the shop is closed';
});

tool('throwsObject', { description: 'Throws an object.' }, () => {
  throw { code: 5 };
});

tool('leaves', { description: 'Leaves timers running.', input: { id: z.string() } }, ({ id }, { client }) => {
  clearTimeout(setTimeout(() => {}, 60_000));
  setTimeout(() => {}, 60_000).unref();
  setTimeout(async () => {
    await client.callTool('tap', { id });
  }, 100);
  return 'timers are left';
});

tool('late', { description: 'Uses its context after it has ended.', input: { what: z.string() } }, ({ what }, ctx) => {
  const { tap, log, progress, memory, client } = ctx;
  const uses: Record<string, () => unknown> = {
    tap: () => void tap({ text: 'Pay' }),
    assertVisible: () => ctx.assertVisible('Pay').catch((refused: Error) => console.error(`the author caught: ${refused.message}`)),
    acme_pay: () => void client.callTool('acme_pay'),
    // Bun does not know the line of a call that a function returns.
    log: () => void log('info', 'too late'),
    progress: () => void progress('too late'),
    'memory.set': () => void memory.set('a', 1),
  };
  // It ends with its stdin.
  left = execFile('cat', () => uses[what]?.());
  return 'done';
});

let left: ChildProcess | undefined;

tool('release', { description: 'Ends the process that `late` left.' }, () => void left?.stdin?.end());

tool('asks', { description: 'Does not wait for a request.', input: { isCutOff: z.boolean() } }, async ({ isCutOff }) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  asked = fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  void asked.then((answer) => answer.text());
  [asking] = (await once(server, 'connection')) as [Socket];
  server.close();
  if (isCutOff) {
    await cutOff();
  }
  return 'done';
});

let asked: Promise<Response> | undefined;
let asking: Socket | undefined;

async function cutOff(): Promise<string> {
  asking?.destroy();
  return (await asked?.catch((failure: Error) => failure.name))?.toString() ?? '';
}

tool('cutOff', { description: 'Cuts off the request of `asks`.' }, cutOff);

tool('waitsForProcess', { description: 'Waits for a process, and leaves one that nothing listens to.' }, async () => {
  spawn('sleep', ['60'], { stdio: 'ignore' }).unref();
  await promisify(execFile)(process.execPath, ['--version']);
  return 'done';
});

tool('fails_later', { description: 'Throws in a timer.' }, async () => {
  setTimeout(() => {
    throw new Error('in the timer');
  }, 1);
  await new Promise((resolve) => setTimeout(resolve, 50));
  return 'done';
});

tool('catches', { description: 'Waits for a failing call in the end.' }, async (_args, { client }) => {
  const first = client.callTool('tap', { id: 'missing' });
  await client.callTool('tap', { id: 'ok' });
  await new Promise((resolve) => setImmediate(resolve));
  return first.then(
    () => 'no failure',
    (failure: Error) => `caught ${failure.message}`,
  );
});

tool('fatal', { description: 'Ends the trail.' }, () => result.fatalError('the device is gone'));

tool('strange', { description: 'Returns no result.' }, () => ({ ok: true }) as never);

tool('unsendable', { description: 'Returns what JSON cannot carry.' }, () => result.success('', { big: 1n }));

tool('noisy', { description: 'Prints.' }, async (_args, { log, progress }) => {
  console.log('noise of console.log');
  console.info('noise of %s', 'console.info');
  console.table([{ noise: 'console.table' }]);
  process.stdout.write('noise of stdout\n');
  log('warning', 'take care');
  progress('first');
  progress('second');
  await new Promise((resolve) => setTimeout(resolve, 0));
  return 'quiet';
});

tool('waits', { description: 'Waits until it is cancelled.' }, async (_args, { signal, progress }) => {
  progress('waiting');
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  console.error('waits: cancelled');
});

process.on('exit', () => console.error('fixture: ended'));

await run({ name: 'fixture', version: '1.2.3', instructions: 'For tests.' });
