#!/usr/bin/env node
// Starts the program of the package for this platform. npm installs the one that fits.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { constants } from 'node:os';

const name = `@trailblaze/cli-${process.platform}-${process.arch}`;
let program;
try {
  program = createRequire(import.meta.url).resolve(`${name}/bin/trailblaze`);
} catch {
  console.error(`error: there is no Trailblaze for this platform: the package ${name} is not installed`);
  console.error('hint: install without `--omit=optional`; there are packages for Linux and macOS, on x64 and arm64');
  process.exit(2);
}
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
// A signal to this process is meant for the program. Those of a terminal reach both.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => signal !== 'SIGINT' && child.kill(signal));
child.on('error', (error) => {
  console.error(`error: cannot start ${program}: ${error.message}`);
  process.exit(2);
});
child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
