
  // The part that shows a person what is recorded (see recorder.js): a bar at the edge of the window, and a frame around the element that
  // is about to be chosen. Both are in a closed shadow root outside of the body, so that neither the page nor a look finds anything in it.
  // Events on the bar, and those that choose an element, are kept from the page.

  /** @typedef {"record" | "pause" | "visible" | "text" | "value" | "pick"} RecordMode */
  /** @typedef {{ mode: RecordMode, said: string }} BarState */

  const CHOOSING = new Set(["visible", "text", "value", "pick"]);
  const FONT = "font: 13px/1.4 system-ui, sans-serif;";
  const BUTTON = `${FONT} display: inline-block; margin: 0; padding: 3px 9px; border: 1px solid #888; border-radius: 5px; background: #fff; color: #111; cursor: pointer; white-space: nowrap;`;
  const PRESSED_BUTTON = `${BUTTON} background: #0b57d0; border-color: #0b57d0; color: #fff;`;
  /** @type {[string, string, string][]} */
  const BAR_BUTTONS = [
    ["pause", "Pause", "Do not record what I do"], ["visible", "Assert visible", "Choose an element that must be visible"],
    ["text", "Assert text", "Choose an element that must have its text"], ["value", "Assert value", "Choose a field that must have its value, or a box that must be checked"],
    ["pick", "Pick", "Choose an element, and see how it is found"], ["undo", "Undo", "Remove the last step"], ["finish", "Finish", "End the recording, and save it"],
  ];

  class Bar {
    /** @param {(message: object) => void} send */
    constructor(send) {
      this.send = send;
      /** @type {RecordMode} */
      this.mode = "record";
      this.said = "";
      this.isTop = window.top === window;
      /** @type {HTMLElement | null} */
      this.host = null;
      /** @type {ShadowRoot | null} */
      this.root = null;
      /** @type {HTMLElement | null} */
      this.frame = null;
      /** @type {HTMLElement | null} */
      this.box = null;
      /** @type {HTMLElement | null} */
      this.words = null;
      /** @type {Map<string, HTMLElement>} */
      this.buttons = new Map();
      // Whether the press that is going on chooses an element.
      this.isChoosing = false;
      const names = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "dblclick", "auxclick", "contextmenu", "dragstart", "touchstart", "touchend", "keydown"];
      for (const name of names) listen(name, (event) => { if (event.isTrusted) this.intercept(event); }, { capture: true, passive: false });
      listen("pointermove", (event) => { if (event.isTrusted) this.showTarget(event); }, { capture: true, passive: true });
      if (this.isTop) {
        if (document.readyState === "loading") listen("DOMContentLoaded", () => this.draw(), { capture: true, once: true });
        else this.draw();
      }
      // Whoever follows the person replies with the state.
      this.send({ kind: "began", at: Date.now() });
    }

    /** @param {BarState} state */
    steer({ mode, said }) {
      this.mode = mode;
      this.said = said;
      if (!CHOOSING.has(mode)) this.frame?.style.setProperty("display", "none");
      if (this.isTop) this.draw();
    }

    // A page may have removed it, or have another document by now.
    attach() {
      if (this.host?.isConnected) return this.root;
      const page = document.documentElement;
      if (!page || document.contentType !== "text/html" && document.contentType !== "application/xhtml+xml") return null;
      if (!this.host || this.host.ownerDocument !== document) {
        this.host = document.createElement("trailblaze-recorder");
        this.host.style.cssText = "display: block; position: fixed; inset: 0 auto auto 0; width: 0; height: 0; visibility: visible; opacity: 1; z-index: 2147483647;";
        this.root = this.host.attachShadow({ mode: "closed" });
        this.frame = document.createElement("div");
        this.frame.style.cssText = "display: none; position: fixed; pointer-events: none; box-sizing: border-box; border: 2px solid #d93025; border-radius: 3px; z-index: 1;";
        this.root.append(this.frame);
        if (this.isTop) this.root.append(this.makeBar());
      }
      page.append(this.host);
      return this.root;
    }

    // Shows the bar again, if a page has removed it.
    keep() {
      if (this.isTop && !this.host?.isConnected && document.readyState !== "loading") this.draw();
    }

    makeBar() {
      const box = document.createElement("div");
      box.style.cssText = `${FONT} position: fixed; bottom: 12px; left: 50%; transform: translateX(-50%); display: flex; gap: 6px; align-items: center; padding: 6px 10px; max-width: 96vw; border: 1px solid #888; border-radius: 9px; background: #f3f3f3; color: #111; box-shadow: 0 2px 9px #0006; z-index: 2;`;
      this.words = document.createElement("span");
      this.words.dataset.name = "words";
      this.words.style.cssText = "max-width: 240px; overflow: hidden; white-space: nowrap; text-overflow: ellipsis;";
      box.append(this.words);
      for (const [name, words, hint] of BAR_BUTTONS) {
        const button = document.createElement("span");
        button.setAttribute("role", "button");
        button.dataset.name = name;
        button.title = hint;
        button.textContent = words;
        this.buttons.set(name, button);
        box.append(button);
      }
      const move = document.createElement("span");
      move.dataset.name = "move";
      move.title = "Move the bar to the other edge";
      move.textContent = "↕";
      move.style.cssText = BUTTON;
      box.append(move);
      return this.box = box;
    }

    draw() {
      // A document that takes no bar is recorded all the same.
      try {
        this.drawIn();
      } catch { /* It has none. */ }
    }

    drawIn() {
      if (!this.attach()) return;
      for (const [name, button] of this.buttons) button.style.cssText = name === this.mode ? PRESSED_BUTTON : BUTTON;
      const pause = this.buttons.get("pause");
      if (pause) pause.textContent = this.mode === "pause" ? "Resume" : "Pause";
      /** @type {Record<string, string>} */
      const now = { pause: "Paused", visible: "Click what must be visible", text: "Click what must have its text", value: "Click the field", pick: this.said || "Click an element" };
      if (this.words) {
        this.words.textContent = now[this.mode] ?? (this.said || "Recording");
        this.words.title = this.said;
      }
    }

    /** @param {Event} event */
    isOwn(event) {
      return this.host != null && event[$composedPath]()[0] === this.host;
    }

    /** @param {any} event */
    intercept(event) {
      const isOwn = this.isOwn(event);
      const isKey = event.type === "keydown";
      if (!isOwn && !CHOOSING.has(this.mode) && !this.isChoosing) return;
      if (isKey && (isOwn || event.key !== "Escape")) return;
      event[$preventDefault]();
      event[$stopImmediatePropagation]();
      if (isKey) return this.ask("record");
      if (isOwn) {
        if (event.type === "click") this.pressed(event.clientX, event.clientY);
        return;
      }
      if (event.type === "pointerdown") this.isChoosing = true;
      // The release and the click of the same press are not for the page either.
      if (event.type !== "click") return;
      this.isChoosing = false;
      if (CHOOSING.has(this.mode)) this.choose(event);
    }

    /** @type {(x: number, y: number) => void} */
    pressed(x, y) {
      const name = /** @type {HTMLElement | null | undefined} */ (this.root?.elementFromPoint(x, y))?.dataset.name;
      if (name === "words") return;
      if (name === "move" && this.box) {
        const isBelow = this.box.style.bottom !== "";
        this.box.style.setProperty("bottom", isBelow ? "" : "12px");
        this.box.style.setProperty("top", isBelow ? "12px" : "");
      } else if (name === "undo" || name === "finish") {
        recorder?.report();
        this.send({ kind: name, at: Date.now() });
      } else if (name) this.ask(name === this.mode ? "record" : /** @type {RecordMode} */ (name));
    }

    // Changes what a click means, in all documents.
    /** @param {RecordMode} mode */
    ask(mode) {
      recorder?.report();
      this.steer({ mode, said: "" });
      this.send({ kind: "mode", at: Date.now(), mode });
    }

    /** @param {MouseEvent} event */
    choose(event) {
      const target = innermost(event);
      const sight = see();
      const e = target && (this.mode === "text" ? nearestListed(sight, target) : nameable(sight, target) ?? nearestListed(sight, target));
      const [x, y] = [Math.round(event.clientX), Math.round(event.clientY)];
      this.send({ kind: "chosen", at: Date.now(), mode: this.mode, node: e && idOf(e), seen: sight.seen, x, y });
      if (this.mode !== "pick") this.steer({ mode: "record", said: "" });
    }

    /** @param {PointerEvent} event */
    showTarget(event) {
      if (!CHOOSING.has(this.mode) || this.isOwn(event) || !this.attach() || !this.frame) return;
      const target = innermost(event);
      const box = target?.[$getBoundingClientRect]();
      const place = box ? `left: ${box.left - 3}px; top: ${box.top - 3}px; width: ${box.width + 6}px; height: ${box.height + 6}px;` : "display: none;";
      this.frame.style.cssText = `position: fixed; pointer-events: none; box-sizing: border-box; border: 2px solid #d93025; border-radius: 3px; z-index: 1; ${place}`;
    }
  }
