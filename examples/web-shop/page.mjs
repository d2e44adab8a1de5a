// Pages are files: the first line is the title, the rest goes between header and footer. `{{name}}` is replaced by a value.
import { readFileSync, readdirSync } from "node:fs";

const layout = readFileSync(new URL("layout.html", import.meta.url), "utf8");

export function readPages(folder) {
  const names = readdirSync(folder).filter((name) => name.endsWith(".html"));
  return new Map(names.map((name) => {
    const [title, ...rest] = readFileSync(new URL(name, folder), "utf8").split("\n");
    return [name.slice(0, -".html".length), { title: title.replace(/^<!-- | -->$/g, ""), main: rest.join("\n") }];
  }));
}

// One pass, so that inserted values are not expanded again. Values are already HTML.
export function page({ title, main }, values) {
  const all = { ...values, title };
  const fill = (text) => text.replace(/\{\{(\w+)\}\}/g, (_, name) => all[name] ?? "");
  // Frames have no header.
  if (title.startsWith("Frame:")) return fill(main);
  return fill(layout).replace("<!-- main -->", () => fill(main));
}

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
export const escapeHtml = (text) => text.replace(/[&<>"']/g, (letter) => ENTITIES[letter]);
