// Runs walker.js, acting.js, record_bar.js and recorder.js as one function (see scripts.rs), with built-ins that the page has not changed. In a world
// of our own, they are those of this world. In the page's own world, they are those of an empty frame, which is removed at once:
// the function is evaluated there, and the methods of elements that it uses are those of the frame, under symbols of its own.
//
// What cannot be had that way is the page's: properties of elements such as `children`, and methods that are not listed here. If the page
// forbids `eval`, so are the built-ins of the language; if it prevents frames, all built-ins are.
((isShared) => {
  // The first page in a window keeps the global object of the empty document before it, with our listeners: in a world of our own,
  // `document` is always the present one, and nothing runs again.
  const shown = document;
  if (globalThis.trailblaze && (!isShared || globalThis.trailblaze.document === shown)) return;
  const script = function ({
    $assignedElements, $assignedNodes, $checkVisibility, $closest, $composedPath, $contains, $createRange, $dispatchEvent, $elementFromPoint,
    $elementsFromPoint, $focus, $getAnimations, $getAttribute, $getBoundingClientRect, $getClientRects, $getElementById, $getRootNode,
    $hasAttribute, $hasAttributes, $matches, $preventDefault, $querySelector, $querySelectorAll, $scrollIntoView, $stopImmediatePropagation,
  }, {
    world, window, location, navigator, performance, getComputedStyle, setTimeout, requestAnimationFrame, on, listenAgain, MutationObserver, Event, Node, DOMRect, CSS,
    wait, task,
  }) {
    const globalThis = world;
/* parts */
  };

  const METHODS = {
    assignedElements: ["HTMLSlotElement"], assignedNodes: ["HTMLSlotElement"], checkVisibility: ["Element"], closest: ["Element"],
    composedPath: ["Event"], contains: ["Node"], createRange: ["Document"], dispatchEvent: ["EventTarget"],
    elementFromPoint: ["Document", "ShadowRoot"], elementsFromPoint: ["Document", "ShadowRoot"],
    focus: ["HTMLElement", "SVGElement", "MathMLElement"], getAnimations: ["Document"], getAttribute: ["Element"],
    getBoundingClientRect: ["Element", "Range"], getClientRects: ["Element", "Range"], getElementById: ["Document", "DocumentFragment"],
    getRootNode: ["Node"], hasAttribute: ["Element"], hasAttributes: ["Element"], matches: ["Element"], preventDefault: ["Event"],
    querySelector: ["Document", "DocumentFragment", "Element"], querySelectorAll: ["Document", "DocumentFragment", "Element"],
    scrollIntoView: ["Element"], stopImmediatePropagation: ["Event"],
  };

  const emptyFrame = () => {
    try {
      const frame = document.createElementNS("http://www.w3.org/1999/xhtml", "iframe");
      document.documentElement.appendChild(frame);
      return frame;
    } catch {
      return null;
    }
  };
  const frame = isShared ? emptyFrame() : null;
  const own = frame?.contentWindow ?? globalThis;
  const { Reflect: { apply, defineProperty }, Promise: { prototype: { then } }, MutationObserver } = own;
  const { addEventListener: add, removeEventListener: remove } = own.EventTarget.prototype;
  const { setTimeout, requestAnimationFrame, getComputedStyle } = own;
  const { now } = own.Performance.prototype;
  // In Firefox, the global object of a world of our own is not the window.
  const view = isShared ? globalThis : globalThis.window;

  const symbols = {};
  for (const name of own.Object.keys(METHODS)) {
    const symbol = symbols[`$${name}`] = own.Symbol(name);
    for (let n = 0; n < METHODS[name].length; n++) {
      const type = METHODS[name][n];
      const mine = own[type], theirs = globalThis[type];
      if (mine && theirs) defineProperty(theirs.prototype, symbol, { value: mine.prototype[name], configurable: true, writable: true });
    }
  }

  // The browser calls only functions of documents that are shown, which the function above is not: these are of the page's document.
  // `document.open` removes all listeners of the window, so they are kept, to be added again: that changes nothing where they are still there.
  let listening = null;
  const on = (target, name, callback, options) => {
    const listener = (event) => { if (!isShared || shown === document) callback(event); };
    const one = { target, args: [name, listener, options], next: listening };
    apply(add, target, one.args);
    listening = one;
    return () => {
      one.isOff = true;
      while (listening?.isOff) listening = listening.next;
      apply(remove, target, one.args);
    };
  };
  const listenAgain = () => {
    let last = null;
    for (let one = listening; one; one = one.next) {
      if (!one.isOff) {
        apply(add, one.target, one.args);
        last = one;
      } else if (last) last.next = one.next;
      else listening = one.next;
    }
  };
  // Awaits what a generator yields, as an async function would.
  const drive = (steps) => {
    const promise = (async () => {
      for (let value; ;) {
        const step = steps.next(value);
        if (step.done) return step.value;
        value = await step.value;
      }
    })();
    // Whoever awaits it calls `then`, which the page may have changed.
    if (isShared) defineProperty(promise, "then", { value: (done, failed) => apply(then, promise, [done, failed]) });
    return promise;
  };
  const page = {
    world: globalThis, window: view, location, navigator, Event, Node: own.Node, DOMRect: own.DOMRect, CSS: own.CSS,
    performance: { now: () => apply(now, performance, []) },
    getComputedStyle: (element) => apply(getComputedStyle, view, [element]),
    setTimeout: (callback, delay) => { apply(setTimeout, view, [() => { callback(); }, delay]); },
    requestAnimationFrame: (callback) => { apply(requestAnimationFrame, view, [() => { callback(); }]); },
    MutationObserver: function (callback) { return new MutationObserver((records) => { callback(records); }); },
    on, listenAgain,
    wait: (start) => ({ then: (done) => { start(done); } }),
    task: (steps) => (...args) => drive(apply(steps, undefined, args)),
  };
  try {
    let run = script;
    try {
      if (frame) run = own.eval(`(document) => ${apply(own.Function.prototype.toString, script, [])}`)(shown);
    } catch { /* The page forbids it. */ }
    run(symbols, page);
    if (isShared) defineProperty(globalThis, "trailblaze", { enumerable: false });
  } finally {
    if (frame) apply(own.Element.prototype.remove, frame, []);
  }
})(/* isShared */)
