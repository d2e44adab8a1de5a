// Writes a made-up run folder with `report.html`, to look at the report without a run: `node ui/mock/report.mjs FOLDER`.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { madeUp } from './run.mjs';

const page = join(import.meta.dirname, '../../crates/trailblaze/src/output/report/page');

/** What the page may load: the trace next to it, and the style sheets of recorded documents, which inherit this policy. */
const policy = (script, style) =>
  `default-src 'none'; img-src 'self' data: file:; font-src data:; connect-src 'self'; ` +
  `style-src 'sha256-${style}' 'self' data: file:; script-src 'sha256-${script}' 'self' file:; base-uri 'none'; form-action 'none'`;

const json = (value) => JSON.stringify(value).replaceAll('<', '\\u003c');
const digest = (text) => createHash('sha256').update(text).digest('base64');
const block = (id, value) => `<script type="application/json" id="${id}">${json(value)}</script>`;

/** Writes the folder, and returns the path of its report. */
export function writeReport(folder) {
  const { index, details, trees, files } = madeUp();
  const [script, style] = ['page.js', 'page.css'].map((name) => readFileSync(join(page, name), 'utf8'));
  const values = {
    title: index.run,
    headline: 'Failed',
    totals: '',
    table: '',
    style,
    script,
    index: json(index),
    store: [...details.map((detail, nth) => block(`attempt-${nth}`, detail)), ...trees.map((tree, nth) => block(`tree-${nth}`, tree))].join(
      '\n',
    ),
  };
  const html = readFileSync(join(page, 'page.html'), 'utf8')
    .replace(/(http-equiv="Content-Security-Policy" content=)"[^"]*"/, (_, before) => `${before}"${policy(digest(script), digest(style))}"`)
    .replace(/\{\{([a-z-]+)\}\}/g, (whole, name) => values[name] ?? whole);
  files.set('report.html', html);
  for (const [name, text] of files) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return join(folder, 'report.html');
}

if (import.meta.filename === process.argv[1]) {
  const folder = process.argv[2];
  if (!folder) {
    console.error('usage: node ui/mock/report.mjs FOLDER');
    process.exit(2);
  }
  console.log(writeReport(folder));
}
