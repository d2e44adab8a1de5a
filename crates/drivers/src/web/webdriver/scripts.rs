//! The scripts that ask a document, or do in it what the protocol cannot. `arguments[0]` is the id of the command.

/// Whether the document has loaded, when it began, and its frames: those that can be seen may have frames in them. Where the endpoint does
/// not wait for another document, one that is about to be left counts as loading for a while, in case it is not left after all.
pub const SURVEY: &str = r#"(() => {
  let leaving = globalThis.trailblazeLeaving;
  if (arguments[1] && !leaving) {
    leaving = { at: -Infinity };
    Object.defineProperty(globalThis, "trailblazeLeaving", { value: leaving });
    addEventListener("beforeunload", () => { leaving.at = performance.now(); });
    addEventListener("pageshow", () => { leaving.at = -Infinity; });
  }
  const isLeft = leaving && performance.now() - leaving.at < 3000;
  const found = [...document.querySelectorAll("iframe, frame")];
  if (window.length > found.length) {
    const look = (root) => {
      for (const element of root.querySelectorAll("*")) {
        if (!element.shadowRoot) continue;
        found.push(...element.shadowRoot.querySelectorAll("iframe, frame"));
        look(element.shadowRoot);
      }
    };
    look(document);
  }
  const mayHaveFrames = (frame) => {
    try { return frame.contentWindow.length > 0; } catch { return frame.getClientRects().length > 0; }
  };
  return {
    isLoaded: document.readyState === "complete" && !isLeft, began: performance.timeOrigin,
    frames: found.map((frame) => [frame, mayHaveFrames(frame)]),
  };
})()"#;

/// When the document began, and what is wrong with it if it stands for one that did not come.
pub const ARRIVAL: &str = r##"(() => {
  const began = performance.timeOrigin, url = location.href;
  const isBlank = url === "about:blank" && arguments[1] && !arguments[1].startsWith("about:");
  const isError = location.protocol === "chrome-error:" || document.documentURI.startsWith("about:neterror");
  if (!isError && !isBlank) return { began, url };
  const code = document.querySelector(".error-code")?.textContent || document.title || document.body?.innerText.trim();
  return { began, url, error: code?.startsWith("ERR_") ? `net::${code}` : code || "it cannot be reached" };
})()"##;

/// Where a tab is in its history.
pub const POSITION: &str = r#"[performance.timeOrigin, location.href, globalThis.navigation?.currentEntry?.key ?? JSON.stringify(history.state)]"#;

/// Goes through the history once the answer is given, because an endpoint may evaluate a script again whose document was replaced. Answers
/// where the tab was, or `none` if there is no other page.
pub const TRAVEL: &str = r#"(() => {
  if (history.length < 2) return "none";
  const by = arguments[1];
  setTimeout(() => { history.go(by); }, 0);
  return [performance.timeOrigin, location.href, globalThis.navigation?.currentEntry?.key ?? JSON.stringify(history.state)];
})()"#;

/// Inserts a text where the focus is, as an input method does. If a frame of another origin has it, that is the answer.
pub const INSERT: &str = r#"(() => {
  let inner = document;
  for (;;) {
    const active = inner.activeElement;
    if (!active || !/^I?FRAME$/.test(active.tagName)) break;
    let content = null;
    try { content = active.contentDocument; } catch { /* Another origin. */ }
    if (!content) return active;
    inner = content;
  }
  return inner.execCommand("insertText", false, arguments[1]);
})()"#;

/// The frame at a point, and where its content begins; `null` if there is none.
pub const FRAME_AT: &str = r#"(() => {
  let found = document.elementFromPoint(arguments[1], arguments[2]);
  while (found?.shadowRoot) {
    const inner = found.shadowRoot.elementFromPoint(arguments[1], arguments[2]);
    if (!inner || inner === found) break;
    found = inner;
  }
  if (!/^I?FRAME$/.test(found?.tagName)) return null;
  const box = found.getBoundingClientRect(), style = getComputedStyle(found);
  return [found, box.left + found.clientLeft + parseFloat(style.paddingLeft), box.top + found.clientTop + parseFloat(style.paddingTop)];
})()"#;

/// What [`RUN`] answers if the page forbids `eval`.
pub const NO_EVAL: &str = "trailblaze-no-eval";

/// Runs a script of a user in the global scope, and returns the value of its last statement.
pub const RUN: &str = r#"(() => {
  const script = arguments[1];
  const parses = (text) => {
    try { new Function(text); return true; } catch (error) {
      if (error instanceof SyntaxError) return false;
      throw error;
    }
  };
  try {
    if (parses(script)) return (0, eval)(script);
    const expression = `(async () => (${script}\n))()`;
    return (0, eval)(parses(`return ${expression}`) ? expression : `(async () => {${script}\n})()`);
  } catch (error) {
    if (error instanceof EvalError) return "trailblaze-no-eval";
    throw error;
  }
})()"#;
