
  // The half that acts (see walker.js): makes elements ready, watches where a touch or a text goes, and sets what no
  // keyboard or pointer can.

  // A script that was there first may keep events to itself.
  const isFirst = document.readyState === "loading";

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
  const GUARDED = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "dblclick", "contextmenu"];
  if (navigator.maxTouchPoints > 0) GUARDED.push("touchstart", "touchend");
  for (const name of GUARDED) addEventListener(name, guard, { capture: true, passive: false });

  // The drag that the page began, unless it prevented it.
  let dragStart = null;
  addEventListener("dragstart", (event) => { dragStart = event; }, { capture: true });

  // Scrolling that was not said to have ended.
  let isScrolling = false;
  addEventListener("scroll", () => { isScrolling = true; }, { capture: true, passive: true });
  addEventListener("scrollend", () => { isScrolling = false; }, { capture: true, passive: true });

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
  const isInWindow = ({ x, y }) => x >= 0 && y >= 0 && x < innerWidth && y < innerHeight;
  const bounds = (box) => [box.left, box.top, box.right, box.bottom].map(Math.round);
  const middle = (from, to, most) => (Math.max(from, 0) + Math.min(to, most)) / 2;
  const reveal = (e) => e.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });

  // Where an element is touched: at an offset from its corner, or in the middle of what the window shows of it.
  const pointOf = (e, at) => {
    if (at) {
      const box = e.getBoundingClientRect();
      return { x: box.left + at[0], y: box.top + at[1] };
    }
    const box = boxOf(e);
    return { x: middle(box.left, box.right, innerWidth), y: middle(box.top, box.bottom, innerHeight) };
  };
  const gets = (e, point) => {
    const got = hit(point.x, point.y);
    return got != null && reaches(got, e);
  };

  // Makes an element ready for what is to be done with it, and answers where it is. To be touched it must be in view, at
  // rest, enabled, and what gets a touch there; to have something dropped on it, in view; to get the focus, enabled.
  async function ready(e, { how = "touch", at = null } = {}) {
    if (!e?.isConnected) return { why: "gone" };
    if (how !== "drop" && isDisabled(e)) return { why: "disabled" };
    // A control that is drawn by its label is touched there.
    let body = e;
    const size = e.getBoundingClientRect();
    if ((size.width < 2 || size.height < 2) && e.labels?.length) body = e.labels[0];
    if (at && (at[0] < 0 || at[1] < 0 || at[0] >= size.width || at[1] >= size.height)) {
      return { why: "outside", by: `${Math.round(size.width)} x ${Math.round(size.height)}` };
    }
    let isScrolled = false;
    if (how !== "focus") {
      // A box around it may cut it off though it lies in the window; then a touch there does not get to it.
      isScrolled = !isInView(body.getBoundingClientRect()) || !gets(e, pointOf(body, at));
      if (isScrolled) reveal(body);
      const point = pointOf(body, at);
      if (at && !isInWindow(point)) scrollBy({ left: point.x - innerWidth / 2, top: point.y - innerHeight / 2, behavior: "instant" });
      if (!(await rests(body))) return { why: "moving" };
      if (!e.isConnected) return { why: "gone" };
    }
    const box = boxOf(body);
    if (box.width === 0 || box.height === 0) return { why: "hidden" };
    const point = pointOf(body, at);
    if (how === "touch") {
      const got = hit(point.x, point.y);
      if (!got || !reaches(got, e)) return { why: "covered", by: got ? summary(got) : "nothing" };
      takeAim(e);
    }
    return { id: idOf(e), ...point, b: bounds(box), isScrolled };
  }

  // Text that is on its way to a field.
  let delivery = null;
  const expectText = (element) => {
    const own = delivery = { element, before: null, hasInput: false };
    element.addEventListener("beforeinput", (event) => { own.before = event; }, { once: true, capture: true });
    element.addEventListener("input", () => { own.hasInput = true; }, { once: true, capture: true });
  };
  // Keys of a text that went down while nothing could take them.
  let lostKeys = 0;
  addEventListener("keydown", (event) => {
    if (event.isTrusted && event.key !== "Shift" && !takesKeys(focused())) lostKeys++;
  }, { capture: true });

  const PRESSED_ROLES = new Set(["button", "checkbox", "link", "menuitem", "menuitemcheckbox", "menuitemradio", "radio", "slider", "switch", "tab"]);
  const isField = (e) => e != null && isEditable(e);
  // What the page made focusable may handle keys itself: an editor that draws its own text, a grid.
  const takesKeys = (e) => isField(e) && !e.readOnly || e != null && e !== document.body
    && (e.tagName === "SELECT" || e.hasAttribute("tabindex") && !PRESSED_ROLES.has(roleOf(e)));
  const textIn = (e) => e.value ?? e.textContent;
  const selectAll = (e) => {
    if (e.select) e.select();
    else document.getSelection().selectAllChildren(e);
  };
  // The editor that an element belongs to: the outermost editable element around it.
  const editorOf = (e) => {
    let host = e;
    while (e.isContentEditable && host.parentElement?.isContentEditable) host = host.parentElement;
    return host;
  };

  Object.assign(globalThis.trailblaze, {
    frame,
    ready: (id, use) => ready(elementOf(id), use),
    isThere: (id) => elementOf(id) != null,

    // Whether a point of a frame within this one can be touched, and where that is here.
    async through(id, x, y, isScrolled, how) {
      const e = elementOf(id);
      if (!e) return { why: "gone" };
      const at = () => {
        const box = e.getBoundingClientRect();
        return { x: box.left + e.clientLeft + x, y: box.top + e.clientTop + y };
      };
      if (how === "focus") return { ...at(), isScrolled };
      const isHit = () => hit(at().x, at().y) === e;
      if (!isInView(e.getBoundingClientRect()) || !isHit()) {
        reveal(e);
        isScrolled = true;
      }
      // A frame of another process scrolls what is around it later, and the browser knows where frames are when it has
      // drawn them.
      for (let n = 0, before = ""; isScrolled && n < 10 && before !== place(e); n++) {
        before = place(e);
        await frame();
        await frame();
      }
      // A frame that is taller than the window is scrolled to where the point is.
      if (!isInWindow(at())) scrollBy({ left: at().x - innerWidth / 2, top: at().y - innerHeight / 2, behavior: "instant" });
      if (how === "touch") {
        const got = hit(at().x, at().y);
        if (got !== e) return { why: "covered", by: got ? summary(got) : "nothing" };
        // A touch that is seen here did not get into the frame.
        takeAim(e);
      }
      return { ...at(), isScrolled };
    },

    // What became of the touch: nothing if it landed where it was meant to. A press that was not seen here has got lost.
    landed(isPressed) {
      // What gets into a frame is not seen here.
      const isLost = isPressed && isFirst && aim?.state === "open" && aim.element.tagName !== "IFRAME";
      const how = aim?.state === "missed" ? `${aim.by} took its place as it was touched` : isLost ? "the touch did not get through to it" : null;
      aim = null;
      // What changed was our doing, as likely as not; what gave way moves.
      streak = how ? 2 : 0;
      return how;
    },

    // Gives a field the focus with its text selected, so that what is typed next replaces it. What no keyboard fills, a date,
    // a colour or a slider, is set at once.
    take(id, value) {
      const e = elementOf(id);
      aim = null;
      if (!e) return { isGone: true };
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
      const editor = editorOf(e);
      editor.focus();
      if (!e.isConnected) return { isGone: true };
      if (focused() !== editor) return { why: "it does not take the focus" };
      selectAll(e);
      if (value === "" && textIn(e) === "") return { isSet: true };
      expectText(editor);
      return {};
    },

    // Why the text that was typed is not in the field that was taken; nothing if it is. A page may draw the field again as it
    // gets its text, and then gives it the focus.
    took() {
      // A document that came with the text has none on its way.
      if (!delivery) return null;
      const { element, before, hasInput } = delivery;
      delivery = null;
      // A page may take the text over before it is put in.
      if (!hasInput && !before?.defaultPrevented) return before ? "it takes no such text" : "the text did not arrive";
      if (element.isConnected) return null;
      const now = focused();
      return isField(now) && textIn(now) !== "" ? null : "it was replaced as the text arrived";
    },

    // What has the focus and takes keys: a frame; or how much text it holds, none where it is no field; or why nothing does.
    focus(isToSelect) {
      const e = focused();
      if (e?.tagName === "IFRAME") return { frame: idOf(e) };
      if (isField(e) && e.readOnly) return { why: `${summary(e)} is read-only` };
      if (!takesKeys(e)) return { why: "no field has the focus" + (!e || e === document.body ? "" : `; ${summary(e)} has it`) };
      lostKeys = 0;
      if (!isField(e)) return isToSelect ? { why: `${summary(e)} has no text to replace` } : {};
      if (isToSelect) {
        selectAll(e);
        expectText(e);
      }
      return { length: textIn(e).length };
    },
    lostKeys: () => lostKeys,

    choose(id, values) {
      const e = elementOf(id);
      if (!e) return { isGone: true };
      if (e.tagName !== "SELECT") return { why: "it is no list to choose from" };
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
      return { x: middle(box.left, box.right, innerWidth), y: middle(box.top, box.bottom, innerHeight),
        width: Math.min(box.right - box.left, innerWidth), height: Math.min(box.bottom - box.top, innerHeight) };
    },

    // Waits until nothing scrolls any more, but not for ever.
    async scrolled() {
      for (let n = 0; n < 3; n++) await frame();
      for (let n = 0; isScrolling && n < 120; n++) await frame();
    },

    // Whether the browser itself would drag it.
    isDraggable(id) {
      for (let e = elementOf(id); e; e = composedParent(e)) if (e.draggable === true) return true;
      return false;
    },

    // Whether a drag of the browser's own has begun since this was last asked.
    dragged() {
      const has = dragStart != null && !dragStart.defaultPrevented;
      dragStart = null;
      return has;
    },
  });
