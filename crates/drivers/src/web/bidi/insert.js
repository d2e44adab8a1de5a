// Inserts a text where the focus is, as an input method does. Returns the window of the frame that has the focus, or whether it is done.
(text) => {
  let e = document.activeElement;
  while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
  if (e?.contentWindow) return e.contentWindow;
  if (!e || e.isContentEditable || document.designMode === "on") return false;
  // A browser tells the page before, but not if a script inserts the text.
  const before = new InputEvent("beforeinput", { bubbles: true, cancelable: true, composed: true, inputType: "insertText", data: text, view: window });
  if (!e.dispatchEvent(before)) return true;
  // The keyboard types nothing else into such a field.
  if (e.type === "number" && !/^[-+.,\deE]*$/.test(text)) return true;
  return document.execCommand("insertText", false, text);
}
