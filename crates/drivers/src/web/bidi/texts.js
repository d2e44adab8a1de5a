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
  const generated = (e, pseudo) => {
    const { content } = getComputedStyle(e, pseudo);
    return /^["']/.test(content) ? content.replace(/^.|.$/g, "") : content.startsWith("attr(") ? "…" : "";
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
        tell(node.data, range.getClientRects());
      } else if (node.nodeType === Node.ELEMENT_NODE) {
        const shadow = node.shadowRoot ?? closed.get(node);
        if (node.getClientRects().length) {
          const whole = node.getBoundingClientRect();
          tell(["::before", "::after", "::marker"].map((pseudo) => generated(node, pseudo)).join(" "), [whole]);
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
