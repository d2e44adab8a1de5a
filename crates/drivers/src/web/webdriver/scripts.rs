//! The scripts that ask a document, or do in it what the protocol cannot. `arguments[0]` is the id of the command.

/// Whether the document has loaded, when it began, and its frames: those that can be seen may have frames in them.
pub const SURVEY: &str = r#"(() => {
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
    isLoaded: document.readyState === "complete", began: performance.timeOrigin,
    frames: found.map((frame) => [frame, mayHaveFrames(frame)]),
  };
})()"#;

/// When the document began, and what is wrong with it if it stands for one that did not come.
pub const ARRIVAL: &str = r##"(() => {
  const began = performance.timeOrigin;
  const isError = location.protocol === "chrome-error:" || document.documentURI.startsWith("about:neterror");
  if (!isError) return { began };
  const code = document.querySelector(".error-code")?.textContent || document.title;
  return { began, error: code.startsWith("ERR_") ? `net::${code}` : code };
})()"##;

/// Goes through the history, and tells whether there was such a page.
pub const TRAVEL: &str = r#"new Promise((done) => {
  const api = globalThis.navigation;
  if (api && Math.abs(arguments[1]) === 1 && !(arguments[1] < 0 ? api.canGoBack : api.canGoForward)) return done("none");
  addEventListener("pagehide", () => done("left"), { once: true });
  addEventListener("popstate", () => done("same"), { once: true });
  addEventListener("hashchange", () => done("same"), { once: true });
  setTimeout(() => done(api ? "left" : "none"), 1500);
  history.go(arguments[1]);
})"#;

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
