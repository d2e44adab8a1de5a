// Returns the texts that a document displays, each with the boxes of its lines, and where it shows the documents of frames. It runs in a
// world of our own, so that the page cannot change what it sees.
(...pairs) => {
  // Hosts, each followed by its closed shadow root.
  const closed = new Map();
  for (let n = 0; n < pairs.length; n += 2) closed.set(pairs[n], pairs[n + 1]);
  const texts = [], frames = [];
  const box = ({ left, top, right, bottom }) => [Math.floor(left), Math.floor(top), Math.ceil(right), Math.ceil(bottom)];
  const tell = (text, rects) => {
    const boxes = [...rects].filter((rect) => rect.width > 0 && rect.height > 0).map(box);
    if (text.trim() && boxes.length) texts.push([text, boxes]);
  };
  // Text that styles generate, or an empty string.
  const generated = (e, content) => {
    const parts = content.matchAll(/"((?:[^"\\]|\\.)*)"|attr\(([^),\s]+)/g);
    return [...parts].map(([, text, name]) => (name ? e.getAttribute(name) ?? "" : text.replace(/\\(.)/g, "$1"))).join("");
  };
  // What is laid out in an element, with what overflows it.
  const areaOf = (e) => {
    const { left, top, right, bottom } = e.getBoundingClientRect();
    return new DOMRect(left, top, Math.max(right - left, e.scrollWidth ?? 0), Math.max(bottom - top, e.scrollHeight ?? 0));
  };
  // The box that something with a position of its own is placed in.
  const containerOf = (e, position) => {
    for (let at = e; at && position === "absolute"; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.position === "static" && style.transform === "none") continue;
      const { left, top } = at.getBoundingClientRect();
      return { left: left + at.clientLeft - at.scrollLeft, top: top + at.clientTop - at.scrollTop };
    }
    return position === "fixed" ? { left: 0, top: 0 } : { left: -window.scrollX, top: -window.scrollY };
  };
  const tellPseudo = (e, pseudo) => {
    const style = getComputedStyle(e, pseudo);
    const text = generated(e, style.content);
    if (!text.trim()) return;
    if (style.position !== "absolute" && style.position !== "fixed") return tell(text, [areaOf(e)]);
    const { left, top } = containerOf(e, style.position);
    const at = (name) => parseFloat(style[name]) || 0;
    tell(text, [new DOMRect(left + at("left"), top + at("top"), Math.max(at("width"), 1), Math.max(at("height"), 1))]);
  };
  // The marker of a list may be a text. It is beside the item.
  const pen = new OffscreenCanvas(1, 1).getContext("2d");
  const tellMarker = (e) => {
    const { display, listStyleType } = getComputedStyle(e), { content, font } = getComputedStyle(e, "::marker");
    if (!display.includes("list-item")) return;
    const text = generated(e, content) || generated(e, listStyleType);
    if (!text.trim()) return;
    pen.font = font;
    const { left, top, height, width } = e.getBoundingClientRect(), long = pen.measureText(text).width + 8;
    tell(text, [new DOMRect(left - long, top, long + width, height)]);
  };
  const FIELDS = new Set(["INPUT", "TEXTAREA", "SELECT", "IMG", "OPTION", "OPTGROUP", "AREA"]);
  const valueOf = (e) => {
    const own = e.tagName === "SELECT" ? [...e.options].map((option) => option.text) : [e.value];
    return [...own, ...["placeholder", "value", "alt", "label"].map((name) => e.getAttribute(name))].filter((text) => typeof text === "string").join(" ");
  };
  const range = document.createRange();
  const walk = (parent) => {
    for (let node = parent.firstChild; node; node = node.nextSibling) {
      if (node.nodeType === Node.TEXT_NODE) {
        if (!node.data.trim()) continue;
        range.selectNodeContents(node);
        // Texts of drawings have no lines.
        tell(node.data, node.parentElement instanceof SVGElement ? [node.parentElement.getBoundingClientRect()] : range.getClientRects());
      } else if (node.nodeType === Node.ELEMENT_NODE) {
        const shadow = node.shadowRoot ?? closed.get(node);
        if (node.getClientRects().length) {
          const whole = node.getBoundingClientRect();
          tellMarker(node);
          tellPseudo(node, "::before");
          tellPseudo(node, "::after");
          if (FIELDS.has(node.tagName)) tell(valueOf(node), [whole]);
          if (node.contentWindow) {
            const style = getComputedStyle(node);
            frames.push([node.contentWindow, whole.left + node.clientLeft + parseFloat(style.paddingLeft), whole.top + node.clientTop + parseFloat(style.paddingTop)]);
          }
        }
        if (shadow) walk(shadow);
        // What a shadow root shows through its slots is still a child of the host.
        walk(node);
      }
    }
  };
  walk(document);
  return [JSON.stringify(texts), frames];
}
