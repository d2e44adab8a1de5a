// What a browser does with touches on a phone, which touches of the protocol do not cause: a finger that moves scrolls what is under it, and
// one that stays down for long opens the context menu instead of clicking, and two taps are a double click. It runs in a world of our own, in each document.
;(() => {
  const LONG = 500, SLOP = 10, DOUBLE = 500;
  let finger = null, tapped = null;
  const place = (event) => {
    const { clientX: x, clientY: y } = event.changedTouches[0];
    return { x, y };
  };
  const parentOf = (e) => e.assignedSlot ?? e.parentElement ?? e.getRootNode().host ?? null;

  const pan = (target, dx, dy) => {
    for (let e = target; e; e = parentOf(e)) {
      const { touchAction, overflowX, overflowY } = getComputedStyle(e);
      if (touchAction === "none") return;
      if (touchAction === "pan-x") dy = 0;
      if (touchAction === "pan-y") dx = 0;
      const scrolls = e === document.scrollingElement || /auto|scroll/.test(overflowX + overflowY);
      if (!scrolls) continue;
      const { scrollLeft, scrollTop } = e;
      e.scrollBy({ left: -dx, top: -dy, behavior: "instant" });
      if (e.scrollLeft !== scrollLeft || e.scrollTop !== scrollTop) return;
    }
  };

  const held = (start) => {
    if (!finger || start.defaultPrevented) return;
    finger.isHeld = true;
    const { x: clientX, y: clientY } = finger.at;
    finger.target.dispatchEvent(new PointerEvent("contextmenu", { bubbles: true, cancelable: true, composed: true, view: window, pointerType: "touch", clientX, clientY }));
  };

  const listen = (name, callback, isCapturing) => window.addEventListener(name, (event) => { if (event.isTrusted) callback(event); }, { capture: isCapturing, passive: false });
  listen("touchstart", (event) => {
    clearTimeout(finger?.timer);
    const target = event.composedPath()[0];
    finger = { at: place(event), target, isHeld: false, hasMoved: false, timer: setTimeout(() => { held(event); }, LONG) };
  }, true);
  // After the page's own listeners, which may prevent that.
  listen("touchmove", (event) => {
    if (!finger) return;
    const { x, y } = place(event), dx = x - finger.at.x, dy = y - finger.at.y;
    if (!finger.hasMoved && Math.hypot(dx, dy) < SLOP) return;
    clearTimeout(finger.timer);
    finger.hasMoved = true;
    finger.at = { x, y };
    if (!event.defaultPrevented) pan(finger.target, dx, dy);
  }, false);
  listen("touchend", (event) => {
    clearTimeout(finger?.timer);
    // Otherwise it would click.
    if (finger?.isHeld) event.preventDefault();
    finger = null;
  }, true);
  listen("click", (event) => {
    if (event.pointerType !== "touch") return;
    const target = event.composedPath()[0], { clientX, clientY, timeStamp } = event;
    const isSecond = tapped?.target === target && timeStamp - tapped.timeStamp < DOUBLE;
    tapped = isSecond ? null : { target, timeStamp };
    if (isSecond) target.dispatchEvent(new MouseEvent("dblclick", { bubbles: true, cancelable: true, composed: true, view: window, detail: 2, clientX, clientY }));
  }, false);
})();
