
  // The half that acts (see walker.js): makes elements ready, watches where a touch or a text arrives, and sets what no
  // keyboard or pointer can.

  // A script that ran before this one may hide events from it.
  const isFirst = document.readyState === "loading";

  // The touch in progress and its target. A touch that would land on another element is suppressed.
  /** @type {{ element: El, point: XY, state: "open" | "missed" | "landed", at: number, by?: string, under?: El } | null} */
  let aim = null;
  const AIMED = 5000;
  /** @type {(element: El, point: XY) => void} */
  const takeAim = (element, point) => { aim = { element, point, state: "open", at: performance.now() }; finger = null; };

  // The finger that is down, or was down last, and whether the browser took it for a long press.
  /** @type {{ event: Event, at: number, hasMenu: boolean } | null} */
  let finger = null;
  if (navigator.maxTouchPoints > 0) {
    listen("touchstart", (event) => { finger = { event, at: performance.now(), hasMenu: false }; }, { capture: true, passive: true });
    listen("contextmenu", () => { if (finger) finger.hasMenu = true; }, { capture: true });
  }
  // The element that receives an event. Elements in a closed root are not part of the path.
  /** @param {Event} event */
  const receiverOf = (event) => {
    const first = event[$composedPath]()[0];
    const target = first && /** @type {Node} */ (first).nodeType === Node.ELEMENT_NODE ? /** @type {El} */ (first) : null;
    const { clientX, clientY } = /** @type {MouseEvent} */ (event);
    return target && rootOf(target) ? hit(clientX, clientY) : target;
  };
  /** @param {Event} event */
  const guard = (event) => {
    if (!aim || !event.isTrusted || performance.now() - aim.at > AIMED) return;
    if (aim.state === "open" && event.type.endsWith("down")) {
      const got = receiverOf(event);
      aim.state = "landed";
      if (got && !reaches(got, aim.element)) {
        aim.state = "missed";
        aim.by = summary(got);
      }
    }
    if (aim.state === "missed") {
      event[$preventDefault]();
      event[$stopImmediatePropagation]();
    }
  };
  const GUARDED = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "dblclick", "contextmenu"];
  if (navigator.maxTouchPoints > 0) GUARDED.push("touchstart", "touchend");
  for (const name of GUARDED) listen(name, guard, { capture: true, passive: false });
  listen("pointermove", (event) => { if (aim?.state === "open" && event.isTrusted) aim.under = receiverOf(event) ?? undefined; }, { capture: true, passive: true });

  // The last drag that started; the page may have prevented it.
  /** @type {Event | null} */
  let dragStart = null;
  listen("dragstart", (event) => { dragStart = event; }, { capture: true });

  // What covers an element: a dialog, rather than the part of it that is there.
  /** @param {El | null} got @param {El} e */
  const cover = (got, e) => {
    for (let up = got; up && !up[$contains](e); up = treeParent(up)) if (/^(alert)?dialog$/.test(roleOf(up))) return summary(up);
    return got ? summary(got) : "nothing";
  };

  // The properties whose transitions move something.
  const MOVING = /^(transform|translate|rotate|scale|top|left|right|bottom|width|height|margin|padding|offset|flex|grid)/;

  // Whether a scroll has started and not ended.
  let isScrolling = false;
  listen("scroll", () => { isScrolling = true; }, { capture: true, passive: true });
  listen("scrollend", () => { isScrolling = false; }, { capture: true, passive: true });

  // Waits for the next frame. True if it shows a later time, or if the page is hidden: then there are no frames, and nothing moves.
  /** @type {() => PromiseLike<boolean>} */
  const frame = () => wait((done) => {
    const time = document.timeline.currentTime;
    requestAnimationFrame(() => done(document.timeline.currentTime !== time));
    setTimeout(() => done(document.hidden), 100);
  });
  /** @param {El} e */
  const animationsOf = (e) => list(document[$getAnimations]()).filter((one) => {
    const target = one.playState === "running" && /** @type {KeyframeEffect | null} */ (one.effect)?.target;
    return target && isWithin(e, target);
  });
  // An animation that is about to start does not move anything yet.
  /** @param {Animation} one */
  const isAboutToBegin = (one) => {
    const { delay = 0, localTime } = one.effect?.getComputedTiming() ?? {};
    return one.pending || typeof localTime !== "number" || localTime < delay && delay - localTime < 1000;
  };
  /** @param {El} e */
  const place = (e) => {
    const box = e[$getBoundingClientRect]();
    return `${box.left} ${box.top} ${box.width} ${box.height}`;
  };
  /** @param {El} e */
  const isRestyledLately = (e) => {
    for (let up = /** @type {El | null} */ (e); up; up = composedParent(up)) {
      const restyling = restylings.get(up);
      if (restyling && performance.now() - restyling.at < (restyling.isDrawn || document.hidden ? BUSY : STARVED)) return true;
    }
    return false;
  };
  // Waits until an element stops moving, for a limited number of frames and only while something may move.
  /** @param {El} e @returns {Generator<unknown, boolean, any>} */
  function* rests(e) {
    for (let n = 0, before = place(e); ; n++) {
      const animations = animationsOf(e);
      if (!animations.length && !isRestyledLately(e) && (streak < 2 || performance.now() - changedAt > BUSY)) return true;
      if (n === 30) return false;
      const isDrawn = yield frame();
      const after = place(e);
      if (isDrawn && before === after && !animations.some(isAboutToBegin)) return true;
      before = after;
    }
  }

  // Waits until the animations end that make an element appear, for a limited time.
  /** @param {El} e @returns {Generator<unknown, void, any>} */
  function* shows(e) {
    const ending = animationsOf(e).filter((one) => one.effect?.getComputedTiming().endTime !== Infinity);
    for (const start = performance.now(); performance.now() - start < 1000 && ending.some((one) => one.playState === "running"); ) yield frame();
  }

  // The box of an element, or of its first line. An element that is known only by the line of text in it is where that text is.
  /** @param {El} e */
  const boxOf = (e) => {
    const boxes = lines.has(e) ? rangeOf(e)[$getClientRects]() : e[$getClientRects]();
    return list(boxes).find((rect) => rect.width > 0 && rect.height > 0) ?? areaOf(e);
  };
  /** @param {DOMRect} box */
  const isInView = (box) => box.top >= 0 && box.left >= 0 && box.bottom <= window.innerHeight && box.right <= window.innerWidth;
  /** @param {XY} point */
  const isInWindow = ({ x, y }) => x >= 0 && y >= 0 && x < window.innerWidth && y < window.innerHeight;
  /** @param {DOMRect} box */
  const bounds = (box) => [box.left, box.top, box.right, box.bottom].map(Math.round);
  /** @type {(from: number, to: number, most: number) => number} */
  const middle = (from, to, most) => (Math.max(from, 0) + Math.min(to, most)) / 2;
  /** @param {El} e */
  const reveal = (e) => e[$scrollIntoView]({ block: "center", inline: "center", behavior: "instant" });

  /** @param {El} e */
  const hasHand = (e) => getComputedStyle(e).cursor === "pointer";
  /** @param {El} e */
  const hasHandler = (e) => HANDLERS.some((name) => e[$hasAttribute](name));
  // Whether a touch of the element itself seems to do something.
  /** @param {El} e */
  const isActive = (e) => e.tagName === "LABEL" || isControl(e) || hasHandler(e) || hasHand(e);
  // Whether an element inside of another seems to do something else when it is touched.
  /** @type {(got: El, e: El) => boolean} */
  const isOther = (got, e) => {
    const isHand = hasHand(e);
    for (let up = /** @type {El | null} */ (got); up && up !== e; up = composedParent(up)) {
      if (isControl(up) || hasHandler(up) || !isHand && hasHand(up)) return true;
    }
    return false;
  };
  // Where an element is touched: at an offset from its corner, or in the middle of its visible part. If there is another control
  // in the middle, as in a card with buttons or a panel of days, where there is none; a box that does nothing itself stands for
  // what is in it.
  /** @type {(e: El, at: Use["at"]) => XY} */
  const pointOf = (e, at) => {
    if (at) {
      const box = e[$getBoundingClientRect]();
      return { x: box.left + at[0], y: box.top + at[1] };
    }
    const box = boxOf(e);
    const [left, top, right, bottom] = [Math.max(box.left, 0), Math.max(box.top, 0), Math.min(box.right, window.innerWidth), Math.min(box.bottom, window.innerHeight)];
    /** @type {(across: number, down: number) => XY} */
    const point = (across, down) => ({ x: left + (right - left) * across, y: top + (bottom - top) * down });
    /** @param {XY} one */
    const isOwn = (one) => {
      const got = hit(one.x, one.y);
      return !got || !isWithin(got, e) ? null : !isOther(got, e);
    };
    const center = point(0.5, 0.5);
    if (!isActive(e) || isOwn(center) !== false) return center;
    for (const part of PARTS) for (const other of PARTS) if (isOwn(point(other, part))) return point(other, part);
    return center;
  };
  // Where else to look, as parts of the width and height.
  const PARTS = [0.5, 0.25, 0.75, 0.1, 0.9, 0.02, 0.98];
  /** @type {(e: El, point: XY) => boolean} */
  const gets = (e, point) => {
    const got = hit(point.x, point.y);
    return got != null && reaches(got, e);
  };

  // Makes an element ready for an action and returns where it is. For a touch, it must be in view, at rest, enabled, and the
  // element that receives the touch; for a drop, in view; for the focus, enabled.
  /** @type {(e: El | null, use?: Use) => Generator<unknown, Ready, any>} */
  function* ready(e, use = {}) {
    if (!e?.isConnected) return { why: "gone" };
    if (use.how !== "drop" && isDisabled(e)) return { why: "disabled" };
    // A control that is drawn by its label is touched on the label.
    const body = standIn(e) ?? e;
    const answer = yield* readyAt(e, body, use);
    // So is one that something else covers, such as the picture of a switch; and a field that only the box around it shows.
    if ((use.how ?? "touch") === "touch" && !use.at && (answer.why === "covered" || answer.why === "hidden")) {
      for (const other of [...list(e.labels ?? []), boxAround(e)]) {
        const answered = !other || other === body || !other[$checkVisibility](SEEN) ? answer : yield* readyAt(e, other, use);
        if (!answered.why) return answered;
      }
    }
    return answer;
  }

  /** @type {(e: El, body: El, use: Use) => Generator<unknown, Ready, any>} */
  function* readyAt(e, body, { how = "touch", at = null }) {
    const size = e[$getBoundingClientRect]();
    if (at && (at[0] < 0 || at[1] < 0 || at[0] >= size.width || at[1] >= size.height)) {
      return { why: "outside", by: `${Math.round(size.width)} x ${Math.round(size.height)}` };
    }
    let isScrolled = false;
    if (how !== "focus") {
      isScrolled = !isInView(areaOf(body));
      if (!isScrolled && !gets(e, pointOf(body, at))) {
        // What is about to appear takes no touches yet. To scroll then would move the page away from under the pointer, and a menu
        // that the pointer holds open would close.
        if (!(yield* rests(body))) return { why: "moving" };
        yield* shows(body);
        // A box around it may cut it off although it is inside the window; then a touch would not reach it.
        isScrolled = !gets(e, pointOf(body, at));
      }
      if (isScrolled) reveal(body);
      const point = pointOf(body, at);
      if (at && !isInWindow(point)) window.scrollBy({ left: point.x - window.innerWidth / 2, top: point.y - window.innerHeight / 2, behavior: "instant" });
      if (!(yield* rests(body))) return { why: "moving" };
      if (!e.isConnected) return { why: "gone" };
    }
    const box = boxOf(body);
    if (box.width === 0 || box.height === 0) return { why: "hidden", by: "it has no size" };
    const point = pointOf(body, at);
    if (how === "touch") {
      if (!isInWindow(point)) return { why: "hidden", by: "it lies outside the page" };
      const got = hit(point.x, point.y);
      if (!got || !reaches(got, e)) return { why: "covered", by: cover(got, e) };
      takeAim(e, point);
    }
    return { id: idOf(e), ...point, b: bounds(box), isScrolled };
  }

  // A text that is being typed into a field.
  /** @typedef {{ element: El, root: Root, name: string, before: Event | null, hasInput: boolean }} Delivery */
  /** @type {Delivery | null} */
  let delivery = null;
  /** @param {El} element */
  const expectText = (element) => {
    /** @type {Delivery} */
    const own = { element, root: element[$getRootNode](), name: nameOf(element, roleOf(element)), before: null, hasInput: false };
    delivery = own;
    on(element, "beforeinput", (event) => { own.before = event; }, { once: true, capture: true });
    on(element, "input", () => { own.hasInput = true; }, { once: true, capture: true });
  };
  // The number of keys that were pressed while no element could receive them.
  let lostKeys = 0;
  listen("keydown", (event) => {
    if (event.isTrusted && event.key !== "Shift" && !takesKeys(focused())) lostKeys++;
  }, { capture: true });

  const PRESSED_ROLES = new Set(["button", "checkbox", "link", "menuitem", "menuitemcheckbox", "menuitemradio", "radio", "slider", "switch", "tab"]);
  /** @param {El | null} e @returns {e is El} */
  const isField = (e) => e != null && isEditable(e);
  // An element that the page made focusable may handle keys itself, such as a custom editor or a grid.
  /** @param {El | null} e @returns {e is El} */
  const takesKeys = (e) => isField(e) && !e.readOnly || e != null && e !== document.body
    && (e.tagName === "SELECT" || e[$hasAttribute]("tabindex") && !PRESSED_ROLES.has(roleOf(e)));
  /** @param {El} e */
  const textIn = (e) => e.value ?? e.textContent ?? "";
  /** @param {El} e */
  const selectAll = (e) => {
    if (e.select) e.select();
    else document.getSelection()?.selectAllChildren(e);
  };
  /** @param {El} e */
  const moveToEnd = (e) => {
    const selection = document.getSelection();
    if (e.isContentEditable) {
      selection?.selectAllChildren(e);
      selection?.collapseToEnd();
    } else if (e.selectionStart != null) e.setSelectionRange?.(textIn(e).length, textIn(e).length);
    // Scripts cannot set the caret in a number or e-mail field. In Firefox, the selection of the page does not reach into it either, but the
    // caret goes behind a new value.
    else if (typeof e.value === "string" && CSS.supports("-moz-appearance", "none")) {
      const { value } = e;
      e.value = "";
      e.value = value;
    } else selection?.modify("move", "forward", "documentboundary");
  };
  // The editor that an element belongs to: its outermost editable ancestor.
  /** @param {El} e */
  const editorOf = (e) => {
    let host = e;
    while (e.isContentEditable && host.parentElement?.isContentEditable) host = host.parentElement;
    return host;
  };

  Object.assign(globalThis.trailblaze, {
    frame: task(function* () { return yield frame(); }),
    ready: task(/** @type {(id: number, use: Use) => Generator} */ ((id, use) => ready(elementOf(id), use))),
    /** @param {number} id */
    isThere: (id) => elementOf(id) != null,

    // Whether a point of a child frame can be touched, and its position in this frame.
    through: task(/** @type {(id: number, x: number, y: number, isScrolled: boolean, how: Use["how"]) => Generator<unknown, Ready, any>} */ (function* (id, x, y, isScrolled, how) {
      const e = elementOf(id);
      if (!e) return { why: "gone" };
      const at = () => {
        const box = e[$getBoundingClientRect]();
        return { x: box.left + e.clientLeft + x, y: box.top + e.clientTop + y };
      };
      if (how === "focus") return { ...at(), isScrolled };
      const isHit = () => hit(at().x, at().y) === e;
      if (!isInView(e[$getBoundingClientRect]()) || !isHit()) {
        reveal(e);
        isScrolled = true;
      }
      // A frame in another process scrolls its surroundings later, and the browser knows where frames are only after it has
      // drawn them.
      for (let n = 0, before = ""; isScrolled && n < 10 && before !== place(e); n++) {
        before = place(e);
        yield frame();
        yield frame();
      }
      // A frame that is taller than the window is scrolled to the point.
      if (!isInWindow(at())) window.scrollBy({ left: at().x - window.innerWidth / 2, top: at().y - window.innerHeight / 2, behavior: "instant" });
      if (how === "touch") {
        if (!isInWindow(at())) return { why: "hidden", by: "its frame lies outside the page" };
        const got = hit(at().x, at().y);
        if (got !== e) return { why: "covered", by: cover(got, e) };
        // A touch that is seen here did not reach the child frame.
        takeAim(e, at());
      }
      return { ...at(), isScrolled };
    })),

    // How the touch went wrong; null if it reached its target. A press that was not seen here is lost.
    /** @param {"press" | "hover" | "none"} touch */
    landed(touch) {
      finger = null;
      // A touch inside a child frame is not seen here.
      const isFrame = aim?.element.tagName === "IFRAME";
      const isLost = touch === "press" && isFirst && aim?.state === "open" && !isFrame;
      // A pointer that was there before does not move.
      const under = touch === "hover" && aim ? aim.under ?? (isFrame ? null : hit(aim.point.x, aim.point.y)) : null;
      const how = aim?.state === "missed" ? `${aim.by} took its place as it was touched` : isLost ? "the touch did not reach it"
        : aim && under && !reaches(under, aim.element) ? `${summary(under)} took its place as the pointer moved there` : null;
      aim = null;
      // After a touch, recent changes are probably its effect. After a miss, something is moving.
      streak = how ? 2 : 0;
      return how;
    },

    // Waits until a finger has been down for so many milliseconds, and the browser has taken it for a long press. It never does where
    // the page prevents that; a busy browser does it late.
    held: task(/** @type {(long: number) => Generator<unknown, void, any>} */ (function* (long) {
      for (const start = performance.now(); performance.now() - start < 20 * long; ) {
        const lasted = finger ? performance.now() - finger.at : 0;
        if (finger && lasted >= long && (finger.hasMenu || finger.event.defaultPrevented || lasted > 4 * long)) return;
        yield wait((done) => { setTimeout(() => done(undefined), 20); });
      }
    })),

    // Focuses a field and selects its text, so that typing replaces it. A field that no keyboard can fill, such as a date, a
    // colour or a slider, is set directly.
    /** @type {(id: number, value: string) => object} */
    take(id, value) {
      const e = elementOf(id);
      aim = null;
      if (!e) return { isGone: true };
      if (["date", "time", "datetime-local", "month", "week", "color", "range"].includes(e.type)) {
        e[$focus]();
        e.value = value;
        if (e.type !== "range" && e.value !== value) return { why: `\`${value}\` is not a valid value for a field of type ${e.type}` };
        e[$dispatchEvent](new Event("input", { bubbles: true, composed: true }));
        e[$dispatchEvent](new Event("change", { bubbles: true }));
        return { isSet: true };
      }
      if (!isEditable(e)) return { why: "it is not a text field" };
      if (e.readOnly) return { why: "it is read-only" };
      const editor = editorOf(e);
      editor[$focus]();
      if (!e.isConnected) return { isGone: true };
      if (focused() !== editor) return { why: "it does not take the focus" };
      selectAll(e);
      if (value === "" && textIn(e) === "") return { isSet: true };
      expectText(editor);
      return {};
    },

    // Moves the caret behind the text of a field, or of the focused field that has replaced it.
    /** @param {number} id */
    moveToEnd(id) {
      const now = focused();
      if (!isField(now)) return;
      const e = elementOf(id);
      moveToEnd(e && isField(e) && isWithin(e, now) ? e : now);
    },

    // Why the typed text is not in the field; null if it is. A page may replace the field while it receives its text; then the
    // focused field has the text, or one with the same name.
    took() {
      // A new document, loaded because of the text, expects none.
      if (!delivery) return null;
      const { element, root, name, before, hasInput } = delivery;
      delivery = null;
      // A page may handle the text itself before it is inserted.
      if (!hasInput && !before?.defaultPrevented) return before ? "it does not accept this text" : "the text did not arrive";
      if (element.isConnected) return null;
      const now = focused();
      if (isField(now) && textIn(now) !== "") return null;
      /** @type {NodeListOf<El>} */
      const fields = root[$querySelectorAll](element.localName);
      /** @param {El} e */
      const hasText = (e) => isField(e) && textIn(e) === textIn(element) && nameOf(e, roleOf(e)) === name;
      return list(fields).some(hasText) ? null : "it was replaced as the text arrived";
    },

    // The focused element, if it takes keys: a frame, or the length of its text if it is a field; otherwise why none does.
    /** @param {boolean} isToSelect */
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

    /** @type {(id: number, values: string[]) => object} */
    choose(id, values) {
      const e = elementOf(id);
      if (!e) return { isGone: true };
      if (e.tagName !== "SELECT") return { why: "it is not a `<select>`; click it, and then the option" };
      if (values.length > 1 && !e.multiple) return { why: "only one value can be chosen" };
      const [options, wanted] = [list(e.options), list(values)];
      const chosen = wanted.map((value) => options.find((one) => one.value === value) ?? options.find((one) => fold(one.label) === fold(value)));
      const missing = wanted.filter((_, index) => !chosen[index]);
      if (missing.length) return { why: `it has no \`${missing[0]}\`, only ${options.map((one) => `\`${fold(one.label)}\``).slice(0, 10).join(", ")}` };
      const off = chosen.find((one) => one && (one.disabled || /** @type {El | null} */ (one.parentElement)?.disabled));
      if (off) return { why: `\`${fold(off.label)}\` is disabled` };
      e[$focus]();
      for (const option of options) option.selected = chosen.includes(option);
      e[$dispatchEvent](new Event("input", { bubbles: true, composed: true }));
      e[$dispatchEvent](new Event("change", { bubbles: true }));
      return { chosen: chosen.map((one) => fold(one?.label ?? "")) };
    },

    /** @param {number} id */
    isChecked: (id) => {
      const e = elementOf(id);
      return e ? checkedOf(e) : null;
    },

    // The value of an attribute or, without a name, the value or text of the element.
    /** @type {(id: number, name: string | null) => string | null} */
    attribute(id, name) {
      const e = elementOf(id);
      aim = null;
      if (!e || name) return e && name ? e[$getAttribute](name) : null;
      if (e.tagName === "SELECT") return list(e.selectedOptions).map((one) => one.label).join(", ");
      return typeof e.value === "string" ? e.value : rangeValueOf(e, roleOf(e)) ?? fold(textOf(e));
    },

    // Where to turn the wheel to scroll an element, or the page without one, and how large that area is.
    /** @param {number} id */
    scroller(id) {
      const e = id ? elementOf(id) : null;
      const box = e?.[$getBoundingClientRect]() ?? { left: 0, top: 0, right: window.innerWidth, bottom: window.innerHeight };
      return { x: middle(box.left, box.right, window.innerWidth), y: middle(box.top, box.bottom, window.innerHeight),
        width: Math.min(box.right - box.left, window.innerWidth), height: Math.min(box.bottom - box.top, window.innerHeight) };
    },

    // Waits until scrolling has ended, for a limited time.
    scrolled: task(function* () {
      for (let n = 0; n < 3; n++) yield frame();
      for (let n = 0; isScrolling && n < 120; n++) yield frame();
    }),

    // Waits until nothing moves any more that will stop by itself, for a limited time. Colours may go on changing.
    rested: task(function* () {
      /** @param {Animation} one */
      const moves = (one) => {
        const { transitionProperty } = /** @type {CSSTransition} */ (one);
        const endTime = Number(one.effect?.getComputedTiming().endTime ?? 0);
        return one.playState === "running" && endTime <= 1000 && (!transitionProperty || MOVING.test(transitionProperty));
      };
      for (let n = 0; n < 60 && list(document[$getAnimations]()).some(moves); n++) yield frame();
    }),

    // Whether the browser itself would drag the element.
    /** @param {number} id */
    isDraggable(id) {
      for (let e = elementOf(id); e; e = composedParent(e)) if (e.draggable === true) return true;
      return false;
    },

    // Whether a native drag has started since the last call.
    dragged() {
      const has = dragStart != null && !dragStart.defaultPrevented;
      dragStart = null;
      return has;
    },
  });
