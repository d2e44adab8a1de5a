/** A renamed or removed command or parameter is a type error for its users. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const inPackage = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

const SAMPLE = `
import { TrailblazeClient } from './src/index.ts';

const tb = new TrailblazeClient('localhost:52525', { invocationId: 'c' });
await tb.launchApp('com.acme.driver');
await tb.tap({ text: 'Sign in', longPress: true });
await tb.inputText('ada@example.com');
await tb.maestro?.swipe('down');
await tb.playwright?.fill('#a', 'b');
await tb.remember('user', 'ada');
export const { root } = await tb.captureScreen();
export const children: number = root.children.length;
`;

/** What tsc says about a sample after a change of the generated file. */
async function compile(change: [RegExp, string] | undefined, sample = SAMPLE): Promise<string> {
  const folder = await mkdtemp(inPackage('dist/types-'));
  try {
    await cp(inPackage('src'), join(folder, 'src'), { recursive: true });
    await symlink(inPackage('node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), '{"type": "module"}');
    await writeFile(join(folder, 'sample.ts'), sample);
    const config = JSON.parse(await readFile(inPackage('tsconfig.json'), 'utf8')) as Record<string, unknown>;
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ ...config, include: ['sample.ts'] }));
    if (change !== undefined) {
      const generated = join(folder, 'src/generated.ts');
      const before = await readFile(generated, 'utf8');
      const after = before.replaceAll(...change);
      assert.notEqual(after, before, `${change[0]} matches nothing`);
      await writeFile(generated, after);
    }
    const tsc = inPackage('node_modules/.bin/tsc');
    return await run(tsc, ['-p', folder]).then(
      () => '',
      (failed: { stdout: string }) => failed.stdout,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('a sample compiles, and does not after a rename or removal', async () => {
  assert.equal(await compile(undefined), '');
  const changes: [RegExp, string, RegExp][] = [
    [/\binputText\b/g, 'typeText', /sample\.ts.*'inputText' does not exist/],
    [/\blongPress\b/g, 'hold', /sample\.ts.*'longPress'/],
    [/^ {2}launchApp.*\n/gm, '', /sample\.ts.*'launchApp' does not exist/],
    [/'down' \| /g, '', /sample\.ts(.|\n)*'"down"'/],
    [/\bPlaywrightCommands \| undefined/g, 'MaestroCommands | undefined', /sample\.ts.*'fill' does not exist/],
    [/readonly children\b/g, 'readonly parts', /sample\.ts.*'children' does not exist/],
  ];
  for (const [pattern, replacement, message] of changes) {
    assert.match(await compile([pattern, replacement]), message);
  }
});

test('a wrong argument is the one that tsc names', async () => {
  const wrong = [
    "await tb.assertVisible('Done', { timeout: 5 });",
    "await tb.isVisible({ text: 'Done', timeout: 5 });",
    "await tb.tap(1, 2, { timeout: 5 });",
  ];
  const told = await compile(undefined, `${SAMPLE}${wrong.join('\n')}\n`);
  const blamed = told.split('\n').filter((line) => line.includes("'timeout' does not exist"));
  assert.equal(blamed.length, wrong.length, told);
});
