// How Chromium itself sees a page: every element that has an id, with the role, the name and the states that it gives it, in
// the order of the document. `node axtree.mjs PAGE.html [OUT.json]`; `null` for what it leaves out.
//
//     node axtree.mjs ../../tests/it/browser/web/roles.html ../../tests/it/browser/web/roles.ax.json
import { existsSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { Chromium, fail } from "./chromium.mjs";

// What is no state: where an element leads, how it came by its name, how it is read out.
const NOT_STATES = new Set(["atomic", "controls", "describedby", "details", "editable", "focusable", "labelledby", "live", "multiline",
  "relevant", "roledescription", "settable", "url"]);
// What goes without saying.
const USUAL = { invalid: "false", modal: false, multiselectable: false, readonly: false, required: false, valuetext: "" };

const [page, out] = process.argv.slice(2);
if (!page || !existsSync(page)) fail(`there is no page \`${page ?? ""}\``, "name an HTML file");

const chromium = new Chromium();
try {
  const send = await chromium.open(pathToFileURL(page).href);
  await send("Accessibility.enable");
  const seen = new Map();
  for (const frameId of frames((await send("Page.getFrameTree")).frameTree)) {
    const { nodes } = await send("Accessibility.getFullAXTree", { frameId });
    for (const node of nodes) if (!node.ignored && node.backendDOMNodeId) seen.set(node.backendDOMNodeId, node);
  }
  const { root } = await send("DOM.getDocument", { depth: -1, pierce: true });
  const rows = [];
  walk(root, (node) => {
    const id = attribute(node, "id");
    if (id) rows.push(JSON.stringify([id, describe(seen.get(node.backendNodeId))]));
  });
  const text = `[\n${rows.join(",\n")}\n]\n`;
  if (out) writeFileSync(out, text);
  else process.stdout.write(text);
} finally {
  await chromium.close();
}

function describe(node) {
  if (!node) return null;
  const properties = (node.properties ?? []).filter(({ name, value }) => !NOT_STATES.has(name) && value.value !== undefined && USUAL[name] !== value.value);
  // Some numbers have been through 32 bits.
  const told = node.value?.value;
  const value = typeof told === "number" ? Number(told.toPrecision(6)) : told;
  return {
    role: node.role?.value, name: node.name?.value ?? "",
    ...(node.description?.value && { description: node.description.value }),
    ...(value !== undefined && value !== "" && { value }),
    ...Object.fromEntries(properties.map(({ name, value }) => [name, value.value])),
  };
}

function frames({ frame, childFrames = [] }) {
  return [frame.id, ...childFrames.flatMap(frames)];
}

function attribute({ attributes = [] }, name) {
  const place = attributes.findIndex((text, index) => index % 2 === 0 && text === name);
  return place < 0 ? null : attributes[place + 1];
}

function walk(node, visit) {
  visit(node);
  // The insides of the browser's own elements are not the page's.
  const roots = (node.shadowRoots ?? []).filter(({ shadowRootType }) => shadowRootType !== "user-agent");
  const inner = [...roots, ...(node.contentDocument ? [node.contentDocument] : []), ...(node.children ?? [])];
  for (const child of inner) walk(child, visit);
}
