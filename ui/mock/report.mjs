// Writes a made-up run folder with `report.html`, to look at the report without a run: `node ui/mock/report.mjs FOLDER`.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { madeUp } from './run.mjs';

const page = join(import.meta.dirname, '../../crates/trailblaze/src/output/report/page');
const folder = process.argv[2];
if (!folder) {
  console.error('usage: node ui/mock/report.mjs FOLDER');
  process.exit(2);
}

const { index, details, trees, files } = madeUp();
const json = (value) => JSON.stringify(value).replaceAll('<', '\\u003c');
const digest = (text) => createHash('sha256').update(text).digest('base64');
const [script, style] = ['page.js', 'page.css'].map((name) => readFileSync(join(page, name), 'utf8'));
const block = (id, value) => `<script type="application/json" id="${id}">${json(value)}</script>`;
const values = {
  title: index.run,
  headline: 'Failed',
  totals: '',
  table: '',
  style,
  script,
  'style-digest': digest(style),
  'script-digest': digest(script),
  index: json(index),
  store: [...details.map((detail, nth) => block(`attempt-${nth}`, detail)), ...trees.map((tree, nth) => block(`tree-${nth}`, tree))].join(
    '\n',
  ),
};
const html = readFileSync(join(page, 'page.html'), 'utf8').replace(/\{\{([a-z-]+)\}\}/g, (whole, name) => values[name] ?? whole);
files.set('report.html', html);
for (const [name, text] of files) {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
console.log(join(folder, 'report.html'));
