// Records the same input with `trailblaze record` and with Playwright's codegen, replays both recordings, and writes a table of what then
// has happened again. Each page says in `#log` what was done to it.
//
//     node compare.mjs PROGRAM PARTS [NAME…]
//
// PROGRAM is trailblaze, PARTS the folder with the packages (`scripts/parts bench`). Prints one line of JSON for each page.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Hand, until } from "./hand.mjs";
import { cases } from "./cases.mjs";

const [program, parts, ...names] = process.argv.slice(2);
const requirePart = createRequire(pathToFileURL(join(parts, "node_modules", "x.js")));
const { chromium } = requirePart("playwright-core");
const esbuild = requirePart("esbuild");
const pages = new URL("pages/", import.meta.url);
const executablePath = process.env.TRAILBLAZE_CHROMIUM ?? "/usr/bin/chromium";
const root = mkdtempSync(join(tmpdir(), "beside-codegen-"));
const LOG = "document.querySelector('#log')?.textContent";
const AsyncFunction = (async () => {}).constructor;

const bundles = new Map();
/** A page that imports packages, bundled into one script. */
async function bundle(name) {
  if (!bundles.has(name)) {
    const file = new URL(`${name}.jsx`, pages);
    const built = await esbuild.build({
      stdin: { contents: readFileSync(file, "utf8"), loader: "jsx", resolveDir: parts, sourcefile: `${name}.jsx` },
      bundle: true, write: false, outdir: "/out", format: "iife", jsx: "automatic", nodePaths: [join(parts, "node_modules")],
      define: { "process.env.NODE_ENV": '"production"' }, logLevel: "error", loader: { ".svg": "dataurl", ".woff2": "dataurl" },
    });
    const text = (end) => built.outputFiles.filter(({ path }) => path.endsWith(end)).map((one) => one.text).join("\n");
    bundles.set(name, `<!doctype html><meta charset=utf-8><title>${name}</title><style>${text(".css")} body { margin: 20px; min-height: 900px }</style>
      <p id=log></p><div id=app></div><script src="/${name}.js"></script>`);
    bundles.set(`${name}.js`, text(".js"));
  }
  return bundles.get(name);
}

// The list that is drawn again is that of the tests of recordings.
const shared = new URL("../../crates/trailblaze/tests/it/browser/record/todo.html", import.meta.url);
const written = (name) => name === "todo"
  ? readFileSync(shared, "utf8").replace('role="status"', 'id="log"').replace('querySelector("p")', 'querySelector("#log")')
  : readFileSync(new URL(`${name}.html`, pages), "utf8");

const server = createServer(async (request, response) => {
  const name = new URL(request.url, "http://x").pathname.slice(1);
  try {
    const isScript = name.endsWith(".js");
    const text = isScript ? bundles.get(name) : name.startsWith("lib-") ? await bundle(name) : written(name);
    response.writeHead(200, { "content-type": `text/${isScript ? "javascript" : "html"}; charset=utf-8` }).end(text);
  } catch (error) {
    response.writeHead(404).end(String(error));
  }
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const base = `http://127.0.0.1:${server.address().port}`;

const freePort = () => new Promise((done) => {
  const probe = createServer().listen(0, "127.0.0.1", () => {
    const { port } = probe.address();
    probe.close(() => done(port));
  });
});

async function play({ page, does }, port) {
  const hand = await Hand.connect(port, `${base}/${page}`);
  try {
    // Input right after an action of a recorder counts as its own.
    await new Promise((done) => setTimeout(done, 800));
    await does(hand, { file: new URL("compare.mjs", import.meta.url).pathname });
    await new Promise((done) => setTimeout(done, 400));
    const log = (await hand.script(LOG)).trim();
    if (!log) throw new Error("the page says that nothing was done to it");
    return log;
  } finally {
    hand.close();
  }
}

async function byTrailblaze(one) {
  const folder = join(root, `t-${one.name.replace(/\W+/g, "-")}`);
  mkdirSync(join(folder, "trails"), { recursive: true });
  const port = await freePort();
  const config = (args) => writeFileSync(join(folder, "trailblaze.yaml"), `devices: [{id: web/chromium}]\nbrowser: {args: [${args}]}\n`);
  config(`'--remote-debugging-port=${port}'`);
  const env = { ...process.env, XDG_RUNTIME_DIR: folder, HOME: folder, CI: "true" };
  const start = (args) => {
    const child = spawn(program, args, { cwd: folder, env });
    child.said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => { child.said += data; });
    child.ended = new Promise((done) => child.on("exit", (code) => { child.code = code; done(code); }));
    return child;
  };
  try {
    const recording = start(["record", "--headless", "--url", `${base}/${one.page}`, "--save", "trails/one.trail.yaml"]);
    await until("it records", () => recording.said.includes("Recording what you do") || recording.exitCode != null);
    const log = await play(one, port);
    recording.kill("SIGINT");
    if (await recording.ended) return { log, why: recording.said };
    const trail = join(folder, "trails/one.trail.yaml");
    const saved = readFileSync(trail, "utf8");
    const check = `  - verify: The same has happened\n    tools:\n      - assertVisible:\n          id: log\n          expectedText: ${JSON.stringify(log)}\n`;
    writeFileSync(trail, saved + check);
    config("");
    const run = start(["run", "trails/one.trail.yaml"]);
    const code = await run.ended;
    return { log, replays: code === 0, recorded: saved, why: code === 0 ? "" : run.said };
  } finally {
    await start(["daemon", "stop"]).ended;
  }
}

async function byCodegen(one) {
  const port = await freePort();
  const address = `${base}/${one.page}`;
  const args = ["--no-sandbox", `--remote-debugging-port=${port}`];
  let browser = await chromium.launch({ executablePath, args });
  let [code, log] = ["", ""];
  try {
    const context = await browser.newContext();
    const page = await context.newPage();
    const lines = [];
    const change = (_page, _data, text) => { if (text) lines[Math.max(lines.length - 1, 0)] = text; };
    await context._startRecording({ language: "javascript" }, { actionAdded: (_page, _data, text) => { lines.push(text); }, actionUpdated: change, signalAdded: change });
    await page.goto(address);
    log = await play(one, port);
    await new Promise((done) => setTimeout(done, 700));
    await context._stopRecording();
    code = lines.join("\n");
  } finally {
    await browser.close();
  }
  browser = await chromium.launch({ executablePath, args: args.slice(0, 1) });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(10_000);
    await page.goto(address);
    // The page is open already; where the recorder opened it is left out.
    const body = code.split("\n").filter((line) => !/^\s*await page\.(goto|close)|newPage\(\)/.test(line)).join("\n");
    await new AsyncFunction("page", "context", "expect", body)(page, page.context());
    const end = Date.now() + 5000;
    let now = "";
    do now = (await page.evaluate(LOG)).trim(); while (now !== log && Date.now() < end);
    return { log, replays: now === log, recorded: code, why: now === log ? "" : `log: ${now}` };
  } catch (error) {
    return { log, replays: false, recorded: code, why: error.message };
  } finally {
    await browser.close();
  }
}

for (const one of cases.filter(({ name }) => !names.length || names.includes(name))) {
  const attempt = async (record) => {
    try { return await record(one); } catch (error) { return { replays: false, why: String(error.stack) }; }
  };
  const [ours, codegen] = [process.env.ONLY === "codegen" ? {} : await attempt(byTrailblaze), process.env.ONLY === "trailblaze" ? {} : await attempt(byCodegen)];
  console.log(JSON.stringify({ name: one.name, trailblaze: ours, codegen }));
}
rmSync(root, { recursive: true, force: true });
server.close();
process.exit(0);
