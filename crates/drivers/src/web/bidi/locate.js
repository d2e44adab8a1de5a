// Finds the document at a point, or, without a point, the one that has the focus. Returns the window of a frame that this document cannot look
// into, and the corner of that frame; otherwise null.
(point) => {
  let shown = document, left = 0, top = 0;
  for (;;) {
    const at = (root) => (point ? root.elementFromPoint(point[0] - left, point[1] - top) : root.activeElement);
    let e = at(shown);
    while (e?.shadowRoot) {
      const inner = at(e.shadowRoot);
      if (!inner || inner === e) break;
      e = inner;
    }
    if (!e?.contentWindow) return null;
    const box = e.getBoundingClientRect(), style = getComputedStyle(e);
    left += box.left + e.clientLeft + parseFloat(style.paddingLeft);
    top += box.top + e.clientTop + parseFloat(style.paddingTop);
    if (!e.contentDocument) return [e.contentWindow, left, top];
    shown = e.contentDocument;
  }
}
