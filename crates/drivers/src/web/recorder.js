
  // The part that reports what a person does (see walker.js). Nothing is observed until `record` is called. Events that
  // scripts make are not trusted, and ignored. What the driver does is trusted too; Rust leaves it out by its time.

  // What was seen just before a deed. A click may leave the page at once, so it is seen when the button goes down.
  /** @typedef {{ seen: Look, listed: Set<El> }} Sight */
  // The page may remove the target before it is clicked, so that what is known from its surroundings is found out at once.
  // `isInside` says that it matters where in the element it is; `boxes` says where the elements around the target were.
  /** @typedef {{ sight: Sight, target: El, named: El | null, isInside: boolean, over: El[], x: number, y: number, boxes: [El, DOMRect][], movedAt: number, isCaptured: boolean, isUsed: boolean, isDragged: boolean }} Press */
  /** @typedef {{ element: El, sight: Sight, isDirty: boolean, at: number, before: string }} Typing */
  // What the wheel has moved since anything else was done: an area, or the page.
  /** @typedef {{ area: El | null, over: El | null, sight: Sight, left: number, top: number, height: number, x: number, y: number, isHandled: boolean, at: number }} Scrolling */

  const PICKED = new Set(["date", "time", "datetime-local", "month", "week", "color", "range", "file"]);
  const EDITING_KEYS = new Set(["a", "c", "v", "x", "y", "z", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Backspace", "Delete", "Home", "End", "Insert"]);
  // With Control, Alt or Meta, these go to the browser.
  const BROWSER_KEYS = new Set(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "+", "-", "=", "d", "h", "j", "l", "n", "r", "t", "u", "w", "ArrowLeft", "ArrowRight", "Home", "PageDown", "PageUp"]);
  const MOVING_KEYS = new Set(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End"]);
  const HOLDING_KEYS = new Set(["Alt", "AltGraph", "CapsLock", "Control", "Dead", "Fn", "Meta", "NumLock", "Process", "Shift", "Tab", "Unidentified"]);
  const MOVED_IN = new Set(["combobox", "grid", "gridcell", "listbox", "menu", "menubar", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "radio", "radiogroup", "slider", "tab", "tablist", "tree", "treegrid", "treeitem"]);
  // How far a pointer may move in a click, in pixels.
  const STEADY = 6;
  // How far an area may have moved before the first turn of the wheel is seen, in pixels.
  const MOST_UNSEEN = 400;
  // What is drawn in these decides what a click at a point does.
  const DRAWN = new Set(["CANVAS", "VIDEO"]);
  // How long after the pointer came to an element it may open something, in milliseconds, and how many elements are watched for that.
  const OPENS_WITHIN = 1500;
  const NEARBY = 300;
  // How many elements, each in what the one before it has opened, the pointer may have gone through.
  const CHAIN = 4;
  // How many elements around the pressed one may be what is dragged.
  const DRAGGED_DEPTH = 6;
  const HIDES = /display:\s*none|visibility:\s*hidden|opacity:\s*0(?![.\d])|(^|[\s_-])(hidden|hide|closed|collapsed|leave)\b/;

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
      /** @type {Scrolling | null} */
      this.scrolling = null;
      // What was chosen last in a file field.
      /** @type {File[]} */
      this.files = [];
      // Where the pointer came to last without a button, what was hidden then, and what has been shown since: with the element that the
      // pointer was on.
      /** @type {{ element: El, at: number } | null} */
      this.pointed = null;
      this.pressedAt = -Infinity;
      /** @type {WeakMap<El, El>} */
      this.hidden = new WeakMap();
      /** @type {WeakMap<El, El>} */
      this.shown = new WeakMap();
      // Whether Enter was pressed in a field; the browser then clicks the button of its form.
      this.isSubmitting = false;
      /** @type {[string, (event: any) => void][]} */
      const handlers = [
        ["pointerdown", (event) => this.pressed(event)], ["pointerup", (event) => this.released(event)], ["click", (event) => this.clicked(event)],
        ["dblclick", (event) => this.doubleClicked(event)], ["contextmenu", (event) => this.menuOpened(event)], ["auxclick", (event) => this.auxClicked(event)],
        ["dragstart", (event) => this.dragStarted(event)], ["drop", (event) => this.dropped(event)],
        ["pointermove", (event) => this.moved(event)], ["pointerover", (event) => this.cameTo(event)], ["wheel", (event) => this.wheeled(event)],
        ["gotpointercapture", () => { if (this.press) this.press.isCaptured = true; }],
        ["keydown", (event) => this.keyPressed(event)], ["keyup", () => { this.isSubmitting = false; }],
        ["beforeinput", (event) => this.willType(event)], ["input", (event) => this.typed(event)], ["change", (event) => this.changed(event)],
        ["focusout", (event) => { if (this.typing && this.typing.element === innermost(event)) this.flush(); }],
      ];
      // The bar and the choice of an element come first, and keep what they use from the page and from the recording.
      bar = new Bar((message) => this.send(message));
      for (const [name, handler] of handlers) {
        listen(name, (event) => { if (event.isTrusted && bar?.mode === "record") handler(event); }, { capture: true, passive: true });
      }
      const attributes = { attributes: true, attributeOldValue: true, attributeFilter: ["style", "class", "hidden", "open", "data-state"] };
      new MutationObserver((records) => this.noticed(list(records))).observe(document, { childList: true, subtree: true, ...attributes });
      listen("pagehide", () => this.report(), { capture: true });
      // What the page itself does with the history and its window (see `MAIN` in person.rs).
      for (const kind of ["travels", "closes"]) listen(`trailblaze-${kind}`, () => this.send({ kind, at: Date.now() }), { capture: true });
      listen("visibilitychange", () => { if (document.visibilityState === "visible") this.send({ kind: "shown", at: Date.now() }); }, {});
    }

    // Says that something begins, which is reported when it is known what it was: what the page does from now on is its effect.
    begin() {
      this.send({ kind: "begins", at: Date.now() });
    }

    /** @param {object} message */
    send(message) {
      globalThis.trailblazeChanged?.(JSON.stringify(message));
    }

    /** @type {(kind: string, e: El | null, sight: Sight, rest?: object) => void} */
    tell(kind, e, sight, rest = {}) {
      this.letGo();
      this.endScrolling();
      const press = this.press?.sight === sight ? this.press : null;
      if (press?.over.length && ["click", "check", "drag", "choose"].includes(kind)) rest = { ...rest, over: press.over.map(idOf) };
      this.send({ kind, at: Date.now(), node: e && idOf(e), seen: sight.seen, ...rest });
    }

    // Reports what is not reported yet.
    report() {
      this.flush();
      this.letGo();
      this.endScrolling();
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
      const { element: e, sight, at, before } = typing;
      const text = e.isContentEditable ? e.innerText : textIn(e);
      // Writing all of it again would lose what a person has made of it, such as bold words.
      const now = e.isContentEditable ? wordsIn(e) : "";
      const more = this.held?.element !== e && before && now.startsWith(before) ? now.slice(before.length) : "";
      if (more && !more.includes("\n")) return this.tell("append", e, sight, { at, text: more });
      if (this.held?.element === e) this.held = null;
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
      this.endScrolling();
      this.begin();
      this.press = this.pressOn(target, event.clientX, event.clientY);
      this.pressedAt = performance.now();
      this.hidden = new WeakMap();
      this.shown = new WeakMap();
    }

    /** @param {PointerEvent} event */
    moved(event) {
      const press = this.press;
      if (press && event.buttons && !press.movedAt && isFar(press, event)) press.movedAt = performance.now();
    }

    /** @type {(target: El, x: number, y: number) => Press} */
    pressOn(target, x, y) {
      let sight = see();
      let named = nameable(sight, target);
      let isInside = named != null && DRAWN.has(named.tagName);
      const isInBare = named != null && named !== target && !isInside && isBare(named);
      if ((!named || isInBare) && !["BODY", "HTML", "IFRAME"].includes(target.tagName) && !isWide(target)) {
        // Nothing but its place in the page tells it apart.
        const path = new Reading({ paths: true }).pathOf(target);
        sight = see([path]);
        if (sight.listed.has(target)) named = target;
        isInside = named != null;
      }
      /** @type {[El, DOMRect][]} */
      const boxes = [];
      for (let e = /** @type {El | null} */ (target); e && e !== document.body && boxes.length < DRAGGED_DEPTH; e = composedParent(e)) boxes.push([e, e[$getBoundingClientRect]()]);
      const over = named ? this.openers(sight, named) : [];
      return { sight, target, named, isInside, over, x, y, boxes, movedAt: 0, isCaptured: false, isUsed: false, isDragged: false };
    }

    // The elements that the pointer must be on, one after the other, for another to be visible.
    /** @type {(sight: Sight, e: El) => El[]} */
    openers(sight, e) {
      /** @type {El[]} */
      const chain = [];
      const last = this.press?.target ?? null;
      for (let at = e; chain.length < CHAIN; at = chain[0]) {
        const by = shownBy(sight, at) ?? openedBy(sight, at, last) ?? this.revealedBy(sight, at);
        if (!by || by === e || chain.includes(by)) break;
        chain.unshift(by);
      }
      return chain;
    }

    // What the pointer was on when something around an element became visible, without a press or a key.
    /** @type {(sight: Sight, e: El) => El | null} */
    revealedBy(sight, e) {
      let isPlaced = false;
      for (let around = /** @type {El | null} */ (e); around && around !== document.body; around = composedParent(around)) {
        const { position } = getComputedStyle(around);
        isPlaced ||= position === "absolute" || position === "fixed";
        const by = this.hidden.get(around) ?? (isPlaced ? this.shown.get(around) : undefined);
        if (!by?.isConnected || isWithin(by, around) || !by[$checkVisibility](SEEN)) continue;
        const named = nameable(sight, by) ?? nearestListed(sight, by);
        if (named && !isWithin(e, named)) return named;
        if (named) return namedIn(sight, named, around);
      }
      return null;
    }

    /** @param {PointerEvent} event */
    cameTo(event) {
      const target = innermost(event);
      if (!target || event.buttons || !event.isTrusted) return;
      const now = performance.now();
      this.pointed = { element: target, at: now };
      // What the last press has opened may still be about to appear.
      if (this.press && isWithin(target, this.press.named ?? this.press.target)) return;
      for (let around = /** @type {El | null} */ (target), n = 0; around && around !== document.body && n < 4; around = composedParent(around), n++) {
        const inside = around[$querySelectorAll]("*");
        if (inside.length > NEARBY) return;
        for (const one of /** @type {El[]} */ (list(inside))) if (!one[$checkVisibility](SEEN)) this.hidden.set(one, target);
      }
    }

    /** @param {MutationRecord[]} records */
    noticed(records) {
      bar?.keep();
      const { pointed } = this;
      if (!pointed || this.pressedAt > pointed.at || performance.now() - pointed.at > OPENS_WITHIN) return;
      /** @param {Node} node */
      const note = (node) => { if (node.nodeType === Node.ELEMENT_NODE && !node.contains(pointed.element)) this.shown.set(/** @type {El} */ (node), pointed.element); };
      for (const { type, target, addedNodes, attributeName, oldValue } of records) {
        if (type === "childList") list(addedNodes).forEach(note);
        else if (attributeName === "hidden" && oldValue != null || oldValue && HIDES.test(oldValue)) note(target);
      }
    }

    // A page may act when the button goes down or up, and replace the element, so that there is no click.
    /** @param {PointerEvent} event */
    released(event) {
      const press = this.press;
      if (!press || event.button !== 0) return;
      if (isFar(press, event)) return this.slid(press, event);
      const at = { ...this.pointer(event, 1), spot: this.spotOf(press) };
      this.missed = () => {
        this.missed = () => {};
        if (press.isUsed || press.target.isConnected || this.isSet(press.target)) return;
        press.isUsed = true;
        this.tell("click", press.named, press.sight, at);
      };
      setTimeout(() => this.missed(), 50);
    }

    // What a page drags itself, such as a slider that a library draws, a card, or what is drawn on a canvas. The browser sends a click
    // if the pointer is still on something that was pressed.
    /** @type {(press: Press, event: PointerEvent) => void} */
    slid(press, event) {
      if (press.isUsed || this.isSet(press.target) || fieldOf(press.target)) return;
      if (!(window.getSelection()?.isCollapsed ?? true)) {
        // A text was selected.
        press.isUsed = press.isDragged = true;
        return;
      }
      const [across, down] = [event.clientX - press.x, event.clientY - press.y];
      // What has moved with the pointer.
      const carried = press.boxes.filter(([e, before]) => {
        const now = e[$getBoundingClientRect]();
        const off = Math.hypot(now.left - before.left - across, now.top - before.top - down);
        return e.isConnected && off < Math.hypot(across, down) / 2;
      }).at(-1)?.[0];
      const isDrawing = press.named != null && DRAWN.has(press.named.tagName);
      const isRange = press.named != null && RANGES.has(roleOf(press.named));
      const hasLeft = !isWithin(hit(event.clientX, event.clientY), press.named ?? press.target);
      const hasChanged = press.movedAt > 0 && changedAt >= press.movedAt;
      if (!isDrawing && !isRange && !carried && !(press.isCaptured && hasChanged) && !(hasLeft && hasChanged)) return;
      const { sight, target } = press;
      const e = press.named ?? (carried && nearestListed(sight, carried)) ?? nearestListed(sight, target);
      if (!e) return;
      press.isUsed = press.isDragged = true;
      const moved = { byX: Math.round(across), byY: Math.round(down) };
      // A box around the target is not dragged by its middle.
      const spot = isDrawing || !isRange && target !== e ? this.within(press, e) : null;
      const onto = isDrawing || isRange ? null : this.droppedOn(sight, carried ?? e, event);
      this.tell("drag", e, sight, { spot, ...moved, ...onto });
    }

    // Where in its element a press was, if that matters.
    /** @param {Press} press */
    spotOf(press) {
      return press.isInside && press.named ? this.within(press, press.named) : null;
    }

    // Where a press was in an element, in pixels from its corner.
    /** @type {(press: Press, e: El) => number[]} */
    within(press, e) {
      const box = press.boxes.find(([one]) => one === e)?.[1] ?? e[$getBoundingClientRect]();
      return [Math.round(press.x - box.left), Math.round(press.y - box.top)];
    }

    // The smallest element that was at the point where something was dropped, before anything moved, and where in it that is.
    /** @type {(sight: Sight, dragged: El, point: { clientX: number, clientY: number }) => { onto: number, ontoSpot: number[] | null } | null} */
    droppedOn(sight, dragged, { clientX: x, clientY: y }) {
      /** @type {{ onto: number, ontoSpot: number[] | null } | null} */
      let found = null;
      let smallest = Infinity;
      /** @param {SeenNode[]} nodes */
      const search = (nodes) => {
        for (const { i, b: [left, top, right, bottom], c } of nodes) {
          const e = i ? elementOf(i) : null;
          const area = (right - left) * (bottom - top);
          if (e && area <= smallest && x >= left && x < right && y >= top && y < bottom && !isWithin(e, dragged) && !isWithin(dragged, e)) {
            smallest = area;
            const isMiddle = Math.hypot(x - (left + right) / 2, y - (top + bottom) / 2) < STEADY;
            found = { onto: idOf(e), ontoSpot: isMiddle ? null : [Math.round(x - left), Math.round(y - top)] };
          }
          if (c) search(c);
        }
      };
      search(sight.seen.nodes ?? []);
      return found;
    }

    // Turns of the wheel are one action until something else is done, or what is scrolled has grown, as a list that loads more does.
    /** @param {WheelEvent} event */
    wheeled(event) {
      const target = innermost(event);
      if (!target || event.ctrlKey) return;
      const area = areaScrolledBy(target, event);
      const height = (area ?? document.documentElement).scrollHeight;
      if (this.scrolling && (this.scrolling.area !== area || this.scrolling.height !== height)) this.endScrolling();
      if (!this.scrolling) {
        this.flush();
        this.letGo();
        const sight = see();
        const [left, top] = scrolledTo(area);
        this.scrolling = { area, over: nearestListed(sight, target), sight, left, top, height, x: 0, y: 0, isHandled: false, at: 0 };
      }
      const { scrolling } = this;
      // 1 is a line, 2 a page.
      const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? window.innerHeight : 1;
      scrolling.x += event.deltaX * unit;
      scrolling.y += event.deltaY * unit;
      scrolling.at = Date.now();
      setTimeout(() => { scrolling.isHandled ||= event.defaultPrevented; }, 0);
    }

    endScrolling() {
      const { scrolling } = this;
      this.scrolling = null;
      if (!scrolling) return;
      const { area, over, sight, isHandled, at } = scrolling;
      const [left, top] = scrolledTo(area);
      // What the page handles itself moves nothing that scrolls. A wheel that turned just now has not moved all of its way.
      const isDone = Date.now() - at > 300;
      // The first turn may have moved it before it was seen here. At the end of an area, turns move nothing any more.
      /** @type {(turned: number, moved: number) => number} */
      const total = (turned, moved) => (isHandled || !isDone || Math.abs(turned - moved) <= MOST_UNSEEN ? turned : moved);
      const [x, y] = [total(scrolling.x, left - scrolling.left), total(scrolling.y, top - scrolling.top)];
      if (Math.abs(x) < 1 && Math.abs(y) < 1) return;
      const e = isHandled ? over : area;
      const shownIn = e && (sight.listed.has(e) ? e : firstListedIn(sight, e));
      this.send({ kind: "scroll", at, node: shownIn && idOf(shownIn), seen: sight.seen, byX: Math.round(x), byY: Math.round(y) });
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
      const inside = press?.sight === sight ? this.spotOf(press) : null;
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
      const rest = { ...this.pointer(event, 1), spot: isPressed ? inside : null };
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
      const press = this.press ?? this.pressOn(target, event.clientX, event.clientY);
      const named = isWithin(press.target, target) || isWithin(target, press.target) ? press.named : nameable(press.sight, target);
      this.tell("click", named, press.sight, { ...this.pointer(event, 2), spot: this.spotOf(press) });
    }

    /** @param {MouseEvent} event */
    menuOpened(event) {
      const target = innermost(event);
      if (!target || !this.press) return;
      this.press.isUsed = true;
      this.tell("click", this.press.named, this.press.sight, { ...this.pointer(event, 1, "RIGHT"), spot: this.spotOf(this.press) });
    }

    /** @param {MouseEvent} event */
    auxClicked(event) {
      const target = innermost(event);
      if (!target || event.button !== 1 || !this.press) return;
      this.press.isUsed = true;
      this.tell("click", this.press.named, this.press.sight, { ...this.pointer(event, 1, "MIDDLE"), spot: this.spotOf(this.press) });
    }

    /** @param {DragEvent} event */
    dragStarted(event) {
      const target = innermost(event);
      const press = this.press;
      if (!target || !press) return;
      press.isUsed = true;
      this.drag = { press, element: nameable(press.sight, target) ?? nearestListed(press.sight, target) };
    }

    // Only elements that accept what is dragged get this event. A text that is dropped into a field changes the field.
    /** @param {DragEvent} event */
    dropped(event) {
      const [drag, target] = [this.drag, innermost(event)];
      this.drag = null;
      if (!drag?.element || !target || fieldOf(target)) return;
      const { press, element } = drag;
      const { sight } = press;
      const moved = { byX: Math.round(event.clientX - press.x), byY: Math.round(event.clientY - press.y) };
      const spot = press.target === element ? null : this.within(press, element);
      const exact = this.droppedOn(sight, element, event);
      const onto = nearestListed(sight, target);
      this.tell("drag", element, sight, { spot, ...moved, ...(exact ?? (onto ? { onto: idOf(onto) } : {})) });
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
      const before = e.isContentEditable ? wordsIn(e) : "";
      this.typing = { element: e, sight: see(), isDirty: false, at: Date.now(), before };
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
        this.typing = { element: e, sight, isDirty: false, at: 0, before: "" };
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
        this.files = list(/** @type {ArrayLike<File>} */ (/** @type {any} */ (e).files));
        const names = this.files.map((file) => file.name);
        this.tell("upload", seen.listed.has(e) ? e : this.press && nameable(seen, this.press.target), seen, { names });
      // A number or a date changes with each key.
      } else if (this.typing?.element === e && focused() !== e) this.flush();
    }

    /** @param {KeyboardEvent} event */
    keyPressed(event) {
      const { key } = event;
      if (event.isComposing || HOLDING_KEYS.has(key)) return;
      this.begin();
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
        const { sight, named } = this.press = this.pressOn(e, 0, 0);
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

  // The text of an editor, without what it only needs to place the caret.
  /** @param {El} e */
  const wordsIn = (e) => e.innerText.replace(/[\uFEFF\u200B]/g, "").replace(/\u00A0/g, " ").replace(/\n$/, "");
  /** @param {string[]} [css] @returns {Sight} */
  const see = (css) => {
    const [seen, listed] = look(css ? { shown: true, css } : { shown: true });
    return { seen, listed: new Set(listed) };
  };

  /** @type {(press: Press, event: MouseEvent) => boolean} */
  const isFar = (press, event) => Math.hypot(event.clientX - press.x, event.clientY - press.y) > STEADY;
  // Whether an element is only a box, so that it is what is in it that is used.
  /** @param {El} e */
  const isBare = (e) => !isControl(e) && !isEditable(e) && !PRESSING.test(getComputedStyle(e).cursor) && !nameOf(e, roleOf(e)) && !fold(textOf(e));
  // Whether an element fills most of the window, so that a point in it says more than the element.
  /** @param {El} e */
  const isWide = (e) => {
    const box = e[$getBoundingClientRect]();
    return box.width * box.height > window.innerWidth * window.innerHeight / 2;
  };
  // The area that a turn of the wheel moves; null for the page.
  /** @type {(from: El, event: WheelEvent) => El | null} */
  const areaScrolledBy = (from, { deltaX, deltaY }) => {
    for (let e = /** @type {El | null} */ (from); e && e !== document.body && e !== document.documentElement; e = composedParent(e)) {
      const { overflowX, overflowY } = getComputedStyle(e);
      /** @type {(room: number, at: number, by: number, overflow: string) => boolean} */
      const moves = (room, at, by, overflow) => /auto|scroll/.test(overflow) && (by > 0 && at < room - 1 || by < 0 && at > 0);
      if (moves(e.scrollHeight - e.clientHeight, e.scrollTop, deltaY, overflowY) || moves(e.scrollWidth - e.clientWidth, e.scrollLeft, deltaX, overflowX)) return e;
    }
    return null;
  };
  /** @param {El | null} area */
  const scrolledTo = (area) => (area ? [area.scrollLeft, area.scrollTop] : [window.scrollX, window.scrollY]);
  // What is shown in an area, to find the area by.
  /** @type {(sight: Sight, area: El) => El | null} */
  const firstListedIn = (sight, area) => {
    const box = area[$getBoundingClientRect]();
    for (const one of sight.listed) {
      if (!isWithin(one, area)) continue;
      const { left, right, top, bottom } = one[$getBoundingClientRect]();
      if (top >= box.top && bottom <= box.bottom && right > box.left && left < box.right && (fold(textOf(one)) || nameOf(one, roleOf(one)))) return one;
    }
    return nearestListed(sight, area);
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
    if (DRAWN.has(box.tagName)) return box;
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
  /** @type {(sight: Sight, e: El, last: El | null) => El | null} */
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
  // The element that must be under the pointer for another, or something around it, to be visible, as style sheets say:
  // `li:hover ul { display: block }`. It is described by something with a name in it.
  /** @type {(sight: Sight, e: El) => El | null} */
  const shownBy = (sight, e) => {
    const styles = hoverStyles(e[$getRootNode]());
    for (let shown = /** @type {El | null} */ (e); styles.length && shown && shown !== document.body; shown = shown.parentElement) {
      for (const style of styles) {
        for (const selector of style.selectorText.split(",").filter((one) => one.includes(":hover"))) {
          const at = selector.indexOf(":hover");
          const outer = selector.slice(0, at);
          try {
            // The pointer has left what only has to be passed.
            if (!shown[$matches](selector.replace(/:hover/g, ":is(*)"))) continue;
            const around = /** @type {El | null} */ (/^:hover[^ >]*\s*[+~]/.test(selector.slice(at)) ? beside(shown, outer) : shown[$closest](outer));
            if (!around || around === shown) continue;
            const named = namedIn(sight, around, shown);
            if (named) return named;
          } catch { /* It is not a selector on its own. */ }
        }
      }
    }
    return null;
  };
  // An element before another, or before something around it.
  /** @type {(e: El, selector: string) => El | null} */
  const beside = (e, selector) => {
    for (let around = /** @type {El | null} */ (e); around; around = around.parentElement) {
      for (let one = around.previousElementSibling; one; one = one.previousElementSibling) if (/** @type {El} */ (one)[$matches](selector)) return /** @type {El} */ (one);
    }
    return null;
  };
  // An element by which another is described, outside of what it shows.
  /** @type {(sight: Sight, around: El, shown: El) => El | null} */
  const namedIn = (sight, around, shown) => {
    /** @param {El} one */
    const isNamed = (one) => sight.listed.has(one) && (nameOf(one, roleOf(one)) !== "" || fold(textOf(one)) !== "");
    if (sight.listed.has(around) && nameOf(around, roleOf(around))) return around;
    for (const one of sight.listed) if (isWithin(one, around) && !isWithin(one, shown) && !isWithin(shown, one) && isNamed(one)) return one;
    return sight.listed.has(around) && isNamed(around) ? around : null;
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
          const isShowing = display && display !== "none" || visibility === "visible" || visibility === "inherit" || Number(opacity) > 0;
          if (isShowing && rule.selectorText.includes(":hover")) found.push(rule);
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
  /** @type {Bar | null} */
  let bar = null;
  Object.assign(globalThis.trailblaze, {
    record() { recorder ??= new Recorder(); },
    // Reports what is not reported yet.
    flush() { recorder?.report(); },
    /** @param {number} nth */
    uploaded: (nth) => recorder?.files[nth],
    // What the bar shows, and what a click means now.
    /** @param {BarState} state */
    steer(state) { bar?.steer(state); },
  });
