// Reads what a document contains, for people who look at it later: an expression, called with what to do, in the world of walker.js.
// Nodes are texts, or `[tag, attributes, child…]`; see "Traces" in docs/events.md. Scripts, and what was typed into password fields, are
// left out. Texts of style sheets are sent once for each document, later only their keys.
(({ isNew }) => {
  // The most nodes, how deep they are nested, and the longest value of an attribute or a text. Pictures in attributes may be longer.
  const MOST = 20_000, DEEPEST = 100, LONGEST = 20_000, PICTURE = 60_000;
  const LEFT_OUT = new Set(["script", "noscript", "template", "style", "link", "meta", "base", "head", "object", "embed"]);
  const trailblaze = globalThis.trailblaze;
  const cache = trailblaze.sheets ??= { read: new WeakMap(), sent: new Set() };
  if (isNew) cache.sent = new Set();
  const texts = {};
  let n = 0;

  const cut = (text, longest = LONGEST) => (text.length > longest ? text.slice(0, longest - 1) + "…" : text);

  const rulesOf = (sheet, depth = 0) => {
    let text = "";
    for (const rule of sheet.cssRules) {
      text += rule.styleSheet && depth < 5 ? rulesOf(rule.styleSheet, depth + 1) : rule.cssText;
      text += "\n";
    }
    const media = sheet.media?.mediaText;
    return media && media !== "all" ? `@media ${media} {\n${text}}\n` : text;
  };
  const digest = (text) => {
    let a = 0xdeadbeef, b = 0x41c6ce57;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      a = Math.imul(a ^ code, 2654435761);
      b = Math.imul(b ^ code, 1597334677);
    }
    return `${text.length.toString(36)}-${(a >>> 0).toString(36)}${(b >>> 0).toString(36)}`;
  };
  const keyOf = (sheet) => {
    if (sheet.disabled) return null;
    let count;
    // The rules of a sheet of another origin cannot be read.
    try { count = sheet.cssRules.length; } catch { return null; }
    let known = cache.read.get(sheet);
    if (!known || known.count !== count) {
      const text = rulesOf(sheet);
      known = { count, text, key: digest(text) };
      cache.read.set(sheet, known);
    }
    if (!known.text) return null;
    if (!cache.sent.has(known.key)) {
      cache.sent.add(known.key);
      texts[known.key] = known.text;
    }
    return known.key;
  };
  const sheetsOf = (root) => {
    const keys = [];
    for (const sheets of [root.styleSheets ?? [], root.adoptedStyleSheets ?? []]) {
      for (const sheet of sheets) {
        const key = keyOf(sheet);
        if (key) keys.push(key);
      }
    }
    return keys;
  };

  const stateOf = (e, attributes) => {
    if (e.localName === "input") {
      if (e.type === "checkbox" || e.type === "radio") attributes[":checked"] = e.checked;
      else if (e.type !== "password" && e.type !== "hidden" && e.type !== "file") attributes[":value"] = cut(e.value);
    } else if (e.localName === "textarea") attributes[":value"] = cut(e.value);
    else if (e.localName === "option" && e.selected) attributes[":selected"] = true;
    else if (e.localName === "canvas") {
      // A canvas with pictures of other origins cannot be read.
      try {
        const picture = e.toDataURL("image/webp", 0.5);
        if (picture.length <= PICTURE) attributes[":picture"] = picture;
      } catch { /* It stays empty. */ }
    }
    if (e.scrollTop || e.scrollLeft) attributes[":scroll"] = [Math.round(e.scrollLeft), Math.round(e.scrollTop)];
  };
  const element = (e, depth) => {
    const tag = e.localName;
    const attributes = {};
    for (const { name, value } of e.attributes) {
      if (name.startsWith("on") || name === "srcdoc" || name === "nonce" || name === "integrity") continue;
      if (tag === "iframe" && name === "src") continue;
      if (name === "value" && (tag === "input" && (e.type === "password" || e.type === "hidden"))) continue;
      const isPicture = (name === "src" || name === "style") && value.includes("data:image/");
      if (isPicture && value.length > PICTURE) continue;
      attributes[name] = isPicture ? value : cut(value);
    }
    stateOf(e, attributes);
    // The picture itself is not kept; its place is filled from a picture of the screen.
    if (tag === "img" && !attributes.src?.startsWith("data:")) {
      const { left, top, width, height } = e.getBoundingClientRect();
      attributes[":rect"] = [left, top, width, height].map(Math.round);
    }
    if (tag === "iframe" || tag === "frame") {
      attributes[":frame"] = trailblaze.idOf(e);
      return [tag, attributes];
    }
    const node = [tag, attributes];
    if (e.shadowRoot) {
      attributes[":shadow"] = children(e.shadowRoot, [], depth + 2);
      const sheets = sheetsOf(e.shadowRoot);
      if (sheets.length) attributes[":sheets"] = sheets;
    }
    // What was typed into a text area is its value.
    if (tag !== "textarea") children(e, node, depth + 1);
    return node;
  };
  const children = (parent, into, depth) => {
    if (depth > DEEPEST) return into;
    for (let child = parent.firstChild; child; child = child.nextSibling) {
      if (n >= MOST) break;
      if (child.nodeType === 3) {
        n++;
        into.push(cut(child.data));
      } else if (child.nodeType === 1 && !LEFT_OUT.has(child.localName)) {
        n++;
        into.push(element(child, depth));
      }
    }
    return into;
  };

  const root = document.documentElement;
  const scroller = document.scrollingElement ?? root;
  return JSON.stringify({
    url: location.href, base: document.baseURI, title: cut(document.title), width: window.innerWidth, height: window.innerHeight,
    scroll: [Math.round(scroller?.scrollLeft ?? 0), Math.round(scroller?.scrollTop ?? 0)],
    sheets: sheetsOf(document), texts, node: root ? element(root, 0) : "",
  });
})
