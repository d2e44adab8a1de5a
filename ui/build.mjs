// Bundles the pages into the files that the binary contains. With --check, only says which of them are out of date.
import { build } from 'esbuild';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const here = import.meta.dirname;
const crate = join(here, '../crates/trailblaze/src');
const isCheck = process.argv.includes('--check');

const PAGES = [
  { from: 'src/studio/main.tsx', style: 'src/studio/studio.css', to: 'api/pages/studio' },
  { from: 'src/report/main.tsx', style: 'src/report/report.css', to: 'output/report/page/page' },
];

/** The licences of what is bundled must be in what is shipped. */
async function notice() {
  const licence = await readFile(join(here, 'node_modules/preact/LICENSE'), 'utf8');
  return `/*! Built by scripts/ui from ui/. Do not edit. Contains Preact, whose licence is:\n\n${licence.trim()}\n*/`;
}

async function bundle(entry, banner) {
  const result = await build({
    entryPoints: [join(here, entry)],
    bundle: true,
    minify: true,
    write: false,
    outdir: 'out',
    format: 'iife',
    target: ['chrome120', 'firefox121', 'safari17'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'inline',
    charset: 'utf8',
    banner,
    logLevel: 'warning',
  });
  return result.outputFiles[0].text;
}

const files = new Map();
const legal = await notice();
for (const { from, style, to } of PAGES) {
  files.set(`${to}.js`, await bundle(from, { js: legal }));
  files.set(`${to}.css`, await bundle(style, { css: '/* Built by scripts/ui from ui/. Do not edit. */' }));
}
files.set('api/pages/studio.html', await readFile(join(here, 'src/studio/studio.html'), 'utf8'));

let stale = 0;
for (const [name, text] of files) {
  const path = join(crate, name);
  const old = await readFile(path, 'utf8').catch(() => '');
  if (old === text) continue;
  if (isCheck) {
    console.error(`error: crates/trailblaze/src/${name} is not what ui/ builds\nhint: run scripts/ui and commit the result`);
    stale += 1;
  } else {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    console.log(`wrote crates/trailblaze/src/${name}`);
  }
}
process.exitCode = stale ? 1 : 0;
