// Snapshots of a page by @playwright/mcp, as a client on stdio gets them: `node mcp_snapshot.mjs [RUNS] [PAGE]`.
// Needs `scripts/parts`.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { fail, findChromium, within } from "./chromium.mjs";
import { measure, tell } from "./measure.mjs";

const parts = new URL("../../../../.parts/node/node_modules/@playwright/mcp/", import.meta.url);
const program = fileURLToPath(new URL("cli.js", parts));
if (!existsSync(program)) fail("@playwright/mcp is not installed", "`scripts/parts` installs it");
const page = process.argv[3] ?? "list.html";
// What a snapshot of each page must show, so that no part of it is left out.
const SHOWN = {
  "list.html": ["Item 1\"", "Buy item 1000", "Count of item 1000"],
  "sections.html": ["Section 1\"", "First point of 1000", "Note 1000"],
};
const { version } = JSON.parse(readFileSync(new URL("package.json", parts)));

// Where it writes what it keeps.
const folder = mkdtempSync(join(tmpdir(), "trailblaze-bench-"));
const args = [program, "--headless", "--isolated", "--no-sandbox", "--allow-unrestricted-file-access", "--executable-path", findChromium(),
  "--output-dir", folder, "--viewport-size", "1280x800"];
const server = spawn(process.execPath, args, { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();
createInterface({ input: server.stdout }).on("line", (line) => {
  const message = JSON.parse(line);
  waiting.get(message.id)?.(message);
  waiting.delete(message.id);
});
let last = 0;
async function ask(method, params) {
  const id = ++last;
  const answered = new Promise((done) => waiting.set(id, done));
  server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  const { result, error } = await within(method, answered);
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}
async function call(name, args = {}) {
  const { content, isError } = await ask("tools/call", { name, arguments: args });
  const text = content.map((block) => block.text ?? "").join("\n");
  if (isError) throw new Error(`${name}: ${text}`);
  return text;
}

try {
  await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } });
  server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  await call("browser_navigate", { url: new URL(page, import.meta.url).href });
  let snapshot = "";
  const times = await measure(async () => { snapshot = await call("browser_snapshot"); }, {
    after: async () => {
      for (const text of SHOWN[page]) {
        if (!snapshot.includes(text)) throw new Error(`the snapshot lacks \`${text}\`: ${snapshot.slice(0, 500)}`);
      }
    },
  });
  tell("mcp_snapshot", times, { version, characters: snapshot.length });
} finally {
  server.stdin.end();
  await within("the end of the server", new Promise((done) => server.once("exit", done))).catch(() => server.kill("SIGKILL"));
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
