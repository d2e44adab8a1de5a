// Carries out native drags in a document, because input of the protocol does not: it ends none with a drop. What a page sees is what it
// sees of a drag of the browser, except that the events are not trusted. It runs in a world of our own, in each document of a tab.
globalThis.trailblazeDrags ??= (() => {
  let isOn = false, source = null, over = null, accepts = false, transfer = null;

  const fire = (target, type, x, y, related = null) => {
    const event = new DragEvent(type, {
      bubbles: true, cancelable: type !== "dragleave" && type !== "dragend", composed: true, view: window, dataTransfer: transfer,
      clientX: x, clientY: y, screenX: window.screenX + x, screenY: window.screenY + y, relatedTarget: related,
    });
    return !target.dispatchEvent(event);
  };
  // What the browser proposes before the page has decided.
  const proposed = (allowed) => (/^(copy|copyLink)$/.test(allowed) ? "copy" : allowed === "link" ? "link" : "move");
  const filled = ({ allowed, items }) => {
    const own = new DataTransfer();
    for (const [type, text] of items) own.setData(type, text);
    own.effectAllowed = allowed;
    return own;
  };

  // The last of all listeners: a page that prevents the drag has done so.
  window.addEventListener("dragstart", (event) => {
    if (!isOn || event.defaultPrevented || !event.isTrusted) return;
    const items = [...event.dataTransfer.types].filter((type) => type !== "Files").map((type) => [type, event.dataTransfer.getData(type)]);
    const { effectAllowed } = event.dataTransfer;
    source = event.composedPath()[0];
    if (source.nodeType === Node.TEXT_NODE) source = source.parentElement;
    event.preventDefault();
    const data = { allowed: effectAllowed === "uninitialized" ? "all" : effectAllowed, items };
    transfer = filled(data);
    globalThis.trailblazeChanged?.("drag:" + JSON.stringify(data));
  });

  // The button is released after the drop. A page that has received a drop learns nothing of that.
  const hush = () => {
    const names = ["pointerup", "mouseup", "click"];
    const end = () => { for (const name of names) window.removeEventListener(name, stop, true); };
    const stop = (event) => {
      event.stopImmediatePropagation();
      event.preventDefault();
      if (event.type === "mouseup") setTimeout(end, 50);
    };
    for (const name of names) window.addEventListener(name, stop, true);
    window.addEventListener("pointerdown", end, { capture: true, once: true });
  };
  const targetAt = (x, y) => {
    let at = document.elementFromPoint(x, y);
    while (at?.shadowRoot) {
      const inner = at.shadowRoot.elementFromPoint(x, y);
      if (!inner || inner === at) break;
      at = inner;
    }
    return at;
  };

  return {
    take(on) {
      isOn = on;
      if (!on) source = over = transfer = null;
    },
    // Moves to a point, or drops there. Returns the window of the frame that is at this point, and the point in it, or what the drop did.
    move(step, x, y, data) {
      const at = targetAt(x, y);
      if (at?.contentWindow) {
        const box = at.getBoundingClientRect(), style = getComputedStyle(at);
        return [at.contentWindow, x - box.left - at.clientLeft - parseFloat(style.paddingLeft), y - box.top - at.clientTop - parseFloat(style.paddingTop)];
      }
      transfer ??= filled(data);
      if (at !== over) {
        if (at) fire(at, "dragenter", x, y, over);
        if (over) fire(over, "dragleave", x, y, at);
        over = at;
      }
      if (step === "Over" && at) {
        transfer.dropEffect = proposed(data.allowed);
        accepts = fire(at, "dragover", x, y) && transfer.dropEffect !== "none";
      }
      if (step !== "Drop") return null;
      const effect = accepts ? transfer.dropEffect : "none";
      if (at) fire(at, accepts ? "drop" : "dragleave", x, y);
      over = null;
      hush();
      return effect;
    },
    // The pointer went to another document.
    leave() {
      if (over) fire(over, "dragleave", 0, 0);
      over = null;
    },
    // In the document where the drag began.
    during(x, y) {
      if (source) fire(source, "drag", x, y);
    },
    end(effect, x, y) {
      if (!source) return;
      transfer.dropEffect = effect;
      fire(source, "dragend", x, y);
      source = over = transfer = null;
    },
  };
})()
