// Plays the person in front of a browser: real input events through DevTools, the same for every recorder.

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const PATIENCE = 60_000;

/** Asks again until it gets a result. */
export async function until(what, ask) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const found = await ask();
    if (found) return found;
    if (Date.now() > end) throw new Error(`it never was: ${what}`);
    await pause(30);
  }
}

// Finds an element by the CSS selectors of the frames and shadow roots around it, from the outside in. A number chooses one of several.
const FIND = `(path) => {
  let root = document, left = 0, top = 0, e = null;
  for (const part of path) {
    const [css, nth = 0] = [part].flat();
    e = [...root.querySelectorAll(css)].filter((one) => path.at(-1) !== part || one.getClientRects().length)[nth];
    if (!e) return null;
    if (part === path.at(-1)) break;
    if (e.contentDocument) { const box = e.getBoundingClientRect(); left += box.left + e.clientLeft; top += box.top + e.clientTop; root = e.contentDocument; }
    else root = e.shadowRoot ?? e;
  }
  return { e, left, top };
}`;

export class Hand {
  /** Connects to the page at an address in a browser with a port for DevTools. */
  static async connect(port, address) {
    const target = await until(`a page at ${address}`, async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/json/list`).catch(() => null);
      const all = answer ? await answer.json() : [];
      return all.find((one) => one.type === "page" && one.url.startsWith(address));
    });
    const hand = new Hand();
    hand.socket = new WebSocket(target.webSocketDebuggerUrl);
    hand.waiting = new Map();
    hand.last = 0;
    hand.socket.onmessage = ({ data }) => {
      const { id, result, error } = JSON.parse(data);
      const [done, failed] = hand.waiting.get(id) ?? [];
      hand.waiting.delete(id);
      if (error) failed?.(new Error(error.message));
      else done?.(result);
    };
    await new Promise((done) => { hand.socket.onopen = done; });
    await hand.until("document.readyState === 'complete'");
    return hand;
  }

  close() {
    this.socket.close();
  }

  call(method, params = {}) {
    const id = ++this.last;
    this.socket.send(JSON.stringify({ id, method, params }));
    return new Promise((done, failed) => this.waiting.set(id, [done, failed]));
  }

  async script(expression) {
    const { result } = await this.call("Runtime.evaluate", { expression, returnByValue: true });
    return result.value;
  }

  until(expression) {
    return until(expression, () => this.script(`Boolean(${expression})`).catch(() => false));
  }

  /** Where an element is, once it does not move: a point in it, by default its middle. */
  async place(path, at = [0.5, 0.5]) {
    const all = JSON.stringify([path].flat(Array.isArray(path) && typeof path[1] === "number" ? 0 : 1));
    let before = "";
    return until(`${all} is there`, async () => {
      const place = await this.script(`(() => { const found = (${FIND})(${all}); if (!found) return null; found.e.scrollIntoViewIfNeeded?.();
        const box = found.e.getBoundingClientRect(); return [found.left + box.left + box.width * ${at[0]}, found.top + box.top + box.height * ${at[1]}].map(Math.round); })()`);
      const isStill = place && before === String(place);
      before = String(place);
      if (!isStill) await pause(50);
      return isStill ? place : null;
    });
  }

  mouse(type, [x, y], more = {}) {
    return this.call("Input.dispatchMouseEvent", { type, x, y, button: "none", ...more });
  }

  async hover(path) {
    const [x, y] = await this.place(path);
    // As a hand does, it comes from somewhere.
    await this.mouse("mouseMoved", [x - 3, y - 1]);
    await this.mouse("mouseMoved", [x, y]);
    await pause(150);
  }

  async click(path, { button = "left", count = 1, at } = {}) {
    const to = await this.place(path, at);
    await this.mouse("mouseMoved", to);
    for (let clickCount = 1; clickCount <= count; clickCount++) {
      await this.mouse("mousePressed", to, { button, clickCount });
      await this.mouse("mouseReleased", to, { button, clickCount });
    }
    await pause(120);
  }

  /** Drags from a point of an element by a distance. */
  async drag(path, by, at) {
    const [x, y] = await this.place(path, at);
    await this.mouse("mouseMoved", [x, y]);
    await this.mouse("mousePressed", [x, y], { button: "left", clickCount: 1 });
    for (let part = 1; part <= 8; part++) await this.mouse("mouseMoved", [x + by[0] * part / 8, y + by[1] * part / 8], { button: "left", buttons: 1 });
    await this.mouse("mouseReleased", [x + by[0], y + by[1]], { button: "left", clickCount: 1 });
    await pause(120);
  }

  /** The same where the browser itself drags: it reports what it would drag, and is told where that goes. */
  async dragNative(path, by) {
    const [x, y] = await this.place(path);
    await this.call("Input.setInterceptDrags", { enabled: true });
    await this.mouse("mouseMoved", [x, y]);
    await this.mouse("mousePressed", [x, y], { button: "left", clickCount: 1 });
    for (const part of [0.2, 0.6, 1]) await this.mouse("mouseMoved", [x + by[0] * part, y + by[1] * part], { button: "left", buttons: 1 });
    const data = { items: [{ mimeType: "text/plain", data: "red" }], dragOperationsMask: 1 };
    for (const type of ["dragEnter", "dragOver", "drop"]) await this.call("Input.dispatchDragEvent", { type, x: x + by[0], y: y + by[1], data });
    await this.mouse("mouseReleased", [x + by[0], y + by[1]], { button: "left", clickCount: 1 });
    await this.call("Input.setInterceptDrags", { enabled: false });
    await pause(120);
  }

  async wheel(path, down, times) {
    const to = await this.place(path);
    await this.mouse("mouseMoved", to);
    for (let n = 0; n < times; n++) {
      await this.mouse("mouseWheel", to, { deltaX: 0, deltaY: down });
      await pause(40);
    }
    await pause(300);
  }

  async type(text) {
    for (const key of text) {
      await this.call("Input.dispatchKeyEvent", { type: "keyDown", key, text: key });
      await this.call("Input.dispatchKeyEvent", { type: "keyUp", key });
    }
  }

  async press(key, windowsVirtualKeyCode) {
    const text = key === "Enter" ? "\r" : undefined;
    await this.call("Input.dispatchKeyEvent", { type: "keyDown", key, code: key, windowsVirtualKeyCode, text });
    await this.call("Input.dispatchKeyEvent", { type: "keyUp", key, code: key, windowsVirtualKeyCode });
    await pause(60);
  }

  async file(css, path) {
    const { result } = await this.call("Runtime.evaluate", { expression: `document.querySelector(${JSON.stringify(css)})` });
    await this.call("DOM.setFileInputFiles", { objectId: result.objectId, files: [path] });
    await pause(120);
  }
}
