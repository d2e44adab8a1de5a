// Lives in a world of its own beside the page's scripts, one in each frame: they cannot see it, and it does not touch what
// they see. Everything that Trailblaze knows of a page comes from here, in one evaluation a look.
(() => {
  if (globalThis.trailblaze) return;
  // Whoever was there before may keep events to itself.
  const isFirst = document.readyState === "loading";

  const inSection = (e) => e.closest("article,aside,main,nav,section,[role=article],[role=complementary],[role=main],[role=navigation],[role=region]");
  const ROLES = {
    A: (e) => (e.hasAttribute("href") ? "link" : "generic"), ADDRESS: "group", AREA: (e) => (e.hasAttribute("href") ? "link" : "generic"),
    ARTICLE: "article", ASIDE: "complementary", AUDIO: "audio", BLOCKQUOTE: "blockquote", BUTTON: "button", CANVAS: "canvas",
    CAPTION: "caption", CODE: "code", DATALIST: "listbox", DD: "definition", DEL: "deletion", DETAILS: "group", DFN: "term",
    DIALOG: "dialog", DL: "list", DT: "term", EM: "emphasis", FIELDSET: "group", FIGURE: "figure",
    FOOTER: (e) => (inSection(e) ? "generic" : "contentinfo"), FORM: (e) => (label(e) ? "form" : "generic"),
    H1: "heading", H2: "heading", H3: "heading", H4: "heading", H5: "heading", H6: "heading",
    HEADER: (e) => (inSection(e) ? "generic" : "banner"), HR: "separator", HTML: "document", IFRAME: "iframe",
    IMG: (e) => (e.getAttribute("alt") === "" && !e.title ? "presentation" : "img"), INS: "insertion", LI: (e) => (e.parentElement?.tagName === "UL" && !e.parentElement.hasAttribute("role") || e.closest("ul,ol,menu,[role]")?.matches("ul:not([role]),ol:not([role]),menu:not([role]),[role=list]") ? "listitem" : "generic"), MAIN: "main",
    MARK: "mark", MATH: "math", MENU: "list", METER: "meter", NAV: "navigation", OL: "list", OPTGROUP: "group", OPTION: "option",
    OUTPUT: "status", P: "paragraph", PROGRESS: "progressbar", SEARCH: "search", SECTION: (e) => (label(e) ? "region" : "generic"),
    SELECT: (e) => (e.multiple || e.size > 1 ? "listbox" : "combobox"), STRONG: "strong", SUB: "subscript",
    SUMMARY: (e) => (e.parentElement?.tagName === "DETAILS" ? "button" : "generic"), SUP: "superscript", SVG: "img", TABLE: "table", TBODY: (e) => (isLayout(e) ? "generic" : "rowgroup"),
    TD: (e) => (isLayout(e) ? "generic" : e.closest("[role=grid],[role=treegrid]") ? "gridcell" : "cell"), TEXTAREA: "textbox", TFOOT: "rowgroup",
    TH: (e) => (e.scope === "row" || e.scope === "rowgroup" ? "rowheader" : "columnheader"), THEAD: "rowgroup", TIME: "time", TR: (e) => (isLayout(e) ? "generic" : "row"), UL: "list", VIDEO: "video",
  };
  const KNOWN_ROLES = new Set(("alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox "
    + "complementary contentinfo definition deletion dialog directory document emphasis feed figure form generic grid gridcell group heading img "
    + "image insertion link list listbox listitem log main mark marquee math menu menubar menuitem menuitemcheckbox menuitemradio meter navigation "
    + "none note option paragraph presentation progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox separator "
    + "slider spinbutton status strong subscript suggestion superscript switch tab table tablist tabpanel term textbox time timer toolbar tooltip "
    + "tree treegrid treeitem").split(" "));
  const isLayout = (e) => e.closest("table")?.matches("[role=presentation],[role=none]");
  const INPUTS = {
    button: "button", checkbox: "checkbox", color: "textbox", file: "button", hidden: "presentation", image: "button", number: "spinbutton",
    radio: "radio", range: "slider", reset: "button", search: "searchbox", submit: "button",
  };
  const FROM_CONTENT = new Set(["button", "cell", "checkbox", "columnheader", "gridcell", "heading", "link", "menuitem", "menuitemcheckbox",
    "menuitemradio", "option", "radio", "row", "rowheader", "switch", "tab", "tooltip", "treeitem"]);
  const INTERACTIVE = new Set(["button", "checkbox", "combobox", "link", "listbox", "menuitem", "menuitemcheckbox", "menuitemradio",
    "option", "radio", "searchbox", "slider", "spinbutton", "switch", "tab", "textbox", "treeitem"]);
  const LANDMARKS = new Set(["banner", "complementary", "contentinfo", "form", "main", "navigation", "region", "search"]);
  const CHECKABLE = new Set(["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"]);
  const SILENT = new Set(["generic", "presentation", "emphasis", "strong", "mark", "subscript", "superscript", "insertion", "deletion", "code", "time"]);
  const HIDDEN_TAGS = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "HEAD", "META", "LINK", "TITLE", "BR", "WBR", "PARAM", "SOURCE", "TRACK", "COL", "COLGROUP"]);
  // What only dresses the words of the element around it.
  const DRESS = new Set(["ABBR", "B", "BDI", "BDO", "CITE", "CODE", "DATA", "DEL", "DFN", "EM", "FONT", "I", "INS", "KBD", "MARK", "Q", "S", "SAMP", "SMALL",
    "SPAN", "STRONG", "SUB", "SUP", "TIME", "U", "VAR"]);
  // How many choices of a list are told.
  const OPTIONS = 50;
  const PRESSED = new Set(["button", "submit", "reset", "image"]);
  const NO_TEXT_INPUTS = new Set(["button", "submit", "reset", "checkbox", "radio", "file", "image", "range", "color", "hidden"]);

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

  // Shadow roots, also closed ones that the debugger opened for us. What changes in them is heard of too.
  const closed = new WeakMap();
  const watched = new WeakSet();
  const tried = new WeakSet();
  const rootOf = (e) => {
    const root = e.shadowRoot ?? closed.get(e);
    if (root && !watched.has(root)) {
      watched.add(root);
      observer.observe(root, CHANGES);
    }
    return root;
  };

  // Whether an element has words of its own, besides those of what is in it.
  const hasWords = (e) => {
    for (let child = e.firstChild; child; child = child.nextSibling) if (child.nodeType === 3 && /\S/.test(child.data)) return true;
    return false;
  };
  const SEEN = { visibilityProperty: true };
  const fold = (text) => text.replace(/\s+/g, " ").trim();
  const bare = (text) => text.replace(/\s+/g, "");

  function roleOf(e) {
    const own = e.getAttribute("role");
    if (own) {
      const first = own.toLowerCase().split(/\s+/).find((one) => KNOWN_ROLES.has(one));
      if (first === "none" || first === "presentation") {
        // What can be focused is not decoration, whatever it says.
        if (e.tabIndex < 0) return "presentation";
      } else if (first === "image") return "img";
      else if (first) return first;
    }
    const tag = e.tagName;
    if (tag === "INPUT") return e.list && !INPUTS[e.type] ? "combobox" : e.list && e.type === "search" ? "combobox" : INPUTS[e.type] ?? "textbox";
    const role = ROLES[tag] ?? ROLES[tag.toUpperCase()];
    if (typeof role === "function") return role(e);
    if (role) return role;
    return e.isContentEditable && e.getAttribute("contenteditable") != null ? "textbox" : "generic";
  }

  // Words of an element as a reader takes them; `isNamed` where those of hidden parts count too.
  const textOf = (e, isNamed = false, depth = 0) => {
    if (depth > 20) return "";
    const root = rootOf(e) ?? e;
    if (root === e && !e.firstElementChild) return e.tagName === "SLOT" ? slotted(e, isNamed, depth) : e.textContent;
    let text = "";
    for (const child of root.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) text += child.data;
      else if (child.nodeType === Node.ELEMENT_NODE) text += partOf(child, isNamed, depth);
    }
    return text;
  };
  const slotted = (slot, isNamed, depth) => {
    let text = "";
    for (const node of slot.assignedNodes({ flatten: true })) text += node.nodeType === Node.TEXT_NODE ? node.data : partOf(node, isNamed, depth);
    return text;
  };
  const partOf = (child, isNamed, depth) => {
    if (child.tagName === "BR") return " ";
    if (child.nodeType !== Node.ELEMENT_NODE || HIDDEN_TAGS.has(child.tagName) || !isNamed && isHidden(child)) return "";
    const isPlain = !child.hasAttributes();
    // The branches of a tree are not in the names of those above.
    if (!isPlain && child.getAttribute("role") === "group") return "";
    // What is in a field counts before what the field is called.
    const isField = ["INPUT", "TEXTAREA", "SELECT"].includes(child.tagName) && !NO_TEXT_INPUTS.has(child.type);
    let inner = isPlain || isField ? "" : fold(child.getAttribute("aria-label") ?? "");
    if (!inner) {
      if (child.tagName === "IMG") inner = child.alt;
      else if (child.tagName === "INPUT" || child.tagName === "TEXTAREA") inner = NO_TEXT_INPUTS.has(child.type) ? (PRESSED.has(child.type) ? child.value : "") : child.type === "password" ? "" : child.value;
      else if (child.tagName === "SELECT") inner = [...child.selectedOptions].map((option) => option.label).join(" ");
      else if (child.tagName === "SLOT") inner = slotted(child, isNamed, depth + 1);
      else if (child.tagName.toUpperCase() === "SVG") inner = child.querySelector(":scope > title")?.textContent ?? "";
      else inner = textOf(child, isNamed, depth + 1);
    }
    return isPlain && DRESS.has(child.tagName) || getComputedStyle(child).display.startsWith("inline") ? inner : ` ${inner} `;
  };

  const byIds = (e, attribute) => {
    const list = e.getAttribute(attribute);
    if (!list) return "";
    const root = e.getRootNode();
    const words = (found) => fold(found.getAttribute("aria-label") ?? "") || (found === e ? "" : ["INPUT", "TEXTAREA"].includes(found.tagName) ? found.value : "")
      || fold(found.alt ?? "") || textOf(found, isHidden(found));
    return fold(list.split(/\s+/).map((id) => root.getElementById?.(id)).filter(Boolean).map(words).join(" "));
  };

  // The labels of each control during a look. `e.labels` is a live list that searches the whole document for each control
  // after every change, which makes a form of a thousand fields quadratic.
  let labels = null;
  const labelsOf = (e) => (labels ? labels.get(e) : e.labels);
  const collectLabels = (root) => {
    for (const one of root.querySelectorAll("label")) {
      const control = one.control;
      if (control) labels.set(control, [...(labels.get(control) ?? []), one]);
    }
  };

  // What names an element besides its content.
  function label(e) {
    const own = labelsOf(e);
    if (!e.hasAttributes() && !own) return e.tagName === "FIELDSET" || e.tagName === "TABLE" || e.tagName === "FIGURE" ? inner(e) : "";
    const named = byIds(e, "aria-labelledby") || fold(e.getAttribute("aria-label") ?? "");
    if (named) return named;
    if (own?.length) {
      const text = fold([...own].map((one) => labelText(one, e)).join(" "));
      if (text) return text;
    }
    if (e.tagName === "IMG" || e.tagName === "AREA" || e.tagName === "INPUT" && e.type === "image") return fold(e.alt ?? "");
    if (e.tagName === "INPUT" && PRESSED.has(e.type)) return e.value || { submit: "Submit", reset: "Reset" }[e.type] || "";
    if (e.tagName === "INPUT" && e.type === "file") return "Choose File";
    if (e.tagName === "OPTGROUP") return e.label;
    return inner(e);
  }
  const inner = (e) => {
    const named = { FIELDSET: "legend", TABLE: "caption", FIGURE: "figcaption", SVG: "title" }[e.tagName.toUpperCase()];
    const found = named && e.querySelector(`:scope > ${named}`);
    return found ? fold(textOf(found)) : "";
  };
  // A label may hold the control that it names; what is in that is no part of the name.
  const labelText = (one, control) => {
    if (!one.contains(control)) return textOf(one);
    let text = "";
    for (const child of one.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) text += child.data;
      else if (child.nodeType === Node.ELEMENT_NODE && child !== control) text += child.contains(control) ? labelText(child, control) : partOf(child, false, 0);
    }
    return text;
  };

  // `text` is what the element says, if that is known.
  function nameOf(e, role, text = null) {
    const named = label(e) || (FROM_CONTENT.has(role) ? text ?? fold(textOf(e)) : "");
    if (named || !e.hasAttributes()) return named;
    return fold(e.getAttribute("title") ?? "")
      || fold(e.getAttribute("placeholder") ?? "") || fold(e.getAttribute("aria-placeholder") ?? "");
  }

  function isHidden(e) {
    if (e.checkVisibility && !e.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: false })) {
      // Its children may be shown all the same.
      return getComputedStyle(e).display !== "contents";
    }
    return e.getAttribute("aria-hidden") === "true" || e.inert === true;
  }

  const testIdOf = (e) => e.getAttribute("data-testid") ?? e.getAttribute("data-test-id") ?? e.getAttribute("data-test");
  const isDisabled = (e) => e.disabled === true || e.matches(":disabled") || e.closest("[aria-disabled=true]") != null;
  const isEditable = (e) => e.tagName === "TEXTAREA" || e.tagName === "INPUT" && !NO_TEXT_INPUTS.has(e.type) || e.isContentEditable;
  const checkedOf = (e) => (e.checked ?? e.getAttribute("aria-checked") === "true");
  const focused = () => {
    let e = document.activeElement;
    while (e && rootOf(e)?.activeElement) e = rootOf(e).activeElement;
    return e;
  };

  // One look: what is asked for, and what was found so far.
  class Reading {
    constructor(want) {
      this.css = want.css ?? [];
      this.only = want.only;
      this.marksCovered = want.covered === true;
      this.focus = focused();
      this.found = [];
      // Elements that may have a closed shadow root.
      this.shut = [];
      this.isAnyDisabled = this.isAnyEditable = false;
      this.enter(document);
    }

    // What no element of a tree has need not be asked of each.
    enter(root) {
      this.isAnyDisabled ||= root.querySelector(":disabled,[aria-disabled=true]") != null;
      this.isAnyEditable ||= root.querySelector("[contenteditable]") != null;
      collectLabels(root);
    }

    read(e, out, isInText, isInLabel) {
      if (HIDDEN_TAGS.has(e.tagName)) return;
      const isSeen = e.checkVisibility(SEEN);
      if (!isSeen) {
        const style = getComputedStyle(e);
        // What is within something that has no box, or is invisible, may be seen; what is left out with it all is not.
        if (style.display === "none" || style.display !== "contents" && style.visibility === "visible") return;
      }
      const isPlain = !e.hasAttributes();
      if (!isPlain && (e.getAttribute("aria-hidden") === "true" || e.inert === true)) return;
      const role = roleOf(e);
      const testId = isPlain ? null : testIdOf(e);
      const isField = this.isAnyEditable && e.isContentEditable && e.hasAttribute("contenteditable");
      const isInteractive = INTERACTIVE.has(role) || !isPlain && e.hasAttribute("tabindex") && e.tabIndex >= 0 || isField;
      const asked = this.css.filter((selector) => e.matches(selector));
      const isMixed = e.firstElementChild != null;
      let own = "";
      if (isSeen && e.tagName !== "TEXTAREA") {
        // A reader takes the words of a paragraph as one text, whatever dresses some of them.
        if (!isMixed) own = e.firstChild ? fold(e.textContent) : "";
        else if (hasWords(e)) own = fold(textOf(e));
      }
      const name = isSeen && role !== "presentation" ? nameOf(e, role, isMixed || rootOf(e) ? null : own) : "";
      // A label is told of by the control that it names; what dresses a text, by the text.
      const isLabel = isInLabel || e.tagName === "LABEL" && e.control;
      const isDress = isInText && DRESS.has(e.tagName) && !isInteractive && !testId && !e.id;
      const isWorthTelling = isSeen && (!isLabel || isInteractive) && !isDress
        && (isInteractive || own || name || testId || e.id || !SILENT.has(role)) || isSeen && asked.length > 0;
      let children = out;
      if (isWorthTelling) {
        const node = this.describe(e, { role, name, own, testId, isInteractive, asked });
        if (this.only && !this.isWanted(node)) {
          // Not asked for; what is inside may be.
        } else {
          node.i = idOf(e);
          out.push(node);
          this.found.push(e);
          children = node.c = [];
        }
      }
      if (e.tagName === "SELECT" || e.tagName === "IFRAME") return;
      if (e.tagName === "DETAILS" && !e.open) {
        const summary = e.querySelector(":scope > summary");
        if (summary) this.read(summary, children, false, false);
        return;
      }
      const holdsText = isInText && isDress || own !== "";
      const shadow = rootOf(e);
      if (!shadow && e.tagName.includes("-") && !tried.has(e)) {
        tried.add(e);
        this.shut.push(idOf(e));
      }
      if (shadow) this.enter(shadow);
      const root = shadow ?? e;
      for (let child = root.firstElementChild; child; child = child.nextElementSibling) {
        if (child.tagName === "SLOT") {
          const given = child.assignedElements({ flatten: true });
          for (const one of given.length ? given : child.children) this.read(one, children, holdsText, isLabel);
        } else this.read(child, children, holdsText, isLabel);
      }
    }

    describe(e, { role, name, own, testId, isInteractive, asked }) {
      const box = e.getBoundingClientRect();
      const node = { r: role, b: [Math.round(box.left), Math.round(box.top), Math.round(box.right), Math.round(box.bottom)] };
      if (name) node.n = name;
      if (own && own === name) node.m = 1;
      else if (own) node.t = own;
      if (testId) node.q = testId;
      if (asked.length) node.s = asked[0];
      else if (e.id) node.s = "#" + CSS.escape(e.id);
      if (isInteractive) node.x = 1;
      if (this.isAnyDisabled && isDisabled(e)) node.d = 1;
      if (LANDMARKS.has(role)) node.l = 1;
      if (role === "heading") node.h = +e.getAttribute("aria-level") || +e.tagName[1] || 2;
      if (CHECKABLE.has(role)) node.k = checkedOf(e) ? 1 : 0;
      if (e.hasAttributes() && (e.selected || e.getAttribute("aria-selected") === "true")) node.e = 1;
      if (e === this.focus && e !== document.body) node.f = 1;
      if (e.tagName === "TEXTAREA" || e.tagName === "INPUT" && !NO_TEXT_INPUTS.has(e.type) || this.isAnyEditable && role === "textbox" && e.isContentEditable) {
        if (e.tagName === "INPUT" || e.tagName === "TEXTAREA" || e.hasAttribute("contenteditable")) node.w = e.readOnly ? 0 : 1;
        if (e.type === "password") node.p = 1;
        else if (e.value) node.v = e.value;
      } else if (e.tagName === "SELECT") {
        node.v = [...e.selectedOptions].map((option) => fold(option.label)).join(", ");
        node.a = [...e.options].slice(0, OPTIONS).map((option) => fold(option.label)).join(" | ") + (e.options.length > OPTIONS ? " | …" : "");
      }
      else if (e.type === "range" || ["PROGRESS", "METER"].includes(e.tagName)) node.v = String(e.value);
      if (e.tagName === "IFRAME") node.g = [Math.round(box.left + e.clientLeft), Math.round(box.top + e.clientTop)];
      if (this.marksCovered && isInteractive && box.width && box.height) {
        const got = hit((box.left + box.right) / 2, (box.top + box.bottom) / 2);
        if (got && !reaches(got, e)) node.o = 1;
      }
      return node;
    }

    // Whether it may be what is looked for. Too many are welcome here, too few are not: the search itself is not ours.
    isWanted(node) {
      const { is, has, id, role, css } = this.only;
      if (node.r === "iframe") return true;
      if (role && node.r !== role) return false;
      if (css && node.s !== css) return false;
      if (id && ![node.q, node.s].some((own) => own === id || own === "#" + id || own === "#" + CSS.escape(id) || own?.endsWith("/" + id))) return false;
      const words = () => [node.n, node.t, node.v].filter(Boolean).map(bare);
      return (is == null || words().includes(is)) && (has == null || words().some((text) => text.includes(has)));
    }
  }

  function look(want) {
    for (const selector of want.css ?? []) {
      try { document.createDocumentFragment().querySelector(selector); } catch { return [{ wrong: `\`${selector}\` is no CSS selector` }, []]; }
    }
    labels = new Map();
    try {
      return read(want);
    } finally {
      labels = null;
    }
  }

  function read(want) {
    const reading = new Reading(want);
    const nodes = [];
    if (document.body) reading.read(document.body, nodes, false, false);
    const page = document.documentElement;
    const seen = {
      url: location.href, title: document.title, width: innerWidth, height: innerHeight, left: Math.round(scrollX), top: Math.round(scrollY),
      fullWidth: Math.max(page?.scrollWidth ?? 0, innerWidth), fullHeight: Math.max(page?.scrollHeight ?? 0, innerHeight), nodes,
      shut: reading.shut,
    };
    return [seen, reading.found];
  }

  // The element of this frame that gets a touch at a point, through shadow roots.
  function hit(x, y) {
    let found = document.elementFromPoint(x, y);
    while (found && rootOf(found)) {
      const within = rootOf(found).elementFromPoint(x, y);
      if (!within || within === found) break;
      found = within;
    }
    return found;
  }

  const summary = (e) => {
    const role = roleOf(e);
    const name = nameOf(e, role) || fold(textOf(e)).slice(0, 60);
    const tag = role === "generic" ? e.tagName.toLowerCase() + (e.id ? "#" + e.id : "") : role;
    return name ? `${tag} "${name}"` : tag;
  };

  const composedParent = (e) => e.assignedSlot ?? e.parentElement ?? e.getRootNode().host ?? null;
  const isWithin = (within, outer) => {
    for (let e = within; e; e = composedParent(e)) if (e === outer) return true;
    return false;
  };
  // What is inside it, and a label that stands for it, pass the touch on.
  const reaches = (got, e) => isWithin(got, e) || [...(e.labels ?? [])].some((one) => isWithin(got, one)) || got.tagName === "LABEL" && got.contains(e);

  // Changes are told at most once a frame, however many there are.
  let isDue = false;
  let changedAt = -Infinity;
  // How often in a row something changed from one frame to the next, as it does where a script moves things.
  let streak = 0;
  const BUSY = 250;
  // When an element was last dressed otherwise, as it is by whoever moves it.
  const dressedAt = new WeakMap();
  const mutated = (records) => {
    const now = performance.now();
    for (const record of records) if (record.type === "attributes") dressedAt.set(record.target, now);
    const since = now - changedAt;
    streak = since > BUSY ? 0 : since > 8 ? streak + 1 : streak;
    changed();
  };
  const changed = () => {
    changedAt = performance.now();
    if (isDue) return;
    isDue = true;
    setTimeout(() => { isDue = false; globalThis.trailblazeChanged?.(""); }, 16);
  };
  const CHANGES = { subtree: true, childList: true, attributes: true, characterData: true };
  const observer = new MutationObserver(mutated);
  observer.observe(document, CHANGES);
  for (const name of ["scroll", "input", "change", "focusin", "focusout", "transitionend", "animationend", "load", "toggle"]) {
    addEventListener(name, changed, { capture: true, passive: true });
  }

  // A touch that is under way and what it is meant for. One that would land elsewhere does not land at all.
  let aim = null;
  const AIMED = 5000;
  const takeAim = (element) => { aim = { element, state: "open", at: performance.now() }; };
  const guard = (event) => {
    if (!aim || !event.isTrusted || performance.now() - aim.at > AIMED) return;
    if (aim.state === "open" && event.type.endsWith("down")) {
      const first = event.composedPath()[0];
      // What is in a closed root keeps itself out of the path.
      const got = first instanceof Element && rootOf(first) ? hit(event.clientX, event.clientY) : first;
      aim.state = got instanceof Element && !reaches(got, aim.element) ? "missed" : "landed";
      if (aim.state === "missed") aim.by = summary(got);
    }
    if (aim.state === "missed") {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  };
  for (const name of ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "dblclick", "contextmenu"]) addEventListener(name, guard, { capture: true });
  let isDragged = false;
  addEventListener("dragstart", (event) => { isDragged = !event.defaultPrevented; });

  // Tells whether there was a frame. A page that is not shown has none, and nothing moves on it.
  const frame = () => new Promise((done) => { requestAnimationFrame(() => done(true)); setTimeout(() => done(document.hidden), 100); });
  const animationsOf = (e) => document.getAnimations().filter((one) => one.playState === "running" && one.effect?.target && isWithin(e, one.effect.target));
  // An animation that is about to begin moves nothing yet.
  const isAboutToBegin = (one) => {
    const { delay, localTime } = one.effect.getComputedTiming();
    return one.pending || localTime == null || localTime < delay && delay - localTime < 1000;
  };
  const place = (e) => {
    const box = e.getBoundingClientRect();
    return `${box.left} ${box.top} ${box.width} ${box.height}`;
  };
  const isDressedLately = (e) => {
    for (let up = e; up; up = composedParent(up)) if (performance.now() - (dressedAt.get(up) ?? -Infinity) < BUSY) return true;
    return false;
  };
  // Frames are awaited only while something may move, and not for ever.
  async function rests(e) {
    for (let n = 0, before = place(e); ; n++) {
      const animations = animationsOf(e);
      if (!animations.length && !isDressedLately(e) && (streak < 2 || performance.now() - changedAt > BUSY)) return true;
      if (n === 30) return false;
      const isDrawn = await frame();
      const after = place(e);
      if (isDrawn && before === after && !animations.some(isAboutToBegin)) return true;
      before = after;
    }
  }
  const boxOf = (e) => {
    const box = [...e.getClientRects()].find((rect) => rect.width > 0 && rect.height > 0);
    return box ?? e.getBoundingClientRect();
  };
  const isInView = (box) => box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth;
  const bounds = (box) => [box.left, box.top, box.right, box.bottom].map(Math.round);

  // Makes an element ready to be touched: in view, at rest, enabled, and not covered. Answers where to touch it.
  async function ready(e) {
    if (!e?.isConnected) return { why: "gone" };
    if (isDisabled(e)) return { why: "disabled" };
    // A control that is drawn by its label is touched there.
    let body = e;
    const size = e.getBoundingClientRect();
    if ((size.width < 2 || size.height < 2) && e.labels?.length) body = e.labels[0];
    const isScrolled = !isInView(body.getBoundingClientRect());
    if (isScrolled) body.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    if (!(await rests(body))) return { why: "moving" };
    if (!e.isConnected) return { why: "gone" };
    const box = boxOf(body);
    if (box.width === 0 || box.height === 0) return { why: "hidden" };
    const middle = (from, to, most) => (Math.max(from, 0) + Math.min(to, most)) / 2;
    const x = middle(box.left, box.right, innerWidth);
    const y = middle(box.top, box.bottom, innerHeight);
    const got = hit(x, y);
    if (!got || !reaches(got, e)) return { why: "covered", by: got ? summary(got) : "nothing" };
    takeAim(e);
    return { id: idOf(e), x, y, b: bounds(box), isScrolled };
  }

  globalThis.trailblaze = {
    idOf,
    elementOf,
    open: (host, root) => { closed.set(host, root); },
    look: (want) => JSON.stringify(look(want)[0]),

    // A look at what may be the element that is wanted; if there is but one, it is made ready at once.
    async find(want) {
      const [seen, found] = look(want);
      const innermost = found.filter((e) => e.tagName !== "IFRAME" && !found.some((other) => other !== e && isWithin(other, e)));
      if (want.touch && innermost.length === 1) seen.ready = await ready(innermost[0]);
      return JSON.stringify(seen);
    },

    ready: (id) => ready(elementOf(id)),

    // Whether a point of a frame within this one can be touched, and where that is here.
    async through(id, x, y, isScrolled) {
      const e = elementOf(id);
      if (!e) return { why: "gone" };
      if (!isInView(e.getBoundingClientRect())) {
        e.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
        isScrolled = true;
      }
      // A frame of another process scrolls what is around it later, and the browser knows where frames are when it has
      // drawn them.
      for (let n = 0, before = ""; isScrolled && n < 10 && before !== place(e); n++) {
        before = place(e);
        await frame();
        await frame();
      }
      const box = e.getBoundingClientRect();
      const at = { x: box.left + e.clientLeft + x, y: box.top + e.clientTop + y };
      // A frame that is taller than the window is scrolled to where the point is.
      if (at.x < 0 || at.y < 0 || at.x > innerWidth || at.y > innerHeight) {
        const [left, top] = [scrollX, scrollY];
        scrollBy({ left: at.x - innerWidth / 2, top: at.y - innerHeight / 2, behavior: "instant" });
        at.x -= scrollX - left;
        at.y -= scrollY - top;
      }
      const got = hit(at.x, at.y);
      if (got !== e) return { why: "covered", by: got ? summary(got) : "nothing" };
      // A touch that is seen here did not get into the frame.
      takeAim(e);
      return { ...at, isScrolled };
    },

    // What became of the touch: nothing if it landed where it was meant to. A press that was not seen here has got lost.
    landed(isPressed) {
      const isLost = isPressed && isFirst && aim?.state === "open";
      const how = aim?.state === "missed" ? `${aim.by} took its place as it was touched` : isLost ? "the touch did not get through to it" : null;
      aim = null;
      // What changed was our doing, as likely as not; what gave way moves.
      streak = how ? 2 : 0;
      return how;
    },

    // Gives a field the focus with its text chosen, so that what is typed next replaces it. What no keyboard fills, a date,
    // a colour or a slider, is set at once.
    take(id, value) {
      const e = elementOf(id);
      aim = null;
      if (!e) return { why: "it is gone" };
      if (["date", "time", "datetime-local", "month", "week", "color", "range"].includes(e.type)) {
        e.focus();
        e.value = value;
        if (e.type !== "range" && e.value !== value) return { why: `\`${value}\` is no value for a field of type ${e.type}` };
        e.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
        e.dispatchEvent(new Event("change", { bubbles: true }));
        return { isSet: true };
      }
      if (!isEditable(e)) return { why: "it is no field to type into" };
      if (e.readOnly) return { why: "it is read-only" };
      e.focus();
      return this.selectAll() === null ? { why: "it does not take the focus" } : {};
    },

    // Chooses the whole text of what has the focus; tells how much there is, or in which frame it is.
    selectAll() {
      const e = focused();
      if (e?.tagName === "IFRAME") return { frame: idOf(e) };
      if (e?.select) e.select();
      else if (e?.isContentEditable) document.getSelection().selectAllChildren(e);
      else return null;
      return (e.value ?? e.textContent).length;
    },

    choose(id, values) {
      const e = elementOf(id);
      if (e?.tagName !== "SELECT") return { why: "it is no list to choose from" };
      if (values.length > 1 && !e.multiple) return { why: "one value can be chosen there, not several" };
      const options = [...e.options];
      const chosen = values.map((value) => options.find((one) => one.value === value) ?? options.find((one) => fold(one.label) === fold(value)));
      const missing = values.filter((_, index) => !chosen[index]);
      if (missing.length) return { why: `it has no \`${missing[0]}\`, but ${options.map((one) => `\`${fold(one.label)}\``).slice(0, 10).join(", ")}` };
      const off = chosen.find((one) => one.disabled || one.parentElement?.disabled);
      if (off) return { why: `\`${fold(off.label)}\` is disabled` };
      e.focus();
      for (const option of options) option.selected = chosen.includes(option);
      e.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
      e.dispatchEvent(new Event("change", { bubbles: true }));
      return { chosen: chosen.map((one) => fold(one.label)) };
    },

    isChecked: (id) => {
      const e = elementOf(id);
      return e ? checkedOf(e) : null;
    },

    // An attribute, or, without a name, what a field holds.
    attribute(id, name) {
      const e = elementOf(id);
      aim = null;
      return (name ? e?.getAttribute(name) : e?.tagName === "SELECT" ? [...e.selectedOptions].map((one) => one.label).join(", ") : e?.value ?? (e && fold(textOf(e)))) ?? null;
    },

    // Where a scroll of an element is to happen: in the nearest thing around it that scrolls.
    scroller(id) {
      const e = id ? elementOf(id) : null;
      const box = e?.getBoundingClientRect() ?? { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
      const middle = (from, to, most) => (Math.max(from, 0) + Math.min(to, most)) / 2;
      return { x: middle(box.left, box.right, innerWidth), y: middle(box.top, box.bottom, innerHeight),
        width: Math.min(box.right - box.left, innerWidth), height: Math.min(box.bottom - box.top, innerHeight) };
    },

    dragged() {
      const was = isDragged;
      isDragged = false;
      return was;
    },

    // Whether nothing changed for a moment. Told when it is so, or when it has taken too long.
    async quiet() {
      for (let n = 0; n < 20 && performance.now() - changedAt < 32; n++) await frame();
    },
  };
})();
