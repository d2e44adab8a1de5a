// Runs in each frame: in an isolated world, if the browser has those, so that the page's scripts cannot see it, and it does not change
// what they see. Everything that Trailblaze knows about a page is read here, in one evaluation per look. This file and acting.js are the
// two halves of one function body (see builtins.js): this half looks, the other acts. Types are in types.d.ts.
//
// In the page's own world, the page may have changed any built-in: methods of elements are called by their symbols, and arrays of the page are
// copied by `list`.

  /** @type {(name: string, callback: (event: any) => void, options: AddEventListenerOptions) => () => void} */
  const listen = (name, callback, options) => on(window, name, callback, options);
  // An array of ours. Those of the page may have other methods.
  /** @template T @param {ArrayLike<T>} items @returns {T[]} */
  const list = (items) => {
    const own = [];
    for (let n = 0; n < items.length; n++) own.push(items[n]);
    return own;
  };

  /** @param {El} e */
  const inSection = (e) => e[$closest]("article,aside,main,nav,section,[role=article],[role=complementary],[role=main],[role=navigation],[role=region]");
  /** @type {Record<string, string | ((e: El) => string)>} */
  const ROLES = {
    A: (e) => (e[$hasAttribute]("href") ? "link" : "generic"), ADDRESS: "group", AREA: (e) => (e[$hasAttribute]("href") ? "link" : "generic"),
    ARTICLE: "article", ASIDE: "complementary", AUDIO: "audio", BLOCKQUOTE: "blockquote", BUTTON: "button", CANVAS: "canvas",
    CAPTION: "caption", CODE: "code", DATALIST: "listbox", DD: "definition", DEL: "deletion", DETAILS: "group", DFN: "term",
    DIALOG: "dialog", DL: "list", DT: "term", EM: "emphasis", FIELDSET: "group", FIGURE: "figure",
    FOOTER: (e) => (inSection(e) ? "generic" : "contentinfo"), FORM: (e) => (label(e) ? "form" : "generic"),
    H1: "heading", H2: "heading", H3: "heading", H4: "heading", H5: "heading", H6: "heading",
    HEADER: (e) => (inSection(e) ? "generic" : "banner"), HR: "separator", HTML: "document", IFRAME: "iframe",
    IMG: (e) => (e[$getAttribute]("alt") === "" && !e.title ? "presentation" : "img"), INS: "insertion", LI: (e) => (e.parentElement?.tagName === "UL" && !e.parentElement[$hasAttribute]("role") || e[$closest]("ul,ol,menu,[role]")?.[$matches]("ul:not([role]),ol:not([role]),menu:not([role]),[role=list]") ? "listitem" : "generic"), MAIN: "main",
    MARK: "mark", MATH: "math", MENU: "list", METER: "meter", NAV: "navigation", OL: "list", OPTGROUP: "group", OPTION: "option",
    OUTPUT: "status", P: "paragraph", PROGRESS: "progressbar", SEARCH: "search", SECTION: (e) => (label(e) ? "region" : "generic"),
    SELECT: (e) => (e.multiple || e.size > 1 ? "listbox" : "combobox"), STRONG: "strong", SUB: "subscript",
    SUMMARY: (e) => (e.parentElement?.tagName === "DETAILS" ? "button" : "generic"), SUP: "superscript", SVG: "img", TABLE: "table", TBODY: (e) => (isLayout(e) ? "generic" : "rowgroup"),
    TD: (e) => (isLayout(e) ? "generic" : e[$closest]("[role=grid],[role=treegrid]") ? "gridcell" : "cell"), TEXTAREA: "textbox", TFOOT: "rowgroup",
    TH: (e) => (e.scope === "row" || e.scope === "rowgroup" ? "rowheader" : "columnheader"), THEAD: "rowgroup", TIME: "time", TR: (e) => (isLayout(e) ? "generic" : "row"), UL: "list", VIDEO: "video",
  };
  const KNOWN_ROLES = new Set(("alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox "
    + "complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic grid gridcell group heading img "
    + "image insertion link list listbox listitem log main mark marquee math menu menubar menuitem menuitemcheckbox menuitemradio meter navigation "
    + "none note option paragraph presentation progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox separator "
    + "slider spinbutton status strong subscript suggestion superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip "
    + "tree treegrid treeitem").split(" "));
  /** @param {El} e */
  const isLayout = (e) => e[$closest]("table")?.[$matches]("[role=presentation],[role=none]");
  /** @type {Record<string, string>} */
  const INPUTS = {
    button: "button", checkbox: "checkbox", color: "textbox", file: "button", hidden: "presentation", image: "button", number: "spinbutton",
    radio: "radio", range: "slider", reset: "button", search: "searchbox", submit: "button",
  };
  const FROM_CONTENT = new Set(["button", "cell", "checkbox", "columnheader", "gridcell", "heading", "link", "menuitem", "menuitemcheckbox",
    "menuitemradio", "option", "radio", "row", "rowheader", "switch", "tab", "tooltip", "treeitem"]);
  const INTERACTIVE = new Set(["button", "checkbox", "combobox", "link", "listbox", "menuitem", "menuitemcheckbox", "menuitemradio",
    "option", "radio", "searchbox", "slider", "spinbutton", "switch", "tab", "textbox", "treeitem"]);
  // Controls that may have other controls in them.
  const COMPOSITES = new Set(["combobox", "listbox", "treeitem"]);
  // Roles with a value within a range.
  const RANGES = new Set(["meter", "progressbar", "scrollbar", "separator", "slider", "spinbutton"]);
  const LANDMARKS = new Set(["banner", "complementary", "contentinfo", "form", "main", "navigation", "region", "search"]);
  const CHECKABLE = new Set(["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"]);
  const SILENT = new Set(["generic", "presentation", "emphasis", "strong", "mark", "subscript", "superscript", "insertion", "deletion", "code", "time"]);
  const HIDDEN_TAGS = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "HEAD", "META", "LINK", "TITLE", "BR", "WBR", "PARAM", "SOURCE", "TRACK", "COL", "COLGROUP"]);
  // Elements that only style part of the text around them, unless their style says otherwise.
  const STYLING = new Set(["ABBR", "B", "BDI", "BDO", "CITE", "CODE", "DATA", "DEL", "DFN", "EM", "FONT", "I", "INS", "KBD", "MARK", "Q", "S", "SAMP", "SMALL",
    "SPAN", "STRONG", "SUB", "SUP", "TIME", "U", "VAR"]);
  // Elements whose content is no text.
  const EMBEDDED = new Set(["AUDIO", "CANVAS", "EMBED", "IFRAME", "OBJECT", "VIDEO"]);
  const HANDLERS = ["onclick", "onmousedown", "onmouseup", "onpointerdown", "onpointerup", "ondblclick"];
  // The most options of a list that are reported.
  const OPTIONS = 50;
  // The longest text that is reported of an element, the most of all of them in one look, and the longest once there were more.
  const LONGEST = 200_000, MOST = 8_000_000, SHORT = 200;
  // The ellipsis tells the engine, which redacts secrets, that the end is missing.
  /** @type {(text: string, longest?: number) => string} */
  const cut = (text, longest = LONGEST) => (text.length > longest ? text.slice(0, longest - 1) + "…" : text);
  const PRESSED = new Set(["button", "submit", "reset", "image"]);
  const SVG = "http://www.w3.org/2000/svg";
  const FIELDS = new Set(["INPUT", "SELECT", "TEXTAREA"]);
  const NO_TEXT_INPUTS = new Set(["button", "submit", "reset", "checkbox", "radio", "file", "image", "range", "color", "hidden"]);

  // Element ids. An element keeps its id for as long as it exists.
  /** @type {WeakMap<Element, number>} */
  const ids = new WeakMap();
  /** @type {Map<number, WeakRef<Element>>} */
  const elements = new Map();
  let last = 0;
  // Ids start again at 1 in each document. This tells the documents apart.
  const documentId = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER);
  /** @param {Element} element */
  const idOf = (element) => {
    let id = ids.get(element);
    if (!id) {
      id = ++last;
      ids.set(element, id);
      elements.set(id, new WeakRef(element));
    }
    return id;
  };
  /** @type {(id: number) => El | null} */
  const elementOf = (id) => {
    const element = /** @type {El | undefined} */ (elements.get(id)?.deref());
    return element?.isConnected ? element : null;
  };

  // Shadow roots, including closed ones that the debugger opened for us. Changes in them are observed too.
  /** @type {WeakMap<Element, Root>} */
  const closedRoots = new WeakMap();
  /** @type {WeakSet<Node>} */
  const watched = new WeakSet();
  /** @type {WeakSet<Element>} */
  const tried = new WeakSet();
  /** @param {El} e */
  const rootOf = (e) => {
    const root = e.shadowRoot ?? closedRoots.get(e);
    if (root && !watched.has(root)) {
      watched.add(root);
      observer.observe(root, CHANGES);
    }
    return root;
  };

  // What is drawn in place of a slot: what was put into it, or else its own content.
  /** @param {El} slot @returns {AnyNode[]} */
  const filling = (slot) => {
    const given = list(slot[$assignedNodes]({ flatten: true }));
    return given.length ? given : list(slot.childNodes);
  };
  // The child nodes of an element as they are drawn: those of its shadow root, and what was put into its slots.
  /** @param {El} e @returns {Iterable<AnyNode>} */
  const nodesOf = (e) => {
    const own = (rootOf(e) ?? e).childNodes;
    for (let child = /** @type {AnyNode | null} */ (own[0]); child; child = child.nextSibling) {
      if (child.tagName === "SLOT") return list(own).flatMap((one) => (one.tagName === "SLOT" ? filling(one) : [one]));
    }
    return own;
  };
  /** @param {AnyNode} node */
  const isText = (node) => node.nodeType === Node.TEXT_NODE && /\S/.test(node.data);
  // Whether an element has text of its own, besides that of its children.
  /** @param {El} e */
  const hasWords = (e) => {
    for (let child = (rootOf(e) ?? e).firstChild; child; child = child.nextSibling) {
      if (child.tagName === "SLOT" ? filling(child).some(isText) : isText(child)) return true;
    }
    return false;
  };

  const SEEN = { visibilityProperty: true };
  const OPAQUE = { opacityProperty: true };
  /** @param {El} e */
  const isBoxless = (e) => getComputedStyle(e).display === "contents";
  // The area in which an element is drawn. One without a box of its own is where its content is.
  /** @param {El} e @returns {DOMRect} */
  const areaOf = (e) => {
    const box = e[$getBoundingClientRect]();
    if (box.width || box.height || !isBoxless(e)) return box;
    const parts = [...nodesOf(e)].map((node) => (node.nodeType === Node.TEXT_NODE ? rangeOf(node)[$getBoundingClientRect]() : node.nodeType === Node.ELEMENT_NODE ? areaOf(node) : box));
    const drawn = parts.filter((one) => one.width || one.height);
    if (!drawn.length) return box;
    const [left, top] = [Math.min(...drawn.map((one) => one.left)), Math.min(...drawn.map((one) => one.top))];
    return new DOMRect(left, top, Math.max(...drawn.map((one) => one.right)) - left, Math.max(...drawn.map((one) => one.bottom)) - top);
  };
  /** @param {Node} node */
  const rangeOf = (node) => {
    const range = document[$createRange]();
    range.selectNodeContents(node);
    return range;
  };
  /** @param {El} e @returns {boolean} */
  const isTransparent = (e) => {
    if (e[$checkVisibility](OPAQUE)) return false;
    const around = isBoxless(e) ? composedParent(e) : null;
    return around ? isTransparent(around) : e[$checkVisibility]();
  };
  // Whether an element shows nothing of its content: there is no room for it, or all of it is clipped.
  /** @param {El} e */
  const cutsAll = (e) => {
    const [width, height] = [e.offsetWidth, e.offsetHeight];
    if (width === undefined || width > 1 && height > 1 && !e[$hasAttributes]()) return false;
    const style = getComputedStyle(e);
    const isTiny = width <= 1 && height <= 1;
    // How the page itself overflows is about the window, whatever size its boxes have.
    const isPage = e === document.body || e === document.documentElement;
    if (!isPage && (isTiny || height === 0 || width === 0)) {
      const isCut = (isTiny || height === 0) && style.overflowY !== "visible" || (isTiny || width === 0) && style.overflowX !== "visible";
      if (isCut && style.display !== "inline" && style.display !== "contents") return e.firstChild != null || rootOf(e) != null;
    }
    const { clipPath, position } = style;
    if (clipPath.startsWith("inset(")) {
      const inset = clipPath.split("round")[0];
      const [down, across] = [lengths(inset, height), lengths(inset, width)];
      const right = across[1] ?? across[0];
      return down[0] + (down[2] ?? down[0]) > height - 1 || right + (across[3] ?? right) > width - 1;
    }
    if (clipPath !== "none") return /^circle\(0(px|%)?[ )]/.test(clipPath);
    if (position !== "absolute" && position !== "fixed" || style.clip === "auto") return false;
    const [top, right, bottom, left] = lengths(style.clip, 0);
    return right - left <= 1 || bottom - top <= 1;
  };
  // The lengths in a style, in pixels.
  /** @type {(text: string, whole: number) => number[]} */
  const lengths = (text, whole) => (text.match(/-?[\d.]+(px|%)?/g) ?? []).map((one) => parseFloat(one) * (one.endsWith("%") ? whole / 100 : 1));
  // Collapses white space. Checks first, because most texts need no change.
  /** @param {string} text */
  const fold = (text) => (/^ | $|  |[^\S ]/.test(text) ? text.replace(/\s+/g, " ").trim() : text);
  /** @param {string} text */
  const bare = (text) => text.replace(/\s+/g, "");

  /** @param {El} e @returns {string} */
  function roleOf(e) {
    const own = e[$getAttribute]("role");
    if (own) {
      const first = own.toLowerCase().split(/\s+/).find((one) => KNOWN_ROLES.has(one));
      if (first === "none" || first === "presentation") {
        // An element that can be focused is not decoration, even if its role says so.
        if (e.tabIndex < 0) return "presentation";
      } else if (first === "image") return "img";
      else if (first) return first;
    }
    const tag = e.tagName;
    if (tag === "INPUT") return e.list && !INPUTS[e.type] ? "combobox" : e.list && e.type === "search" ? "combobox" : INPUTS[e.type] ?? "textbox";
    const role = ROLES[tag] ?? ROLES[tag.toUpperCase()];
    if (typeof role === "function") return role(e);
    if (role) return role;
    return e.isContentEditable && e[$getAttribute]("contenteditable") != null ? "textbox" : "generic";
  }

  // Which parts of a text count: those that can be seen; for a name, also those that only a screen reader gets; or all.
  const [READABLE, NAMING, EVERY] = [0, 1, 2];
  // The text of an element.
  /** @type {(e: El, parts?: number, depth?: number) => string} */
  const textOf = (e, parts = NAMING, depth = 0) => {
    if (depth > 20) return "";
    const root = rootOf(e) ?? e;
    if (root === e && !e.firstElementChild) return e.tagName === "SLOT" ? slotted(e, parts, depth) : cut(e.textContent ?? "");
    let text = "";
    for (const child of root.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) text += child.data;
      else if (child.nodeType === Node.ELEMENT_NODE) text += partOf(child, parts, depth);
    }
    return text;
  };
  // The text of an element without that of the blocks in it, which are lines of their own.
  /** @param {El} e */
  const lineOf = (e) => {
    let text = "";
    for (const child of nodesOf(e)) {
      if (child.nodeType === Node.TEXT_NODE) text += child.data;
      else if (child.nodeType === Node.ELEMENT_NODE) text += child.tagName === "BR" || flows(child) ? partOf(child, READABLE, 0) : " ";
    }
    return text;
  };
  // Whether an element is part of the text around it, which its style decides. The style of a float, and of an item of a flex box
  // or grid, is that of a block whatever it was before; then the tag decides.
  /** @param {El} e */
  const flows = (e) => {
    const { display, float, position } = getComputedStyle(e);
    if (display.startsWith("inline") || display === "contents" || display.startsWith("ruby")) return true;
    if (!STYLING.has(e.tagName)) return false;
    const around = composedParent(e);
    return float !== "none" || position === "absolute" || position === "fixed" || around != null && /flex|grid/.test(getComputedStyle(around).display);
  };
  // Whether the content of an element is one line of text.
  /** @type {(e: El, depth?: number) => boolean} */
  const isLine = (e, depth = 0) => {
    for (const child of nodesOf(e)) {
      if (child.nodeType !== Node.ELEMENT_NODE || HIDDEN_TAGS.has(child.tagName)) continue;
      const role = roleOf(child);
      if (EMBEDDED.has(child.tagName) || INTERACTIVE.has(role) && role !== "link") return false;
      if (!flows(child) ? getComputedStyle(child).display !== "none" : depth > 20 || !isLine(child, depth + 1)) return false;
    }
    return true;
  };
  /** @type {(slot: El, parts: number, depth: number) => string} */
  const slotted = (slot, parts, depth) => {
    let text = "";
    for (const node of list(slot[$assignedNodes]({ flatten: true }))) text += node.nodeType === Node.TEXT_NODE ? node.data : partOf(node, parts, depth);
    return text;
  };
  /** @type {(child: El, parts: number, depth: number) => string} */
  const partOf = (child, parts, depth) => {
    if (child.tagName === "BR") return " ";
    if (child.nodeType !== Node.ELEMENT_NODE || HIDDEN_TAGS.has(child.tagName) || parts !== EVERY && isHidden(child)) return "";
    if (parts === READABLE && (isTransparent(child) || cutsAll(child))) return "";
    const isPlain = !child[$hasAttributes]();
    // The name of a tree item does not include its subtree.
    if (!isPlain && child[$getAttribute]("role") === "group") return "";
    // The value of a field counts before its label.
    const isField = ["INPUT", "TEXTAREA", "SELECT"].includes(child.tagName) && !NO_TEXT_INPUTS.has(child.type);
    let inner = isPlain || isField ? "" : fold(child[$getAttribute]("aria-label") ?? "");
    if (!inner) {
      if (child.tagName === "IMG") inner = child.alt;
      else if (child.tagName === "INPUT" || child.tagName === "TEXTAREA") inner = NO_TEXT_INPUTS.has(child.type) ? (PRESSED.has(child.type) ? child.value ?? "" : "") : child.type === "password" ? "" : child.value ?? "";
      else if (child.tagName === "SELECT") inner = list(child.selectedOptions).map((option) => option.label).join(" ");
      else if (child.tagName === "SLOT") inner = slotted(child, parts, depth + 1);
      else if (child.tagName.toUpperCase() === "SVG") inner = child[$querySelector](":scope > title")?.textContent ?? "";
      else inner = textOf(child, parts, depth + 1);
    }
    const { display } = getComputedStyle(child);
    return display.startsWith("inline") || display === "contents" ? inner : ` ${inner} `;
  };

  /** @type {(e: El, attribute: string) => string} */
  const byIds = (e, attribute) => {
    const list = e[$getAttribute](attribute);
    if (!list) return "";
    const root = e[$getRootNode]();
    /** @param {El} found */
    const words = (found) => fold(found[$getAttribute]("aria-label") ?? "") || (found === e || found.type === "password" ? "" : ["INPUT", "TEXTAREA"].includes(found.tagName) ? found.value : "")
      || fold(found.alt ?? "") || textOf(found, isHidden(found) ? EVERY : NAMING);
    return fold(list.split(/\s+/).map((id) => /** @type {El | null} */ (root[$getElementById]?.(id))).filter((found) => found != null).map(words).join(" "));
  };

  // The labels of each control during a look. `e.labels` is a live list that searches the whole document for each control
  // after every change, which would make a form with a thousand fields quadratic.
  /** @type {Map<El, El[]> | null} */
  let labels = null;
  /** @param {El} e */
  const labelsOf = (e) => (labels ? labels.get(e) : e.labels);
  /** @param {Document | Root} root */
  const collectLabels = (root) => {
    for (const one of /** @type {Iterable<El>} */ (/** @type {Iterable<Element>} */ (list(root[$querySelectorAll]("label"))))) {
      const control = one.control;
      if (control) labels?.set(control, [...(labels.get(control) ?? []), one]);
    }
  };

  // What shows a control that is not drawn itself: its label, as with most styled checkboxes, or the box around a field. A touch of it
  // is one of the control.
  /** @param {El} e @returns {El | null} */
  const standIn = (e) => {
    const own = labelsOf(e);
    if (!own?.length && !FIELDS.has(e.tagName) || isDrawn(e)) return null;
    return list(own ?? []).find((one) => one[$checkVisibility](SEEN) && isDrawn(one)) ?? boxAround(e);
  };
  // The box that a library draws in place of a field which is only there for the keyboard: the field is not drawn, transparent, or
  // takes no touches, and the pointer says that a press of the box does something. A box around several fields stands for none.
  /** @param {El} e @returns {El | null} */
  const boxAround = (e) => {
    if (!FIELDS.has(e.tagName) || e.type === "hidden" || isDrawn(e) && !isTransparent(e) && getComputedStyle(e).pointerEvents !== "none") return null;
    for (let up = composedParent(e); up && up !== document.body; up = composedParent(up)) {
      const fields = /** @type {El[]} */ (list(up[$querySelectorAll]([...FIELDS].join())));
      if (fields.some((other) => other !== e && other[$checkVisibility]())) return null;
      if (isDrawn(up) && (HANDLERS.some((name) => up?.[$hasAttribute](name)) || PRESSING.test(getComputedStyle(up).cursor))) return up;
    }
    return null;
  };
  // The cursors of what can be pressed or dragged.
  const PRESSING = /^(pointer|grab|move|.*resize)$/;
  // Whether something of an element is drawn: it has a size, and neither it nor a wrapper around nothing else clips it away.
  /** @param {El} e */
  const isDrawn = (e) => {
    const box = areaOf(e);
    if (box.width < 2 || box.height < 2 || box.right + window.scrollX <= 0 || box.bottom + window.scrollY <= 0 || cutsAll(e)) return false;
    for (let up = e.parentElement; up && up.childElementCount === 1 && up !== document.body; up = up.parentElement) if (cutsAll(/** @type {El} */ (up))) return false;
    return true;
  };
  // Whether a control that is not rendered works by its label alone.
  /** @param {El} e */
  const isPressed = (e) => e.tagName === "INPUT" && NO_TEXT_INPUTS.has(e.type) && e.type !== "hidden" && e.type !== "range" && e.type !== "color";

  // The name of an element from anything but its content.
  /** @param {El} e @returns {string} */
  function label(e) {
    const own = labelsOf(e);
    if (!e[$hasAttributes]() && !own) return e.tagName === "FIELDSET" || e.tagName === "TABLE" || e.tagName === "FIGURE" ? inner(e) : "";
    const named = byIds(e, "aria-labelledby") || fold(e[$getAttribute]("aria-label") ?? "");
    if (named) return named;
    if (own?.length) {
      const text = fold(list(own).map((one) => labelText(one, e)).join(" "));
      if (text) return text;
    }
    if (e.tagName === "IMG" || e.tagName === "AREA" || e.tagName === "INPUT" && e.type === "image") return fold(e.alt ?? "");
    if (e.tagName === "INPUT" && PRESSED.has(e.type)) return e.value || /** @type {Record<string, string>} */ ({ submit: "Submit", reset: "Reset" })[e.type] || "";
    if (e.tagName === "INPUT" && e.type === "file") return "Choose File";
    if (e.tagName === "OPTGROUP") return e.label;
    return inner(e);
  }
  /** @param {El} e */
  const inner = (e) => {
    const named = e.namespaceURI === SVG ? "title" : /** @type {Record<string, string>} */ ({ FIELDSET: "legend", TABLE: "caption", FIGURE: "figcaption" })[e.tagName];
    const found = named && /** @type {El | null} */ (e[$querySelector](`:scope > ${named}`));
    return found ? fold(textOf(found)) : "";
  };
  // A label may contain its control, whose text is not part of the name.
  /** @type {(one: El, control: El) => string} */
  const labelText = (one, control) => {
    if (!one[$contains](control)) return textOf(one);
    let text = "";
    for (const child of one.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) text += child.data;
      else if (child.nodeType === Node.ELEMENT_NODE && child !== control) text += child[$contains](control) ? labelText(child, control) : partOf(child, NAMING, 0);
    }
    return text;
  };

  // `text` is the text of the element, if it is known.
  /** @type {(e: El, role: string, text?: string | null) => string} */
  function nameOf(e, role, text = null) {
    const named = label(e) || (FROM_CONTENT.has(role) ? text ?? fold(textOf(e)) : "");
    if (named || !e[$hasAttributes]()) return named;
    return fold(e[$getAttribute]("title") ?? "")
      || fold(e[$getAttribute]("placeholder") ?? "") || fold(e[$getAttribute]("aria-placeholder") ?? "");
  }

  /** @param {El} e */
  function isHidden(e) {
    if (!e[$checkVisibility]({ visibilityProperty: true, contentVisibilityAuto: false })) {
      // Its children may still be shown.
      return getComputedStyle(e).display !== "contents";
    }
    return e[$getAttribute]("aria-hidden") === "true" || e.inert === true;
  }

  /** @param {El} e */
  const testIdOf = (e) => e[$getAttribute]("data-testid") ?? e[$getAttribute]("data-test-id") ?? e[$getAttribute]("data-test");
  /** @param {El} e */
  const isDisabled = (e) => e.disabled === true || e[$matches](":disabled") || e[$closest]("[aria-disabled=true]") != null;
  /** @param {El} e */
  const isEditable = (e) => e.tagName === "TEXTAREA" || e.tagName === "INPUT" && !NO_TEXT_INPUTS.has(e.type) || e.isContentEditable;
  // The value of something within a range: a slider, a progress bar.
  /** @type {(e: El, role: string) => string | null} */
  const rangeValueOf = (e, role) => {
    if (e.tagName === "PROGRESS") return e[$hasAttribute]("value") ? String(e.value) : null;
    if (e.tagName === "METER" || e.tagName === "INPUT") return String(e.value);
    return RANGES.has(role) ? fold(e[$getAttribute]("aria-valuetext") ?? "") || e[$getAttribute]("aria-valuenow") : null;
  };
  /** @param {El} e */
  const checkedOf = (e) => (e.checked ?? e[$getAttribute]("aria-checked") === "true");
  const focused = () => {
    let e = /** @type {El | null} */ (document.activeElement);
    for (let inner = e; inner; inner = rootOf(inner)?.activeElement ?? null) e = inner;
    return e;
  };

  // Whether a selector matches an element. Shadow roots do not end a match: their content is inside of their host.
  /** @type {(e: El, selector: string) => boolean} */
  const matches = (e, selector) => e[$matches](selector) || e[$getRootNode]().host != null && chainsOf(selector).some((chain) => isAtEnd(e, chain, chain.length - 1));
  /** @type {(e: El, chain: Link[], at: number) => boolean} */
  const isAtEnd = (e, chain, at) => {
    if (!e[$matches](chain[at].compound)) return false;
    if (at === 0) return true;
    const { by } = chain[at];
    const next = by === "+" || by === "~" ? /** @param {El} one */ (one) => /** @type {El | null} */ (one.previousElementSibling) : treeParent;
    for (let one = next(e); one; one = next(one)) {
      if (isAtEnd(one, chain, at - 1)) return true;
      if (by === "+" || by === ">") return false;
    }
    return false;
  };
  /** @type {Map<string, Link[][]>} */
  const chains = new Map();
  // The parts of a valid selector, between commas and combinators.
  /** @param {string} selector @returns {Link[][]} */
  const chainsOf = (selector) => {
    let found = chains.get(selector);
    if (found) return found;
    const tokens = selector.match(/(?:\\.|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^\\"'])/gsu) ?? [];
    found = [[]];
    let [compound, by, depth] = ["", "", 0];
    const end = () => {
      if (compound) found?.at(-1)?.push({ compound, by: by || " " });
      [compound, by] = ["", ""];
    };
    for (const token of tokens) {
      if (token === "(" || token === "[") depth++;
      else if (token === ")" || token === "]") depth--;
      if (depth === 0 && /^[\s>+~,]$/.test(token)) {
        // The combinator before a compound is kept with it.
        if (compound) end();
        if (token === ",") found.push([]);
        else if (token.trim()) by = token;
      } else compound += token;
    }
    end();
    chains.set(selector, found);
    return found;
  };

  const [IN_TEXT, IN_LABEL, IN_CONTROL, IN_CUT, IN_WHOLE] = [1, 2, 4, 8, 16];
  /** @type {string[]} */
  const NONE = [];
  // Elements that are known only by the line of text in them, which is what is touched.
  /** @type {WeakSet<El>} */
  const lines = new WeakSet();

  // One look: what is requested, and what has been found so far.
  class Reading {
    /** @param {Want} want */
    constructor(want) {
      this.css = list(want.css ?? []);
      this.only = want.only;
      this.target = want.target;
      this.marksCovered = want.covered === true;
      // What to report in addition: everything that is rendered; parts of texts, and texts split over several elements; hidden
      // elements that may match. And what to leave out: content that nobody can see, because it is transparent or clipped.
      this.tellsAll = want.all === true;
      this.isVisibleOnly = want.visible === true;
      this.tellsTexts = want.texts === true;
      this.onlyHidden = want.hidden;
      this.left = MOST;
      // The CSS selectors of elements, if requested, and the steps that they consist of.
      /** @type {Map<El, string> | null} */
      this.paths = want.paths ? new Map() : null;
      /** @type {Map<El, string>} */
      this.steps = new Map();
      this.marksClipped = want.shown === true;
      // The part of the window in which each element shows its content.
      /** @type {Map<El, Clip | null>} */
      this.clips = new Map();
      this.focus = focused();
      // The innermost element around that clips its content to nothing.
      /** @type {El | null} */
      this.cutter = null;
      /** @type {El[]} */
      this.found = [];
      // Elements that may have a closed shadow root.
      /** @type {number[]} */
      this.shut = [];
      this.isAnyDisabled = this.isAnyEditable = false;
      this.enter(document);
    }

    // Finds out what no element of this tree has, so that it need not be checked for each.
    /** @param {Document | Root} root */
    enter(root) {
      this.isAnyDisabled ||= root[$querySelector](":disabled,[aria-disabled=true]") != null;
      this.isAnyEditable ||= root[$querySelector]("[contenteditable]") != null;
      collectLabels(root);
    }

    // `within` is a bit set of what the element is inside of: text, a label, a control, an element that shows nothing of it, a
    // text that includes its blocks.
    /** @type {(e: El, out: SeenNode[], within: number) => void} */
    read(e, out, within) {
      if (HIDDEN_TAGS.has(e.tagName)) return;
      let isSeen = e[$checkVisibility](SEEN);
      if (!isSeen) {
        const style = getComputedStyle(e);
        // The children of an invisible element may be visible; those of one that is not rendered are not. An element without a
        // box has its content.
        if (style.display === "none" || style.display !== "contents" && style.visibility === "visible") {
          return this.tellHidden(e, out, style.display === "none" ? "`display: none`" : "something around it");
        }
        isSeen = style.visibility === "visible";
        if (!isSeen) this.tellHidden(e, out, `\`visibility: ${style.visibility}\``, false);
      }
      const isPlain = !e[$hasAttributes]();
      if (!isPlain && (e[$getAttribute]("aria-hidden") === "true" || e.inert === true)) {
        const before = out.length;
        if (e.inert !== true) this.readDecoration(e, out);
        return out.length > before ? undefined : this.tellHidden(e, out, (e.inert === true ? "`inert`" : "`aria-hidden`") + this.modalOver(e));
      }
      let role = roleOf(e);
      const testId = isPlain ? null : testIdOf(e);
      // A field named `id` shadows the `id` property of its form.
      const id = isPlain ? null : e[$getAttribute]("id");
      const isField = this.isAnyEditable && e.isContentEditable && e[$hasAttribute]("contenteditable");
      // A label is represented by its control, and an element that only styles some words by the text around it.
      const control = e.tagName === "LABEL" ? e.control : null;
      const hasControl = control != null && control[$closest]("[aria-hidden=true],[inert]") == null && (control[$checkVisibility](SEEN) || isPressed(control));
      const isLabel = (within & IN_LABEL) !== 0 || hasControl;
      const isControl = INTERACTIVE.has(role) || isField;
      const isFocusable = !isPlain && e[$hasAttribute]("tabindex") && e.tabIndex >= 0;
      const isClickable = !isControl && isSeen && !isLabel && this.isClickable(e, isPlain, within);
      const isInteractive = isControl || isFocusable || isClickable;
      if (isInteractive && role === "presentation") role = e.tagName === "IMG" ? "img" : "generic";
      const asked = this.css.length ? this.css.filter((selector) => matches(e, selector)) : NONE;
      const shadow = rootOf(e);
      const isMixed = shadow != null || e.firstElementChild != null;
      const isCutOff = this.isVisibleOnly && this.isCutOff(e, within);
      const isCut = isCutOff || this.isVisibleOnly && cutsAll(e);
      if (isSeen && this.isVisibleOnly && e.tagName !== "IFRAME") {
        const how = isCut && !this.isUsable(e, isCutOff) ? "it is clipped to nothing" : !isInteractive && isTransparent(e) ? "`opacity: 0`" : null;
        // Something inside of it may be seen nevertheless.
        if (how) {
          this.tellHidden(e, out, how, false);
          isSeen = false;
        }
      }
      let own = "";
      let isUnlisted = false;
      if (isSeen && e.tagName !== "TEXTAREA") {
        // A paragraph reads as one text, even if some of its words are styled.
        if (!isMixed) own = e.firstChild ? fold(e.textContent ?? "") : "";
        else if (hasWords(e)) own = fold(FROM_CONTENT.has(role) ? textOf(e, READABLE) : lineOf(e));
        else if (this.tellsTexts && !isLabel && !FROM_CONTENT.has(role) && isLine(e)) {
          own = fold(textOf(e, READABLE));
          isUnlisted = own !== "";
        }
      }
      const holdsText = own !== "" && !isUnlisted;
      // An element requested by a CSS selector is reported with its whole text.
      if (isMixed && this.target != null && asked.includes(this.target)) own = fold(textOf(e, READABLE));
      const name = isSeen && role !== "presentation" ? nameOf(e, role, isMixed ? null : own) : "";
      const isStyling = (within & IN_TEXT) !== 0 && !isInteractive && !testId && !id && (STYLING.has(e.tagName) ? (within & IN_WHOLE) !== 0 || flows(e) : SILENT.has(role) && flows(e));
      const isListed = isSeen && (!isLabel || isInteractive) && !isStyling
        && (isInteractive || holdsText || name !== "" || Boolean(testId) || Boolean(id) || !SILENT.has(role)) || isSeen && asked.length > 0;
      isUnlisted ||= !isListed && this.tellsTexts && isStyling && own !== "";
      if (isUnlisted) lines.add(e);
      else lines.delete(e);
      let children = out;
      if (isListed || isUnlisted || this.tellsAll && isSeen) {
        const node = this.describe(e, { role, name, own, id, testId, isInteractive, asked });
        if (isUnlisted) node.u = 1;
        if (isFocusable && !isControl && !isClickable) node.x = 2;
        children = this.report(e, node, out);
      }
      if (control && hasControl && isSeen && !control[$checkVisibility](SEEN) && standIn(control) === e) children = this.readControl(control, children);
      if (e.tagName === "SELECT" || e.tagName === "IFRAME") return;
      if (e.tagName === "DETAILS" && !e.open) {
        const summary = e[$querySelector](":scope > summary");
        for (const child of e.children) {
          if (child === summary) this.read(child, children, within & IN_CONTROL);
          else this.tellHidden(child, children, "its `details` are closed");
        }
        return;
      }
      const beneath = (holdsText || isStyling ? IN_TEXT : 0) | (isLabel ? IN_LABEL : 0) | (isControl && !COMPOSITES.has(role) || isClickable ? IN_CONTROL : within & IN_CONTROL) | (isCut ? IN_CUT : 0)
        | (holdsText && FROM_CONTENT.has(role) || isStyling && (within & IN_WHOLE) !== 0 ? IN_WHOLE : 0);
      const outer = this.cutter;
      if (isCut) this.cutter = e;
      if (!shadow && e.tagName.includes("-") && !tried.has(e)) {
        tried.add(e);
        this.shut.push(idOf(e));
      }
      if (shadow) this.enter(shadow);
      const root = shadow ?? e;
      for (let child = root.firstElementChild; child; child = child.nextElementSibling) {
        if (child.tagName === "SLOT") {
          const given = list(child[$assignedElements]({ flatten: true }));
          for (const one of given.length ? given : child.children) this.read(one, children, beneath);
        } else this.read(child, children, beneath);
      }
      this.cutter = outer;
    }

    // Adds an element to the report, if it may be requested; where its children are to be added.
    /** @type {(e: El, node: SeenNode, out: SeenNode[]) => SeenNode[]} */
    report(e, node, out) {
      // Not requested, but its children may be.
      if (this.only && !this.isWanted(node, this.only)) return out;
      node.i = idOf(e);
      out.push(node);
      this.found.push(e);
      return node.c = [];
    }

    // The root element, which only CSS finds. Pages keep their theme, their language and the like in it.
    /** @type {(e: El, out: SeenNode[]) => SeenNode[]} */
    readRoot(e, out) {
      const asked = this.css.filter((selector) => matches(e, selector));
      if (!asked.length) return out;
      const known = { role: "generic", name: "", own: "", id: e[$getAttribute]("id"), testId: testIdOf(e), isInteractive: false, asked };
      return this.report(e, this.describe(e, known), out);
    }

    // A control that is not rendered, at the place of its label.
    /** @type {(e: El, out: SeenNode[]) => SeenNode[]} */
    readControl(e, out) {
      const role = roleOf(e);
      const asked = this.css.filter((selector) => matches(e, selector));
      const known = { role, name: nameOf(e, role), own: "", id: e[$getAttribute]("id"), testId: testIdOf(e), isInteractive: true, asked };
      return this.report(e, this.describe(e, known), out);
    }

    // The dialog that keeps people from the rest of the page, in words.
    /** @param {El} e */
    modalOver(e) {
      const modals = this.onlyHidden ? /** @type {El[]} */ (list(document[$querySelectorAll]("dialog[open], [aria-modal=true]"))) : [];
      const modal = modals.findLast((one) => one[$checkVisibility](SEEN) && !e[$contains](one));
      return modal ? `, while ${summary(modal)} is open` : "";
    }

    // CSS finds what is drawn, even if it is kept from screen readers, such as a handle that only a pointer can drag.
    /** @type {(e: El, out: SeenNode[]) => void} */
    readDecoration(e, out) {
      if (!this.css.length || HIDDEN_TAGS.has(e.tagName)) return;
      const asked = this.css.filter((selector) => matches(e, selector));
      let children = out;
      if (asked.length && e[$checkVisibility](SEEN)) {
        const role = roleOf(e);
        const own = e.tagName === "TEXTAREA" ? "" : fold(textOf(e, READABLE));
        const known = { role, name: label(e), own, id: e[$getAttribute]("id"), testId: testIdOf(e), isInteractive: INTERACTIVE.has(role), asked };
        children = this.report(e, this.describe(e, known), out);
      }
      for (const child of /** @type {El[]} */ (list((rootOf(e) ?? e).children))) this.readDecoration(child, children);
    }

    // Whether nothing of an element is seen because of an element around it. One that is positioned relative to something further
    // outside is not clipped.
    /** @type {(e: El, within: number) => boolean} */
    isCutOff(e, within) {
      if (!(within & IN_CUT) || !this.cutter) return false;
      const { position } = getComputedStyle(e);
      return position !== "fixed" && (position !== "absolute" || isWithin(e.offsetParent, this.cutter));
    }

    // Whether a clipped control can be used: a field takes keys all the same, and a label may show the control.
    /** @type {(e: El, isCutOff: boolean) => boolean} */
    isUsable(e, isCutOff) {
      if (isEditable(e) || !isCutOff && ["INPUT", "SELECT"].includes(e.tagName)) return true;
      const shown = standIn(e);
      return shown != null && !isWithin(shown, this.cutter ?? undefined);
    }

    // Whether a click seems to do something although the role does not say so: there is a handler in the markup, or the
    // pointer becomes a hand on it but not on its parent.
    /** @type {(e: El, isPlain: boolean, within: number) => boolean} */
    isClickable(e, isPlain, within) {
      if (e === document.body) return false;
      if (!isPlain && HANDLERS.some((name) => e[$hasAttribute](name))) return true;
      if (within & IN_CONTROL || getComputedStyle(e).cursor !== "pointer") return false;
      const around = composedParent(e);
      return !around || getComputedStyle(around).cursor !== "pointer";
    }

    // Hidden elements are reported only if they may match, with what hides them.
    /** @type {(e: El, out: SeenNode[], how: string, isDeep?: boolean) => void} */
    tellHidden(e, out, how, isDeep = true) {
      if (!this.onlyHidden || HIDDEN_TAGS.has(e.tagName)) return;
      const role = roleOf(e);
      const own = e.tagName !== "TEXTAREA" && (!e.firstElementChild || hasWords(e)) ? fold(textOf(e, EVERY)) : "";
      const name = label(e) || (FROM_CONTENT.has(role) ? fold(textOf(e, EVERY)) : "");
      const asked = this.css.filter((selector) => matches(e, selector));
      const [id, testId, isInteractive] = [e[$getAttribute]("id"), testIdOf(e), INTERACTIVE.has(role)];
      const node = this.describe(e, { role, name, own, id, testId, isInteractive, asked });
      if (this.isWanted(node, this.onlyHidden)) out.push({ ...node, i: idOf(e), y: how, g: undefined });
      if (isDeep) for (const child of (rootOf(e) ?? e).children) this.tellHidden(child, out, how);
    }

    /** @type {(e: El, known: Known) => SeenNode} */
    describe(e, { role, name, own, id, testId, isInteractive, asked }) {
      let box = areaOf(standIn(e) ?? e);
      // What is positioned gives the page no size, and the page is seen all the same.
      const isPage = e === document.body || e === document.documentElement;
      if (isPage && !(box.width > 0 && box.height > 0)) box = new DOMRect(0, 0, window.innerWidth, window.innerHeight);
      /** @type {SeenNode} */
      const node = { r: role, b: [Math.round(box.left), Math.round(box.top), Math.round(box.right), Math.round(box.bottom)] };
      if (name) node.n = this.cut(name);
      if (own && own === name) node.m = 1;
      else if (own) node.t = this.cut(own);
      if (testId) node.q = testId;
      if (id) node.j = id;
      if (asked.length) node.s = asked[0];
      else if (this.paths) node.s = this.pathOf(e);
      else if (id) {
        const css = "#" + CSS.escape(id);
        // Left out when it is just `#` and the id, as it mostly is.
        if (css.length !== id.length + 1) node.s = css;
      }
      if (isInteractive) node.x = 1;
      if (this.isAnyDisabled && isDisabled(e)) node.d = 1;
      if (LANDMARKS.has(role)) node.l = 1;
      if (role === "heading") node.h = Number(e[$getAttribute]("aria-level")) || Number(e.tagName[1]) || 2;
      if (CHECKABLE.has(role)) node.k = checkedOf(e) ? 1 : 0;
      if (e[$hasAttributes]() && (e.selected || e[$getAttribute]("aria-selected") === "true")) node.e = 1;
      if (e === this.focus && e !== document.body) node.f = 1;
      if (e.tagName === "TEXTAREA" || e.tagName === "INPUT" && !NO_TEXT_INPUTS.has(e.type) || this.isAnyEditable && role === "textbox" && e.isContentEditable) {
        if (e.tagName === "INPUT" || e.tagName === "TEXTAREA" || e[$hasAttribute]("contenteditable")) node.w = e.readOnly ? 0 : 1;
        if (e.type === "password") node.p = 1;
        else if (e.value) node.v = this.cut(e.value);
      } else if (e.tagName === "SELECT") {
        node.v = list(e.selectedOptions).map((option) => fold(option.label)).join(", ");
        node.a = list(e.options).slice(0, OPTIONS).map((option) => fold(option.label)).join(" | ") + (e.options.length > OPTIONS ? " | …" : "");
      }
      else if (e.type === "range" || RANGES.has(role)) {
        const value = rangeValueOf(e, role);
        if (value) node.v = value;
      }
      if (e.tagName === "IFRAME") node.g = [Math.round(box.left + e.clientLeft), Math.round(box.top + e.clientTop)];
      if (this.marksCovered && isInteractive && box.width && box.height) {
        const got = hit((box.left + box.right) / 2, (box.top + box.bottom) / 2);
        if (got && !reaches(got, e)) node.o = 1;
      }
      // An element outside the window is off screen anyway.
      const isInWindow = box.right > 0 && box.bottom > 0 && box.left < window.innerWidth && box.top < window.innerHeight;
      if (this.marksClipped && isInWindow && this.isClipped(e, box)) node.z = 1;
      return node;
    }

    // What is reported of a text. Pages may have any amount of it.
    /** @param {string} text */
    cut(text) {
      const reported = cut(text, this.left > 0 ? LONGEST : SHORT);
      this.left -= reported.length;
      return reported;
    }

    // A CSS selector that matches only this element in its frame.
    /** @param {El} e @returns {string} */
    pathOf(e) {
      let path = this.paths?.get(e);
      if (path) return path;
      const own = e[$getAttribute]("id");
      const id = own && "#" + CSS.escape(own);
      const { host } = e[$getRootNode]();
      const around = treeParent(e);
      if (id && e[$getRootNode]()[$querySelectorAll](id).length === 1) path = host ? `${this.pathOf(host)} ${id}` : id;
      else path = around ? `${this.pathOf(around)} > ${this.stepOf(e)}` : CSS.escape(e.localName);
      this.paths?.set(e, path);
      return path;
    }

    // Numbers all children of the parent in one go, because lists are long.
    /** @param {El} e */
    stepOf(e) {
      if (!this.steps.has(e)) {
        const children = /** @type {El[]} */ (list(e.parentNode?.children ?? []));
        const counts = new Map();
        for (const child of children) counts.set(child.localName, (counts.get(child.localName) ?? 0) + 1);
        const numbers = new Map();
        for (const child of children) {
          const [name, number] = [child.localName, (numbers.get(child.localName) ?? 0) + 1];
          numbers.set(name, number);
          this.steps.set(child, CSS.escape(name) + (counts.get(name) > 1 ? `:nth-of-type(${number})` : ""));
        }
      }
      return this.steps.get(e);
    }

    // Whether a box around it has scrolled it out of view or cuts it off.
    /** @type {(e: El, box: DOMRect) => boolean} */
    isClipped(e, box) {
      const clip = this.clipOf(composedParent(e));
      if (!clip || box.right > clip.left && box.left < clip.right && box.bottom > clip.top && box.top < clip.bottom) return false;
      // An element that is positioned relative to something outside of the box is not clipped by it.
      for (let up = /** @type {El | null} */ (e); up && up !== clip.by; up = composedParent(up)) {
        const { position } = getComputedStyle(up);
        if (position === "fixed" || position === "absolute" && !isWithin(up.offsetParent, clip.by)) return false;
      }
      return true;
    }

    /** @param {El | null} e @returns {Clip | null} */
    clipOf(e) {
      if (!e || e === document.body || e === document.documentElement) return null;
      let clip = this.clips.get(e);
      if (clip !== undefined) return clip;
      clip = this.clipOf(composedParent(e));
      const overflows = e.scrollHeight > e.clientHeight || e.scrollWidth > e.clientWidth;
      if (overflows && e.clientHeight && getComputedStyle(e).overflow !== "visible") {
        const box = e[$getBoundingClientRect]();
        const outer = clip ?? { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };
        clip = {
          by: e, left: Math.max(box.left, outer.left), top: Math.max(box.top, outer.top),
          right: Math.min(box.right, outer.right), bottom: Math.min(box.bottom, outer.bottom),
        };
      }
      this.clips.set(e, clip);
      return clip;
    }

    // Whether it may match. May be true for too many, never for too few: the search itself is done by the engine.
    /** @type {(node: SeenNode, wanted: Wanted) => boolean} */
    isWanted(node, { is, has, like, id, role, css }) {
      if (node.r === "iframe") return true;
      if (role && node.r !== role) return false;
      if (css && node.s !== css) return false;
      if (id && ![node.q, node.j].some((own) => own != null && (own === id || "#" + own === id || own.endsWith("/" + id)))) return false;
      const words = () => [node.n, node.t, node.v].flatMap((text) => (text ? [bare(text)] : []));
      if (is != null && !words().includes(is) || has != null && !words().some((text) => text.includes(has))) return false;
      // A snapshot prints a field as its name and its value.
      return like == null || [...words(), bare(`${node.n}:${node.v}`)].some((text) => text.toLowerCase().includes(like));
    }
  }

  /** @param {Want} want @returns {[Look, El[]]} */
  function look(want) {
    for (const selector of list(want.css ?? [])) {
      try { document.createDocumentFragment()[$querySelector](selector); } catch { return [{ wrong: `\`${selector}\` is not a valid CSS selector` }, []]; }
    }
    labels = new Map();
    try {
      return read(want);
    } finally {
      labels = null;
    }
  }

  // Whether an animation ends soon, so that something may appear, move or go. Spinners never end.
  /** @param {Animation} one */
  const isEnding = (one) => {
    const { endTime, localTime } = one.effect?.getComputedTiming() ?? {};
    return one.playState === "running" && Number(endTime) - Number(localTime ?? 0) <= 1000;
  };
  /** @param {Want} want @returns {[Look, El[]]} */
  function read(want) {
    const reading = new Reading(want);
    /** @type {SeenNode[]} */
    const nodes = [];
    const page = document.documentElement;
    const within = page && window === window.parent ? reading.readRoot(/** @type {El} */ (page), nodes) : nodes;
    if (document.body) reading.read(/** @type {El} */ (document.body), within, 0);
    const seen = {
      document: documentId,
      url: cut(location.href), origin: window.origin === "null" ? location.origin : window.origin,
      title: cut(document.title, SHORT * 10), width: window.innerWidth, height: window.innerHeight, left: Math.round(window.scrollX), top: Math.round(window.scrollY),
      fullWidth: Math.max(page?.scrollWidth ?? 0, window.innerWidth), fullHeight: Math.max(page?.scrollHeight ?? 0, window.innerHeight), nodes,
      shut: reading.shut, moves: list(document[$getAnimations]()).some(isEnding),
    };
    return [seen, reading.found];
  }

  // The element of this frame that receives a touch at a point, looking into shadow roots.
  /** @type {(x: number, y: number) => El | null} */
  function hit(x, y) {
    let found = /** @type {El | null} */ (document[$elementFromPoint](x, y));
    for (let root = found && rootOf(found); found && root; root = rootOf(found)) {
      let within = root[$elementFromPoint](x, y);
      // A text that was put into a slot counts as its host there; the element around the slot is the one below it.
      if (within?.[$getRootNode]() !== root) within = /** @type {El | undefined} */ (root[$elementsFromPoint](x, y)[0]) ?? null;
      if (!within || within[$getRootNode]() !== root) break;
      found = within;
    }
    return found;
  }

  /** @param {El} e */
  const summary = (e) => {
    const role = roleOf(e);
    // The ellipsis tells the engine, which redacts secrets, that the end is missing.
    const name = nameOf(e, role) || fold(textOf(e)).replace(/^(.{60}).+/su, "$1…");
    const tag = role === "generic" ? e.tagName.toLowerCase() + (e[$getAttribute]("id") ? "#" + e[$getAttribute]("id") : "") : role;
    return name ? `${tag} "${name}"` : tag;
  };

  // The slot that an element was put into. Scripts are not told that of a closed root.
  /** @param {El} e @returns {El | null} */
  const slotOf = (e) => {
    const root = e.assignedSlot || !e.parentElement ? null : closedRoots.get(e.parentElement);
    if (!root) return e.assignedSlot;
    return /** @type {El[]} */ (/** @type {Element[]} */ (list(root[$querySelectorAll]("slot")))).find((slot) => list(slot[$assignedNodes]()).some((one) => one === e)) ?? null;
  };
  /** @type {(e: El) => El | null} */
  const treeParent = (e) => e.parentElement ?? e[$getRootNode]().host ?? null;
  // The element that another is drawn in.
  /** @type {(e: El) => El | null} */
  const composedParent = (e) => slotOf(e) ?? treeParent(e);
  /** @type {(within: El | null, outer: Element | undefined) => boolean} */
  const isWithin = (within, outer) => {
    for (let e = within; e; e = composedParent(e)) if (e === outer) return true;
    return false;
  };
  /** @param {El} e */
  const isControl = (e) => INTERACTIVE.has(roleOf(e)) || e[$hasAttribute]("tabindex") && e.tabIndex >= 0;
  // Whether `got` is in a control inside of `outer`, other than `e`, which takes the touch.
  /** @type {(got: El, outer: El, e: El) => boolean} */
  const isInOther = (got, outer, e) => {
    for (let up = /** @type {El | null} */ (got); up && up !== outer && up !== e; up = composedParent(up)) if (isControl(up)) return true;
    return false;
  };
  // Whether a touch of `got` reaches `e`: its descendants pass the touch on, and what stands for it, except for other controls in there.
  /** @type {(got: El, e: El) => boolean} */
  const reaches = (got, e) => {
    if (isWithin(got, e) || got.tagName === "LABEL" && got[$contains](e)) return true;
    /** @param {El} outer */
    const passesOn = (outer) => isWithin(got, outer) && !isInOther(got, outer, e);
    if (list(e.labels ?? []).some(passesOn)) return true;
    const box = boxAround(e);
    return box != null && passesOn(box);
  };

  // Changes are reported at most once per frame.
  let isDue = false;
  let changedAt = -Infinity;
  // The number of consecutive frames with changes, as when a script moves things.
  let streak = 0;
  const BUSY = 250;
  // How long a page may take to draw two frames.
  const STARVED = 3000;
  // When the attributes of an element last changed, as they do while a script moves it, and whether two frames were drawn since then:
  // a slow machine draws so rarely that a script that moves something with each frame seems to have stopped.
  /** @typedef {{ at: number, isDrawn: boolean }} Restyling */
  /** @type {WeakMap<Node, Restyling>} */
  const restylings = new WeakMap();
  /** @param {MutationRecord[]} records */
  const mutated = (records) => {
    const now = performance.now();
    const restyled = list(records).filter((record) => record.type === "attributes");
    if (restyled.length) {
      const restyling = { at: now, isDrawn: false };
      for (const { target } of restyled) restylings.set(target, restyling);
      requestAnimationFrame(() => requestAnimationFrame(() => { restyling.isDrawn = true; }));
    }
    const since = now - changedAt;
    streak = since > BUSY ? 0 : since > 8 ? streak + 1 : streak;
    changed();
  };
  const changed = () => {
    observe();
    changedAt = performance.now();
    if (isDue) return;
    isDue = true;
    setTimeout(() => { isDue = false; globalThis.trailblazeChanged?.(""); }, 16);
  };
  const CHANGES = { subtree: true, childList: true, attributes: true, characterData: true };
  const observer = new MutationObserver(mutated);
  /** @type {Document | null} */
  let observed = null;
  /** @type {Element | null} */
  let page = null;
  // See builtins.js: the document may be another than the one that this began with, or be written anew by a script.
  const observe = () => {
    if (document.documentElement !== page) {
      page = document.documentElement;
      listenAgain();
    }
    if (observed === document) return;
    observed = document;
    observer.observe(document, CHANGES);
  };
  observe();
  for (const name of ["DOMContentLoaded", "scroll", "input", "change", "focusin", "focusout", "transitionend", "animationend", "load", "toggle"]) {
    listen(name, changed, { capture: true, passive: true });
  }

  globalThis.trailblaze = {
    document,
    idOf,
    elementOf,
    /** @type {(host: El, root: Root) => void} */
    open: (host, root) => { closedRoots.set(host, root); },
    /** @param {Want} want */
    look: (want) => { observe(); return JSON.stringify(look(want)[0]); },

    // Looks for elements that may match; if there is just one, makes it ready.
    /** @param {Want} want */
    find: task(function* (want) {
      observe();
      const [seen, found] = look(want);
      const innermost = found.filter((e) => e.tagName !== "IFRAME" && !found.some((other) => other !== e && isWithin(other, e)));
      if (want.ready && innermost.length === 1) seen.ready = yield* ready(innermost[0], want.ready);
      return JSON.stringify(seen);
    }),

    // Waits until nothing has changed for a moment, for a limited time.
    quiet: task(function* () {
      for (let n = 0; n < 20 && performance.now() - changedAt < 32; n++) yield frame();
    }),
  };
