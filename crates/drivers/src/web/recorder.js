
  // The part that reports what a person does (see walker.js). Nothing is observed until `record` is called. Events that
  // scripts make are not trusted, and ignored. What the driver does is trusted too; Rust leaves it out by its time.

  // What was seen just before a deed. A click may leave the page at once, so it is seen when the button goes down.
  /** @typedef {{ seen: Look, listed: Set<El> }} Sight */
  // The page may remove the target before it is clicked, so that what is known from its surroundings is found out at once.
  /** @typedef {{ sight: Sight, target: El, named: El | null, over: El | null, x: number, y: number, isUsed: boolean, isDragged: boolean }} Press */
  /** @typedef {{ element: El, sight: Sight, isDirty: boolean, at: number }} Typing */

  const PICKED = new Set(["date", "time", "datetime-local", "month", "week", "color", "range", "file"]);
  const EDITING_KEYS = new Set(["a", "c", "v", "x", "y", "z", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Backspace", "Delete", "Home", "End", "Insert"]);
  // With Control, Alt or Meta, these go to the browser.
  const BROWSER_KEYS = new Set(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "+", "-", "=", "d", "h", "j", "l", "n", "r", "t", "u", "w", "ArrowLeft", "ArrowRight", "Home", "PageDown", "PageUp"]);
  const MOVING_KEYS = new Set(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End"]);
  const HOLDING_KEYS = new Set(["Alt", "AltGraph", "CapsLock", "Control", "Dead", "Fn", "Meta", "NumLock", "Process", "Shift", "Tab", "Unidentified"]);
  const MOVED_IN = new Set(["combobox", "grid", "gridcell", "listbox", "menu", "menubar", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "radio", "radiogroup", "slider", "tab", "tablist", "tree", "treegrid", "treeitem"]);
  // How far a pointer may move in a click, in pixels.
  const STEADY = 6;

  class Recorder {
    constructor() {
      /** @type {Press | null} */
      this.press = null;
      // What is dragged, once the browser carries it.
      /** @type {{ press: Press, element: El | null } | null} */
      this.drag = null;
      /** @type {Typing | null} */
      this.typing = null;
      // A click into a field, which is part of typing into it. Reported if something else follows.
      /** @type {{ element: El, report: () => void } | null} */
      this.held = null;
      // Reports a press that did not become a click.
      this.missed = () => {};
      /** @type {El | null} */
      this.lastClicked = null;
      // Whether Enter was pressed in a field; the browser then clicks the button of its form.
      this.isSubmitting = false;
      /** @type {[string, (event: any) => void][]} */
      const handlers = [
        ["pointerdown", (event) => this.pressed(event)], ["pointerup", (event) => this.released(event)], ["click", (event) => this.clicked(event)],
        ["dblclick", (event) => this.doubleClicked(event)], ["contextmenu", (event) => this.menuOpened(event)], ["auxclick", (event) => this.auxClicked(event)],
        ["dragstart", (event) => this.dragStarted(event)], ["drop", (event) => this.dropped(event)],
        ["keydown", (event) => this.keyPressed(event)], ["keyup", () => { this.isSubmitting = false; }],
        ["beforeinput", (event) => this.willType(event)], ["input", (event) => this.typed(event)], ["change", (event) => this.changed(event)],
        ["focusout", (event) => { if (this.typing && this.typing.element === innermost(event)) this.flush(); }],
      ];
      for (const [name, handler] of handlers) listen(name, (event) => { if (event.isTrusted) handler(event); }, { capture: true, passive: true });
      listen("pagehide", () => { this.flush(); this.letGo(); }, { capture: true });
      // What the page itself does with the history and its window (see `MAIN` in person.rs).
      for (const kind of ["travels", "closes"]) listen(`trailblaze-${kind}`, () => this.send({ kind, at: Date.now() }), { capture: true });
      listen("visibilitychange", () => { if (document.visibilityState === "visible") this.send({ kind: "shown", at: Date.now() }); }, {});
    }

    /** @param {object} message */
    send(message) {
      globalThis.trailblazeChanged?.(JSON.stringify(message));
    }

    /** @type {(kind: string, e: El | null, sight: Sight, rest?: object) => void} */
    tell(kind, e, sight, rest = {}) {
      this.letGo();
      const over = this.press?.sight === sight ? this.press.over : null;
      if (over && (kind === "click" || kind === "check")) rest = { ...rest, over: idOf(over) };
      this.send({ kind, at: Date.now(), node: e && idOf(e), seen: sight.seen, ...rest });
    }

    letGo() {
      const held = this.held;
      this.held = null;
      held?.report();
    }

    /** Reports the text of the field that was typed into. */
    flush() {
      const typing = this.typing;
      this.typing = null;
      if (!typing?.isDirty) return;
      const { element: e, sight, at } = typing;
      if (this.held?.element === e) this.held = null;
      const text = e.isContentEditable ? e.innerText : textIn(e);
      if (e.type === "password") this.tell("secret", e, sight, { at });
      else this.tell("type", e, sight, { at, text });
    }

    /** @param {PointerEvent} event */
    pressed(event) {
      const target = innermost(event);
      if (!target) return;
      const field = fieldOf(target);
      this.missed();
      if (this.typing && this.typing.element !== field) this.flush();
      this.press = pressOn(target, event.clientX, event.clientY, this.press?.target);
    }

    // A page may act when the button goes down or up, and replace the element, so that there is no click.
    /** @param {PointerEvent} event */
    released(event) {
      const press = this.press;
      if (!press || event.button !== 0) return;
      if (Math.hypot(event.clientX - press.x, event.clientY - press.y) > STEADY) return this.slid(press, event);
      const at = this.pointer(event, 1);
      this.missed = () => {
        this.missed = () => {};
        if (press.isUsed || press.target.isConnected || this.isSet(press.target)) return;
        press.isUsed = true;
        this.tell("click", press.named, press.sight, at);
      };
      setTimeout(() => this.missed(), 50);
    }

    // A slider that a library draws is dragged by the pointer. The browser changes its own, and clicks what the pointer has moved over.
    /** @type {(press: Press, event: PointerEvent) => void} */
    slid(press, event) {
      const e = press.named;
      if (press.isUsed || !e || !RANGES.has(roleOf(e)) || this.isSet(press.target)) return;
      press.isUsed = press.isDragged = true;
      this.tell("drag", e, press.sight, { x: Math.round(event.clientX), y: Math.round(event.clientY) });
    }

    /** @param {MouseEvent} event */
    clicked(event) {
      const target = innermost(event);
      if (!target) return;
      const isByPointer = /** @type {PointerEvent} */ (event).pointerType !== "";
      if (isByPointer && this.press?.isDragged) return;
      if (!isByPointer && this.isSubmitting) return;
      // A label passes the click on to its control.
      const label = /** @type {El | null} */ (target[$closest]("label"));
      if (isByPointer && label?.control && !isWithin(target, label.control) && !isControlWithin(target, label)) return;
      const press = this.press;
      const sight = press && !press.isUsed ? press.sight : see();
      if (press && isByPointer) press.isUsed = true;
      if (target.tagName === "INPUT" && (target.type === "checkbox" || target.type === "radio")) {
        return this.tell("check", listedOr(sight, target), sight, { checked: target.checked, ...this.pointer(event, 1) });
      }
      if (this.isSet(target)) return;
      const again = event.detail === 2 && this.lastClicked === target;
      this.lastClicked = target;
      // A double click follows.
      if (again) return;
      // If the page covers the element as the button goes down, such as with the list of a select, the click is one of what is around both.
      const isSteady = press != null && Math.hypot(event.clientX - press.x, event.clientY - press.y) <= STEADY;
      const isPressed = press?.sight === sight && (press.target === target || isByPointer && isSteady && isWithin(press.target, target));
      const e = isPressed ? press.named : nameable(sight, target);
      const rest = this.pointer(event, 1);
      const field = fieldOf(target);
      if (field && isByPointer) {
        if (this.held?.element !== field && this.typing?.element !== field) {
          this.letGo();
          this.held = { element: field, report: () => this.tell("click", e, sight, rest) };
        }
        return;
      }
      this.tell("click", e, sight, rest);
    }

    /** @param {MouseEvent} event */
    doubleClicked(event) {
      const target = innermost(event);
      if (!target || event.detail !== 2 || fieldOf(target) || this.isSet(target)) return;
      const sight = this.press?.sight ?? see();
      this.tell("click", nameable(sight, target), sight, this.pointer(event, 2));
    }

    /** @param {MouseEvent} event */
    menuOpened(event) {
      const target = innermost(event);
      if (!target || !this.press) return;
      this.press.isUsed = true;
      this.tell("click", nameable(this.press.sight, target), this.press.sight, this.pointer(event, 1, "RIGHT"));
    }

    /** @param {MouseEvent} event */
    auxClicked(event) {
      const target = innermost(event);
      if (!target || event.button !== 1 || !this.press) return;
      this.press.isUsed = true;
      this.tell("click", nameable(this.press.sight, target), this.press.sight, this.pointer(event, 1, "MIDDLE"));
    }

    /** @param {DragEvent} event */
    dragStarted(event) {
      const target = innermost(event);
      const press = this.press;
      if (!target || !press) return;
      press.isUsed = true;
      this.drag = { press, element: nameable(press.sight, target) };
    }

    // Only elements that accept what is dragged get this event. A text that is dropped into a field changes the field.
    /** @param {DragEvent} event */
    dropped(event) {
      const [drag, target] = [this.drag, innermost(event)];
      this.drag = null;
      if (!drag?.element || !target || fieldOf(target)) return;
      const { press: { sight }, element } = drag;
      const onto = nearestListed(sight, target);
      this.tell("drag", element, sight, { onto: onto && idOf(onto), x: Math.round(event.clientX), y: Math.round(event.clientY) });
    }

    // Whether a click on it is part of choosing a value.
    /** @param {El} e */
    isSet(e) {
      return e[$closest]("select") != null || e.tagName === "INPUT" && PICKED.has(e.type);
    }

    /** @type {(event: MouseEvent, count: number, button?: string) => object} */
    pointer(event, count, button = "LEFT") {
      const keys = [["altKey", "ALT"], ["ctrlKey", "CONTROL"], ["metaKey", "META"], ["shiftKey", "SHIFT"]];
      const modifiers = keys.filter(([key]) => /** @type {any} */ (event)[key]).map(([, name]) => name);
      return { button, count, modifiers, x: Math.round(event.clientX), y: Math.round(event.clientY) };
    }

    /** @param {InputEvent} event */
    willType(event) {
      const e = fieldOf(innermost(event));
      if (!e || this.typing?.element === e) return;
      this.flush();
      this.typing = { element: e, sight: see(), isDirty: false, at: Date.now() };
    }

    /** @param {Event} event */
    typed(event) {
      const target = innermost(event);
      const e = target && (fieldOf(target) ?? (PICKED.has(target.type) && target.type !== "file" ? target : null));
      if (!e) return;
      if (this.typing?.element !== e) {
        this.flush();
        // The arrows of a number field, or a picker.
        const sight = this.press?.target === e ? this.press.sight : see();
        this.typing = { element: e, sight, isDirty: false, at: 0 };
      }
      this.typing.isDirty = true;
      this.typing.at = Date.now();
    }

    /** @param {Event} event */
    changed(event) {
      const e = innermost(event);
      if (!e) return;
      const sight = () => (this.press && isWithin(this.press.target, e) ? this.press.sight : see());
      if (e.tagName === "SELECT") {
        this.flush();
        this.tell("choose", e, sight(), { values: list(e.selectedOptions).map((option) => fold(option.label)) });
      } else if (e.type === "file") {
        this.flush();
        const seen = sight();
        const names = list(/** @type {ArrayLike<File>} */ (/** @type {any} */ (e).files)).map((file) => file.name);
        this.tell("upload", seen.listed.has(e) ? e : this.press && nameable(seen, this.press.target), seen, { names });
      // A number or a date changes with each key.
      } else if (this.typing?.element === e && focused() !== e) this.flush();
    }

    /** @param {KeyboardEvent} event */
    keyPressed(event) {
      const { key } = event;
      if (event.isComposing || HOLDING_KEYS.has(key)) return;
      const e = focused();
      const field = fieldOf(e);
      const isShortcut = (event.ctrlKey || event.metaKey || event.altKey) && !event.getModifierState("AltGraph");
      if (isShortcut) {
        const letter = key.length === 1 ? key.toLowerCase() : key;
        // Editing a text changes its value, and copying changes nothing.
        if (field && EDITING_KEYS.has(letter) || letter === "c" || event.altKey && key.length === 1 && !event.ctrlKey && field) return;
        const held = [event.ctrlKey && "Control", event.altKey && "Alt", event.metaKey && "Meta", event.shiftKey && "Shift"].filter(Boolean);
        const chord = [...held, key === " " ? "Space" : letter].join("+");
        // The browser handles it, and what it does is reported as such, unless the page wants it.
        if (BROWSER_KEYS.has(letter)) return void setTimeout(() => { if (event.defaultPrevented) this.tellKey(chord, e); }, 0);
        return this.tellKey(chord, e);
      }
      const isEditor = field != null && (field.tagName === "TEXTAREA" || field.isContentEditable);
      if (key === "Enter" && isEditor) return this.enteredIn(field);
      if (key === "Enter" && field) {
        this.isSubmitting = true;
        return this.tellKey(key, e);
      }
      if (key === "Escape") return this.tellKey(key, e);
      const isNative = e != null && ["INPUT", "SELECT", "TEXTAREA"].includes(e.tagName);
      if (MOVING_KEYS.has(key) && e && MOVED_IN.has(roleOf(e)) && (!isNative || e.tagName === "INPUT" && field && key.startsWith("Arrow") && /Up|Down/.test(key))) {
        return this.tellKey(key, e);
      }
      if (field || e?.tagName === "SELECT") return;
      if (key === "Enter" || key === " ") {
        // A control is clicked by that; anything else may handle the key itself.
        if (!e || e === document.body) return;
        this.flush();
        const { sight, named } = this.press = pressOn(e, 0, 0);
        const isClicked = ["A", "AREA", "BUTTON", "INPUT", "SUMMARY"].includes(e.tagName);
        if (!isClicked && key === "Enter") this.tell("press", named, sight, { chord: key });
      } else if (key === "Delete" && e && e !== document.body) this.tellKey(key, e);
    }

    /** @type {(chord: string, e: El | null) => void} */
    tellKey(chord, e) {
      this.flush();
      const sight = see();
      this.tell("press", e && nameable(sight, e), sight, { chord });
    }

    // Enter in an editor is part of the text, unless the page handles it, as a chat does.
    /** @param {El} field */
    enteredIn(field) {
      const sight = this.typing?.element === field ? this.typing.sight : see();
      const [text, now] = [field.isContentEditable ? field.innerText : textIn(field), see()];
      let isNewLine = false;
      /** @param {Event} event */
      const note = (event) => { isNewLine ||= /insert(LineBreak|Paragraph)/.test(/** @type {InputEvent} */ (event).inputType); };
      const off = listen("input", note, { capture: true });
      const isDirty = this.typing?.element === field && this.typing.isDirty;
      setTimeout(() => {
        off();
        if (isNewLine) return;
        this.typing = null;
        if (this.held?.element === field && isDirty) this.held = null;
        if (isDirty) this.tell("type", field, sight, { text });
        this.tell("press", field, now, { chord: "Enter" });
      }, 0);
    }
  }

  /** @returns {Sight} */
  const see = () => {
    const [seen, listed] = look({ shown: true });
    return { seen, listed: new Set(listed) };
  };

  /** @type {(target: El, x: number, y: number, last?: El) => Press} */
  const pressOn = (target, x, y, last) => {
    const sight = see();
    const named = nameable(sight, target);
    const over = named && (shownBy(sight, named) ?? (last ? openedBy(sight, named, last) : null));
    return { sight, target, named, over, x, y, isUsed: false, isDragged: false };
  };

  // The element that receives an event. Elements in a closed root are not part of the path.
  /** @param {Event} event */
  const innermost = (event) => {
    const first = event[$composedPath]()[0];
    if (!first || /** @type {Node} */ (first).nodeType !== Node.ELEMENT_NODE) return null;
    const target = /** @type {El} */ (first);
    const { clientX, clientY, detail } = /** @type {MouseEvent} */ (event);
    return rootOf(target) && clientX != null && (detail || event.type === "pointerdown") ? hit(clientX, clientY) : target;
  };

  // The text field or editor that an element is, or is in.
  /** @param {El | null} e */
  const fieldOf = (e) => {
    if (!e || !isEditable(e) || e.readOnly || PICKED.has(e.type)) return null;
    return e.isContentEditable ? editorOf(e) : e;
  };

  // By which element a click is described: the control that it is in, or the closest element with a text or name of its own. A
  // box with other elements in it is none: its center may be somewhere else.
  /** @type {(sight: Sight, from: El) => El | null} */
  const nameable = (sight, from) => {
    /** @type {El | null} */
    let nearest = null;
    for (let e = /** @type {El | null} */ (from); e && e !== document.body; e = composedParent(e)) {
      const isListed = sight.listed.has(e);
      if (isListed && (INTERACTIVE.has(roleOf(e)) || isEditable(e))) return e;
      const field = fieldShownBy(e);
      if (field && sight.listed.has(field)) return field;
      if (isListed) nearest ??= e;
    }
    if (!nearest || nearest.tagName === "IFRAME") return null;
    const box = nearest;
    const isBox = [...sight.listed].some((one) => one !== box && isWithin(one, box));
    // What is drawn in the element decides where it is clicked.
    if (box.tagName === "CANVAS") return null;
    return !isBox || isActive(box) && nameOf(box, roleOf(box)) ? box : null;
  };
  // The field that an element stands for.
  /** @param {El} e @returns {El | null} */
  const fieldShownBy = (e) => {
    if (!PRESSING.test(getComputedStyle(e).cursor)) return null;
    const fields = /** @type {El[]} */ (list(e[$querySelectorAll]([...FIELDS].join())));
    return fields.find((field) => boxAround(field) === e) ?? null;
  };
  // What opens the menu or popup that an element is in, if the pointer alone has opened it: the last press was neither on that nor in the
  // popup.
  /** @type {(sight: Sight, e: El, last: El) => El | null} */
  const openedBy = (sight, e, last) => {
    for (let popup = composedParent(e); popup && popup !== document.body; popup = composedParent(popup)) {
      const isMenu = MENUS.has(roleOf(popup));
      const id = popup[$getAttribute]("id");
      const by = /** @type {El | null} */ (id && document[$querySelector](`[aria-controls~="${CSS.escape(id)}"]${isMenu ? "" : "[aria-haspopup]"}`))
        ?? /** @type {El | null} */ (isMenu && popup.parentElement?.[$closest]("[role=menuitem][aria-expanded=true]") || null);
      if (by) return by[$getAttribute]("aria-expanded") !== "true" || isWithin(last, popup) || isWithin(last, by) || !sight.listed.has(by) ? null : by;
    }
    return null;
  };
  const MENUS = new Set(["menu", "group", "list"]);
  // The element that must be under the pointer for another to be visible, as style sheets say: `li:hover button { display: block }`.
  // It is described by something with a name in it.
  /** @type {(sight: Sight, e: El) => El | null} */
  const shownBy = (sight, e) => {
    for (const style of hoverStyles(e[$getRootNode]())) {
      for (const selector of style.selectorText.split(",").filter((one) => one.includes(":hover"))) {
        const outer = selector.slice(0, selector.indexOf(":hover"));
        try {
          if (!e[$matches](selector)) continue;
          const around = /** @type {El | null} */ (e[$closest](outer));
          if (!around || around === e) continue;
          if (sight.listed.has(around) && nameOf(around, roleOf(around))) return around;
          for (const one of sight.listed) if (one !== e && isWithin(one, around) && !isWithin(one, e) && (fold(textOf(one)) || nameOf(one, roleOf(one)))) return one;
        } catch { /* It is not a selector on its own. */ }
      }
    }
    return null;
  };
  /** @param {CSSRule} rule @returns {rule is CSSStyleRule} */
  const isStyleRule = (rule) => "selectorText" in rule && "style" in rule;
  /** @param {CSSRule} rule @returns {rule is CSSGroupingRule} */
  const isGroup = (rule) => "cssRules" in rule;
  /** @param {Root} root */
  const hoverStyles = (root) => {
    /** @type {CSSStyleRule[]} */
    const found = [];
    /** @param {CSSRuleList} rules */
    const collect = (rules) => {
      for (const rule of rules) {
        if (isStyleRule(rule)) {
          const { display, visibility, opacity } = rule.style;
          if (rule.selectorText.includes(":hover") && (display || visibility || opacity)) found.push(rule);
        } else if (isGroup(rule)) collect(rule.cssRules);
      }
    };
    for (const sheet of list(root.styleSheets ?? [])) {
      // The rules of another site cannot be read.
      try { collect(sheet.cssRules); } catch { continue; }
    }
    return found;
  };
  /** @type {(sight: Sight, from: El) => El | null} */
  const nearestListed = (sight, from) => {
    for (let e = /** @type {El | null} */ (from); e && e !== document.body; e = composedParent(e)) if (sight.listed.has(e)) return e;
    return null;
  };
  /** @type {(sight: Sight, e: El) => El | null} */
  const listedOr = (sight, e) => (sight.listed.has(e) ? e : null);
  // Whether there is a control between an element and the label around it.
  /** @type {(e: El, label: El) => boolean} */
  const isControlWithin = (e, label) => {
    for (let up = /** @type {El | null} */ (e); up && up !== label; up = composedParent(up)) if (INTERACTIVE.has(roleOf(up))) return true;
    return false;
  };

  /** @type {Recorder | null} */
  let recorder = null;
  Object.assign(globalThis.trailblaze, {
    record() { recorder ??= new Recorder(); },
    // Reports what is not reported yet.
    flush() {
      recorder?.flush();
      recorder?.letGo();
    },
  });
