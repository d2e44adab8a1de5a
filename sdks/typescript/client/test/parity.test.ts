/** The cases of tests/parity against the real program, from outside of a tool. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { TrailblazeClient } from '@trailblaze/client';

import { answerOf, casesOn } from './parity-cases.ts';
import { skip, withProject, withServed } from './real-trailblaze.ts';

for (const device of ['android/sim-1', 'ios/sim-1', 'web/sim-1', 'desktop/sim-1']) {
  test(`a session with its key answers as every client does: ${device}`, { skip }, () =>
    withProject({}, (folder) =>
      withServed(folder, device, async ({ address, key }) => {
        const tb = new TrailblazeClient(address, { key });
        const cases = casesOn(device);
        assert.ok(cases.length > 0);
        for (const one of cases) {
          assert.deepEqual(await answerOf(tb, one), one.answer, one.name);
        }
      }),
    ),
  );
}

test('events, devices, deadlines and cancellation work with the real program', { skip }, () =>
  withProject({}, (folder) =>
    withServed(folder, 'android/sim-1', async ({ address, key, session, device }) => {
      const tb = new TrailblazeClient(address, { key });
      await tb.launchApp('com.example.counter');
      const info = await tb.getSession();
      assert.deepEqual([info.sessionId, info.device.id, info.device.platform], [session, device, 'android']);
      const { tools } = await tb.listTools();
      assert.deepEqual(tools.find(({ name }) => name === 'adbShell')?.metadata.platforms, ['android']);
      const numbers: number[] = [];
      for await (const event of tb.watchEvents({ after: 1 })) {
        numbers.push(event.number);
        assert.equal(Object.keys(JSON.parse(event.json) as object)[0], event.type);
        if (numbers.length === 1) {
          await tb.tap({ id: 'add' });
        }
        if (numbers.length === 3) {
          break;
        }
      }
      assert.deepEqual(numbers, [2, 3, 4]);
      const { value: list } = await tb.watchDevices().next();
      assert.deepEqual(list?.devices.map(({ id }: { id: string }) => id), [device]);
      const long = { text: 'Never', timeoutMs: 60_000 };
      await assert.rejects(tb.isVisible(long, { deadlineMs: 50 }), { code: 'deadline_exceeded' });
      await assert.rejects(tb.isVisible(long, { signal: AbortSignal.timeout(50) }), { name: 'TimeoutError' });
      const { picture } = await tb.captureScreen({ picture: true });
      assert.deepEqual([...(picture?.data.subarray(0, 4) ?? [])], [0x89, 0x50, 0x4e, 0x47]);
      await assert.rejects(new TrailblazeClient(address, { key: 'x' }).tap(1, 2), { code: 'unauthenticated' });
      await assert.rejects(new TrailblazeClient(address, { invocationId: 'c-x' }).tap(1, 2), {
        code: 'not_found',
        message: 'Unknown invocation ID: c-x. The tool call may have completed or timed out.',
      });
    }),
  ),
);
