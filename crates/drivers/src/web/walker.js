// Lives in a world of its own beside the page's scripts: they cannot see it, and it does not touch what they see.
// Everything that Trailblaze knows of a page comes from here, in one evaluation a look.
(() => {
  if (globalThis.trailblaze) return;

  const ROLES = {
    A: (e) => (e.hasAttribute("href") ? "link" : "generic"), AREA: "link", ARTICLE: "article", ASIDE: "complementary",
    BUTTON: "button", DATALIST: "listbox", DD: "definition", DETAILS: "group", DIALOG: "dialog", DT: "term", FIELDSET: "group",
    FIGURE: "figure", FOOTER: (e) => (e.closest("article,section,main,aside,nav") ? "generic" : "contentinfo"), FORM: "form",
    H1: "heading", H2: "heading", H3: "heading", H4: "heading", H5: "heading", H6: "heading",
    HEADER: (e) => (e.closest("article,section,main,aside,nav") ? "generic" : "banner"), HR: "separator",
    IFRAME: "iframe", IMG: (e) => (e.getAttribute("alt") === "" ? "presentation" : "img"), LI: "listitem", MAIN: "main",
    MENU: "list", METER: "meter", NAV: "navigation", OL: "list", OPTGROUP: "group", OPTION: "option", OUTPUT: "status",
    P: "paragraph", PROGRESS: "progressbar", SECTION: (e) => (label(e) ? "region" : "generic"), SUMMARY: "button",
    SELECT: (e) => (e.multiple || e.size > 1 ? "listbox" : "combobox"), SVG: "img", TABLE: "table", TBODY: "rowgroup",
    TD: "cell", TEXTAREA: "textbox", TFOOT: "rowgroup", TH: "columnheader", THEAD: "rowgroup", TR: "row", UL: "list", CANVAS: "img",
  };
  const INPUTS = {
    button: "button", checkbox: "checkbox", email: "textbox", file: "button", image: "button", number: "spinbutton", radio: "radio",
    range: "slider", reset: "button", search: "searchbox", submit: "button", tel: "textbox", text: "textbox", url: "textbox",
  };
  const FROM_CONTENT = new Set(["button", "cell", "checkbox", "columnheader", "gridcell", "heading", "link", "menuitem",
    "menuitemcheckbox", "menuitemradio", "option", "radio", "row", "rowheader", "switch", "tab", "tooltip", "treeitem"]);
  const INTERACTIVE = new Set(["button", "checkbox", "combobox", "link", "listbox", "menuitem", "menuitemcheckbox", "menuitemradio",
    "option", "radio", "searchbox", "slider", "spinbutton", "switch", "tab", "textbox", "treeitem"]);
  const LANDMARKS = new Set(["banner", "complementary", "contentinfo", "form", "main", "navigation", "region", "search"]);
  const HIDDEN_TAGS = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "HEAD", "META", "LINK", "TITLE", "BR", "WBR"]);

  // Numbers of elements: an element keeps its own as long as it lives.
  const ids = new WeakMap();
  const elements = new Map();
  let last = 0;
  const idOf = (element) => {
    let id = ids.get(element);
    if (!id) {
      id = ++last;
      ids.set(element, id);
      elements.set(id, new WeakRef(element));
    }
    return id;
  };
  const elementOf = (id) => {
    const element = elements.get(id)?.deref();
    return element?.isConnected ? element : null;
  };

  const fold = (text) => text.replace(/\s+/g, " ").trim();

  function roleOf(e) {
    const own = e.getAttribute("role")?.trim().split(/\s+/)[0];
    if (own) return own === "none" ? "presentation" : own;
    if (e.tagName === "INPUT") return e.type === "password" ? "textbox" : e.type === "hidden" ? "presentation" : INPUTS[e.type] ?? "textbox";
    const role = ROLES[e.tagName.toUpperCase()];
    if (typeof role === "function") return role(e);
    if (role) return role;
    return e.isContentEditable && e.getAttribute("contenteditable") != null ? "textbox" : "generic";
  }

  const textOf = (e, depth = 0) => {
    if (depth > 20) return "";
    let text = "";
    for (const child of e.shadowRoot ? e.shadowRoot.childNodes : e.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) text += child.data;
      else if (child.nodeType === Node.ELEMENT_NODE && !HIDDEN_TAGS.has(child.tagName) && !isHidden(child)) {
        const inner = child.getAttribute("aria-label") ?? (child.tagName === "IMG" ? child.alt : textOf(child, depth + 1));
        text += getComputedStyle(child).display.startsWith("inline") ? inner : ` ${inner} `;
      }
    }
    return text;
  };

  const byIds = (e, attribute) => {
    const list = e.getAttribute(attribute);
    const root = e.getRootNode();
    return list && fold(list.split(/\s+/).map((id) => root.getElementById?.(id)).filter(Boolean).map((found) => textOf(found)).join(" "));
  };

  // What names an element besides its content.
  function label(e) {
    const named = byIds(e, "aria-labelledby") || fold(e.getAttribute("aria-label") ?? "");
    if (named) return named;
    if (e.labels?.length) {
      const text = fold([...e.labels].map((one) => textOf(one)).join(" "));
      if (text) return text;
    }
    if (e.tagName === "IMG" || e.tagName === "AREA") return fold(e.alt ?? "");
    if (e.tagName === "INPUT" && ["button", "submit", "reset"].includes(e.type)) return e.value || { submit: "Submit", reset: "Reset" }[e.type] || "";
    if (e.tagName === "FIELDSET") return fold(textOf(e.querySelector(":scope > legend") ?? document.createElement("i")));
    if (e.tagName === "TABLE") return fold(e.caption ? textOf(e.caption) : "");
    if (e.tagName === "FIGURE") return fold(textOf(e.querySelector(":scope > figcaption") ?? document.createElement("i")));
    if (e.tagName.toUpperCase() === "SVG") return fold(e.querySelector(":scope > title")?.textContent ?? "");
    return "";
  }

  function nameOf(e, role) {
    return label(e) || (FROM_CONTENT.has(role) ? fold(textOf(e)) : "") || fold(e.getAttribute("title") ?? "")
      || fold(e.getAttribute("placeholder") ?? "");
  }

  function isHidden(e) {
    if (e.checkVisibility && !e.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: false })) {
      // Its children may be shown all the same.
      return getComputedStyle(e).display !== "contents";
    }
    return e.getAttribute("aria-hidden") === "true" || e.inert === true;
  }

  const testIdOf = (e) => e.getAttribute("data-testid") ?? e.getAttribute("data-test-id") ?? e.getAttribute("data-test");
  const isDisabled = (e) => e.matches(":disabled") || e.closest("[aria-disabled=true]") != null;

  function read(e, out, dx, dy, depth) {
    if (HIDDEN_TAGS.has(e.tagName) || depth > 200) return;
    const style = getComputedStyle(e);
    if (style.display === "none" || e.getAttribute("aria-hidden") === "true" || e.inert === true) return;
    const isSeen = style.visibility === "visible" && style.display !== "contents";
    const role = roleOf(e);
    let own = "";
    for (const child of e.childNodes) if (child.nodeType === Node.TEXT_NODE) own += child.data;
    own = fold(own);
    const name = isSeen && role !== "presentation" ? nameOf(e, role) : "";
    const testId = testIdOf(e);
    const isInteractive = INTERACTIVE.has(role) || e.tabIndex >= 0 && e.hasAttribute("tabindex") || e.isContentEditable && e.hasAttribute("contenteditable");
    // A label is told of by the control that it names.
    const isLabel = e.tagName === "LABEL" && e.control;
    const isWorthTelling = isSeen && !isLabel && (isInteractive || own || name || testId || e.id || !["generic", "presentation"].includes(role));
    let children = out;
    if (isWorthTelling) {
      const box = e.getBoundingClientRect();
      const node = { i: idOf(e), r: role, b: [box.left + dx, box.top + dy, box.right + dx, box.bottom + dy].map(Math.round), c: [] };
      if (name) node.n = name;
      if (own) node.t = own;
      if (testId) node.q = testId;
      if (e.id) node.s = "#" + CSS.escape(e.id);
      if (isInteractive) node.x = 1;
      if (isDisabled(e)) node.d = 1;
      if (LANDMARKS.has(role)) node.l = 1;
      const level = /^H[1-6]$/.test(e.tagName) ? +e.tagName[1] : +e.getAttribute("aria-level");
      if (role === "heading" && level) node.h = level;
      if (["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"].includes(role)) node.k = e.checked ?? e.getAttribute("aria-checked") === "true" ? 1 : 0;
      if (e.selected || e.getAttribute("aria-selected") === "true") node.e = 1;
      if (e === e.getRootNode().activeElement && e !== document.body) node.f = 1;
      if (["INPUT", "TEXTAREA"].includes(e.tagName) && !["button", "submit", "reset", "checkbox", "radio", "file", "image", "range", "color"].includes(e.type)) {
        node.w = e.readOnly ? 0 : 1;
        if (e.type === "password") node.p = 1;
        else if (e.value) node.v = e.value;
      } else if (e.tagName === "SELECT") node.v = [...e.selectedOptions].map((option) => option.label).join(", ");
      else if (e.isContentEditable && role === "textbox") node.w = 1;
      else if (e.type === "range" || ["PROGRESS", "METER"].includes(e.tagName)) node.v = String(e.value);
      out.push(node);
      children = node.c;
    }
    if (e.tagName === "SELECT") return;
    const inside = e.shadowRoot ?? e;
    for (const child of inside.children) {
      if (child.tagName === "SLOT") for (const given of child.assignedElements({ flatten: true })) read(given, children, dx, dy, depth + 1);
      else read(child, children, dx, dy, depth + 1);
    }
    if (e.tagName === "IFRAME") {
      // A frame of the same origin is read in place.
      let inner = null;
      try { inner = e.contentDocument; } catch { /* Of another origin. */ }
      if (inner?.body) {
        const box = e.getBoundingClientRect();
        read(inner.body, children, dx + box.left + e.clientLeft, dy + box.top + e.clientTop, depth + 1);
      }
    }
  }

  // The element that gets a touch at a point of the top window, through frames and shadow roots.
  function hit(x, y, root = document) {
    let found = root.elementFromPoint(x, y);
    while (found?.shadowRoot) {
      const inner = found.shadowRoot.elementFromPoint(x, y);
      if (!inner || inner === found) break;
      found = inner;
    }
    if (found?.tagName === "IFRAME") {
      try {
        const box = found.getBoundingClientRect();
        const inner = found.contentDocument && hit(x - box.left - found.clientLeft, y - box.top - found.clientTop, found.contentDocument);
        if (inner) return inner;
      } catch { /* Of another origin. */ }
    }
    return found;
  }

  function offset(e) {
    let [dx, dy] = [0, 0];
    for (let win = e.ownerDocument.defaultView; win && win !== window; win = win.parent) {
      const frame = win.frameElement;
      if (!frame) break;
      const box = frame.getBoundingClientRect();
      dx += box.left + frame.clientLeft;
      dy += box.top + frame.clientTop;
    }
    return [dx, dy];
  }

  const summary = (e) => {
    const role = roleOf(e);
    const name = nameOf(e, role) || fold(textOf(e)).slice(0, 60);
    const tag = role === "generic" ? e.tagName.toLowerCase() + (e.id ? "#" + e.id : "") : role;
    return name ? `${tag} "${name}"` : tag;
  };

  const composedParent = (e) => e.assignedSlot ?? e.parentElement ?? e.getRootNode().host ?? null;
  const isWithin = (inner, outer) => {
    for (let e = inner; e; e = composedParent(e)) if (e === outer) return true;
    return false;
  };

  // Changes are told at most once a frame, however many there are.
  let isDue = false;
  const changed = () => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => { isDue = false; globalThis.trailblazeChanged?.(""); }, 16);
  };
  const watch = () => {
    new MutationObserver(changed).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    for (const name of ["scroll", "input", "change", "focusin", "focusout", "transitionend", "animationend", "load", "toggle"]) {
      addEventListener(name, changed, { capture: true, passive: true });
    }
  };
  watch();

  const frame = () => new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 100); });
  const isMoving = (e) => {
    for (let up = e; up; up = composedParent(up)) {
      if (up.getAnimations?.().some((animation) => animation.playState === "running")) return true;
    }
    return false;
  };

  globalThis.trailblaze = {
    look() {
      const nodes = [];
      if (document.body) read(document.body, nodes, 0, 0, 0);
      const page = document.documentElement;
      return {
        url: location.href, width: innerWidth, height: innerHeight, left: Math.round(scrollX), top: Math.round(scrollY),
        fullWidth: Math.max(page.scrollWidth, innerWidth), fullHeight: Math.max(page.scrollHeight, innerHeight), nodes,
      };
    },

    // Makes an element ready to be touched: in view, at rest, enabled, and not covered. Answers where to touch it.
    async ready(id) {
      const e = elementOf(id);
      if (!e) return { why: "gone" };
      if (isDisabled(e)) return { why: "disabled" };
      const inView = () => {
        const box = e.getBoundingClientRect();
        const view = e.ownerDocument.defaultView;
        return box.top >= 0 && box.left >= 0 && box.bottom <= view.innerHeight && box.right <= view.innerWidth;
      };
      if (!inView()) e.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
      // Frames are awaited only while something moves, and not for ever.
      for (let n = 0; n < 60 && isMoving(e); n++) {
        const before = e.getBoundingClientRect();
        await frame();
        const after = e.getBoundingClientRect();
        if (before.top === after.top && before.left === after.left && before.width === after.width) break;
      }
      if (!e.isConnected) return { why: "gone" };
      const box = [...e.getClientRects()].find((rect) => rect.width > 0 && rect.height > 0) ?? e.getBoundingClientRect();
      if (box.width === 0 || box.height === 0) return { why: "hidden" };
      const view = e.ownerDocument.defaultView;
      const [dx, dy] = offset(e);
      const clamp = (from, to, most) => (Math.max(from, 0) + Math.min(to, most)) / 2;
      const x = clamp(box.left, box.right, view.innerWidth) + dx;
      const y = clamp(box.top, box.bottom, view.innerHeight) + dy;
      const got = hit(x, y);
      // What is inside it, and a label that stands for it, pass the touch on.
      const reaches = got && (isWithin(got, e) || [...(e.labels ?? [])].some((one) => isWithin(got, one)) || got.tagName === "LABEL" && got.contains(e));
      if (!reaches) return { why: "covered", by: got ? summary(got) : "nothing" };
      return { x, y, b: [box.left + dx, box.top + dy, box.right + dx, box.bottom + dy].map(Math.round) };
    },

    // Chooses the whole text of the focused field, so that what is typed next replaces it.
    selectAll() {
      let e = document.activeElement;
      while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
      if (e?.tagName === "IFRAME") e = e.contentDocument?.activeElement ?? e;
      if (e?.select) e.select();
      else if (e?.isContentEditable) e.ownerDocument.getSelection().selectAllChildren(e);
      return e?.value?.length ?? fold(e?.textContent ?? "").length;
    },
  };
})();
