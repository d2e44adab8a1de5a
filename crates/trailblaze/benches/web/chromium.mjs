// Chromium over its pipe, with nothing between: what the scripts beside this one share. The browser ends with us, because
// its pipe closes.
import { spawn } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];
const PATIENCE_MS = 30_000;
// What keeps a browser of tests quiet and alone. As root it has no sandbox.
export const ARGS = [
  "--no-first-run", "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
  "--disable-sync", "--disable-quic", "--disable-dev-shm-usage", ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
];

export function findChromium() {
  const named = process.env.TRAILBLAZE_TEST_CHROMIUM;
  const folders = (process.env.PATH ?? "").split(delimiter);
  const found = named ?? NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(canRun);
  if (!found || !canRun(found)) fail("there is no Chromium", "scripts/parts installs it");
  return found;
}

function canRun(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export function fail(what, hint) {
  console.error(`error: ${what}\nhint: ${hint}`);
  process.exit(2);
}

export class Chromium {
  #child;
  #profile = mkdtempSync(join(tmpdir(), "trailblaze-bench-"));
  #waiting = new Map();
  #listeners = [];
  #last = 0;

  constructor() {
    const args = ["--headless=new", "--remote-debugging-pipe", `--user-data-dir=${this.#profile}`, "--window-size=1280,800", ...ARGS, "about:blank"];
    this.#child = spawn(findChromium(), args, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.#child.on("exit", () => {
      for (const { refuse } of this.#waiting.values()) refuse(new Error("the browser has ended"));
    });
    let rest = [];
    this.#child.stdio[4].on("data", (chunk) => {
      for (let end; (end = chunk.indexOf(0)) >= 0; chunk = chunk.subarray(end + 1)) {
        this.#take(JSON.parse(Buffer.concat([...rest, chunk.subarray(0, end)])));
        rest = [];
      }
      rest.push(chunk);
    });
  }

  #take(message) {
    const waiting = this.#waiting.get(message.id);
    if (!waiting) return this.#listeners.forEach((listener) => listener(message));
    this.#waiting.delete(message.id);
    if (message.error) waiting.refuse(new Error(`${waiting.method}: ${message.error.message}`));
    else waiting.done(message.result);
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.#last;
    this.#child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return within(method, new Promise((done, refuse) => this.#waiting.set(id, { method, done, refuse })));
  }

  // The next event of a name.
  event(method) {
    return within(method, new Promise((done) => {
      const listener = (message) => {
        if (message.method !== method) return;
        this.#listeners.splice(this.#listeners.indexOf(listener), 1);
        done(message.params);
      };
      this.#listeners.push(listener);
    }));
  }

  // A tab at an address, loaded. Answers a `send` of its own.
  async open(url) {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const send = (method, params) => this.send(method, params, sessionId);
    await send("Page.enable");
    const loaded = this.event("Page.loadEventFired");
    await send("Page.navigate", { url });
    await loaded;
    return send;
  }

  async close() {
    const ended = new Promise((done) => this.#child.once("exit", done));
    this.send("Browser.close").catch(() => {});
    await within("the end of the browser", ended).catch(() => this.#child.kill("SIGKILL"));
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

export function within(what, promise) {
  let timer;
  const late = new Promise((_, refuse) => {
    timer = setTimeout(() => refuse(new Error(`${what} did not come within ${PATIENCE_MS / 1000} s`)), PATIENCE_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
