/** Tools in real tool servers of the real program: the cases of tests/parity, and the listings of the design document. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { program, skip, withProject } from '../../client/test/real-trailblaze.ts';

type Ran = { code: number; stdout: string; stderr: string };

function trailblaze(folder: string, ...args: string[]): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(program, args, { cwd: folder, env: { ...process.env, TRAILBLAZE_FRESH: '1' }, timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
    );
  });
}

/** The entry of a server that this runtime runs. */
function entry(script: string): string {
  const file = fileURLToPath(new URL(script, import.meta.url));
  return `{command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(file)}]}`;
}

const PARITY = `sim: {apps: [counter.app.yaml]}
mcpServers:
  parity: ${entry('parity-server.ts')}
`;

const LISTINGS = `sim: {apps: [driver.app.yaml]}
mcpServers:
  login: ${entry('listings/login.ts')}
  point: ${entry('listings/point.ts')}
`;

// A field that is tapped by its hint has the focus.
const DRIVER = `
app: {id: com.acme.driver, name: Driver}
start: welcome
state: {account: ''}
screens:
  welcome:
    elements:
      - {id: account, role: field, hint: Sign in}
`;

const files = { 'trailblaze.yaml': PARITY };

for (const device of ['android/sim-1', 'ios/sim-1', 'web/sim-1', 'desktop/sim-1']) {
  test(`a tool answers as every client does: ${device}`, { skip }, () =>
    withProject(files, async (folder) => {
      const ran = await trailblaze(folder, 'tool', 'parity_answers', '-d', device);
      assert.deepEqual([ran.code, ran.stdout], [0, '[]\n'], ran.stderr);
    }),
  );
}

test('clients with and without an id reach the device of their call', { skip }, () =>
  withProject(files, async (folder) => {
    const ran = await trailblaze(folder, 'tool', 'parity_clients', '-d', 'android/sim-1');
    const refused = 'failed_precondition: `parity_clients` may not ask a model: set `sampling: true` in the entry of its server to allow that';
    assert.equal(ran.stdout, `Count: 3 ${JSON.stringify(refused)}\n`, ran.stderr);
  }),
);

test('a tool of a server that may ask a model gets an answer', { skip }, () => {
  const config = PARITY.replace('"]}', '"], sampling: true}') + 'llm: {defaults: {model: scripted/replies.yaml}}\n';
  const replies = 'replies: [{expect: {contains: What is it?}, reply: {text: A counter.}}]\n';
  return withProject({ 'trailblaze.yaml': config, 'replies.yaml': replies }, async (folder) => {
    const ran = await trailblaze(folder, 'tool', 'parity_clients', '-d', 'android/sim-1');
    const reply = { text: 'A counter.', model: 'scripted/replies.yaml' };
    assert.equal(ran.stdout, `Count: 3 ${JSON.stringify(reply)}\n`, ran.stderr);
  });
});

test('the listings of the design run on two devices at once', { skip }, () => {
  const trail = `
config: {title: Log in}
trail:
  - step: Log in
    tools:
      - acme_driver_login: {email: ada, password: pw}
      - my_tool: {}
  - verify: It was typed
    tools:
      - assertVisible: {text: adapw}
`;
  const listings = { 'trailblaze.yaml': LISTINGS, 'driver.app.yaml': DRIVER, 'trails/login.trail.yaml': trail };
  return withProject(listings, async (folder) => {
    const ran = await trailblaze(folder, 'run', '-d', 'android/sim-1,ios/sim-1');
    assert.equal(ran.code, 0, ran.stdout + ran.stderr);
  });
});
