// Serves the shop. Needs only Node 22 or Bun:
//
//     node server.mjs [PORT]
//
// The port is the argument, or the variable PORT, or 8123; 0 means any free port. A second, free port serves the same pages as
// another origin. Exits on SIGTERM and, if stdin is a pipe, when that is closed, so that it cannot outlive the program that
// started it.
import { readFileSync, readdirSync, fstatSync } from "node:fs";
import { createServer } from "node:http";
import { createHash } from "node:crypto";
import { Sessions } from "./sessions.mjs";
import { inStock, find } from "./products.mjs";
import { escapeHtml, page, readPages } from "./page.mjs";

const MOST_BYTES = 10 * 1024 * 1024;
const LONGEST_WAIT_MS = 30_000;

const pages = readPages(new URL("pages/", import.meta.url));
const files = readFiles(new URL("static/", import.meta.url), { css: "text/css", js: "text/javascript" });
const sessions = new Sessions();
const ports = { own: 0, other: 0, closed: 0 };

// One row for each address that is not just a page or a file.
const routes = {
  "POST /sign-in": signIn,
  "POST /sign-out": (at) => {
    at.session.user = null;
    redirect(at, "/sign-in");
  },
  "POST /order": async (at) => {
    const fields = new URLSearchParams(String(await body(at.request)));
    const names = [...new Set(fields.keys())];
    const rows = names.map((name) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(fields.getAll(name).join(", "))}</dd>`);
    at.session.cart.clear();
    html(at, 200, page(pages.get("order"), view(at, { rows: rows.join("\n"), name: escapeHtml(fields.get("name") ?? "") })));
  },
  "GET /api/cart": (at) => json(at, 200, cart(at)),
  "POST /api/cart": async (at) => {
    const { sku, count } = JSON.parse(await body(at.request));
    const product = find(sku);
    if (!product) return json(at, 404, { error: `there is no product \`${sku}\`` });
    if (!Number.isInteger(count) || count < -99 || count > 99) return json(at, 400, { error: "`count` must be a small whole number" });
    at.session.put(sku, count);
    json(at, 200, { ...cart(at), changed: product.name });
  },
  // Short words take longer, so that responses arrive out of order.
  "GET /api/search": async (at) => {
    const words = (at.url.searchParams.get("q") ?? "").trim();
    await pause(at, Math.max(300, 1200 - 150 * words.length));
    json(at, 200, { words, products: inStock.filter((product) => `${product.name} ${product.colour}`.toLowerCase().includes(words.toLowerCase())) });
  },
  "POST /api/upload": async (at) => {
    const bytes = await body(at.request);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    json(at, 200, { name: at.url.searchParams.get("name") ?? "", size: bytes.length, sha256 });
  },
  "GET /slow": async (at) => {
    const waited = await pause(at, Number(at.url.searchParams.get("ms") ?? 1500));
    html(at, 200, page(pages.get("slow"), view(at, { waited: String(waited) })));
  },
  "GET /late.svg": async (at) => {
    await pause(at, Number(at.url.searchParams.get("ms") ?? 1200));
    const mug = `<svg xmlns="http://www.w3.org/2000/svg" width="120" height="80"><rect width="120" height="80" fill="#c0392b"/></svg>`;
    answer(at, 200, { "content-type": "image/svg+xml" }, mug);
  },
  "GET /orders.csv": (at) =>
    answer(at, 200, { "content-type": "text/csv", "content-disposition": 'attachment; filename="orders.csv"' },
      "order,product,price\n1001,Enamel mug,12.00\n1002,Tea towel,9.50\n"),
  "GET /loop": (at) => redirect(at, "/loop-again"),
  "GET /loop-again": (at) => redirect(at, "/loop"),
  "GET /broken": (at) => html(at, 500, page(pages.get("broken"), view(at))),
};

async function signIn(at) {
  const fields = new URLSearchParams(String(await body(at.request)));
  const email = fields.get("email") ?? "";
  if (!sessions.knows(email, fields.get("password") ?? "")) {
    const said = `<p role="alert" id="wrong">Wrong email or password.</p>`;
    return html(at, 401, page(pages.get("sign-in"), view(at, { said, email: escapeHtml(email) })));
  }
  at.session.user = email;
  if (fields.has("remember")) sessions.remember(at.response, at.session);
  redirect(at, "/products");
}

const cart = (at) => {
  const lines = [...at.session.cart].map(([sku, count]) => ({ ...find(sku), count }));
  return { lines, count: lines.reduce((sum, line) => sum + line.count, 0), total: lines.reduce((sum, line) => sum + line.count * line.price, 0) };
};

// Values that every page may use.
function view(at, more = {}) {
  const { user } = at.session;
  const host = (at.request.headers.host ?? "").split(":")[0] === "localhost" ? "127.0.0.1" : "localhost";
  return {
    user: user ? `<span id="user">Signed in as ${escapeHtml(user)}</span> <form method="post" action="/sign-out"><button>Sign out</button></form>`
      : `<a href="/sign-in">Sign in</a>`,
    count: String(cart(at).count), said: "", email: "",
    otherPort: `http://127.0.0.1:${ports.other}`, otherSite: `http://${host}:${ports.other}`, closed: `http://127.0.0.1:${ports.closed}`,
    ...more,
  };
}

async function handle(request, response) {
  const url = new URL(request.url, "http://shop.invalid");
  const at = { request, response, url, session: sessions.of(request, response) };
  const method = request.method === "HEAD" ? "GET" : request.method;
  const route = routes[`${method} ${url.pathname}`];
  if (route) return route(at);
  const name = url.pathname === "/" ? "home" : url.pathname.slice(1);
  const known = files.get(name);
  if (method !== "GET") return answer(at, 405, { allow: "GET" }, "method not allowed\n");
  if (known) return answer(at, 200, { "content-type": known.type }, known.text);
  if (pages.has(name)) return html(at, 200, page(pages.get(name), view(at)));
  html(at, 404, page(pages.get("missing"), view(at, { said: escapeHtml(url.pathname) })));
}

const answer = ({ response }, status, headers, text) => {
  response.writeHead(status, { "cache-control": "no-store", ...headers });
  response.end(text);
};
const html = (at, status, text) => answer(at, status, { "content-type": "text/html; charset=utf-8" }, text);
const json = (at, status, value) => answer(at, status, { "content-type": "application/json" }, JSON.stringify(value));
const redirect = (at, location) => answer(at, 303, { location }, "");

// Waits, unless the client disconnects. Returns how long.
function pause(at, ms) {
  const wait = Math.min(Math.max(Number.isFinite(ms) ? ms : 0, 0), LONGEST_WAIT_MS);
  return new Promise((done) => {
    const timer = setTimeout(() => done(wait), wait);
    at.response.on("close", () => clearTimeout(timer));
  });
}

async function body(request) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MOST_BYTES) throw Object.assign(new Error("the body is larger than 10 MB"), { status: 413 });
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function readFiles(folder, types) {
  const names = readdirSync(folder).map((name) => [name, types[name.split(".").pop()]]).filter(([, type]) => type);
  return new Map(names.map(([name, type]) => [name, { type: `${type}; charset=utf-8`, text: readFileSync(new URL(name, folder), "utf8") }]));
}

function listen(port) {
  const server = createServer((request, response) => {
    handle(request, response).catch((error) => fail(response, error));
  });
  return new Promise((done, failed) => {
    server.once("error", failed);
    server.listen(port, "127.0.0.1", () => done(server));
  });
}

function fail(response, error) {
  if (response.headersSent) return response.destroy();
  const status = error.status ?? (error instanceof SyntaxError ? 400 : 500);
  if (status === 500) console.error(error);
  response.writeHead(status, { "content-type": "text/plain", connection: "close" });
  response.end(`${error.message}\n`);
}

async function main() {
  const asked = process.argv[2] ?? process.env.PORT ?? "8123";
  if (!/^\d{1,5}$/.test(asked) || Number(asked) > 65535) return refuse(`\`${asked}\` is not a port`);
  // A port that was just freed refuses connections.
  const gone = await listen(0);
  ports.closed = gone.address().port;
  await new Promise((done) => gone.close(done));
  ports.other = (await listen(0)).address().port;
  const own = await listen(Number(asked)).catch((error) => refuse(`cannot listen on port ${asked}: ${error.code ?? error.message}`));
  ports.own = own.address().port;
  console.log(`listening on http://127.0.0.1:${ports.own}`);

  for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => process.exit(0));
  // Only a pipe signals the end by closing; a terminal and /dev/null do not.
  const stdin = fstatSync(0, { throwIfNoEntry: false });
  if (stdin?.isFIFO() || stdin?.isSocket()) {
    for (const event of ["end", "close", "error"]) process.stdin.on(event, () => process.exit(0));
    process.stdin.resume();
  }
}

function refuse(why) {
  console.error(`error: ${why}`);
  process.exit(3);
}

await main();
