// What the tests ask of the page, once it is open.
globalThis.until = async (holds) => {
  for (const end = Date.now() + 60000; Date.now() < end; await new Promise((go) => setTimeout(go, 10))) {
    const found = holds();
    if (found) return found;
  }
  throw new Error(`never held: ${holds}`);
};
globalThis.index = JSON.parse(document.getElementById("index").textContent);
// The page draws what changed after the event that changed it.
globalThis.drawn = () => new Promise((go) => setTimeout(go));
// Shows an attempt with every step open.
globalThis.show = async (id) => {
  location.hash = "#attempt=" + encodeURIComponent(id);
  await until(() => document.getElementById("detail").dataset.shown === id);
  for (const toggle of document.querySelectorAll("#detail .toggle[aria-expanded=false]")) toggle.click();
  await drawn();
};
globalThis.pictures = () => Promise.all([...document.querySelectorAll("main > :not([hidden]) .frame")].filter((frame) => frame.load).map(async (frame) => {
  await frame.load();
  const img = frame.querySelector("img");
  await img.decode();
  return img.naturalWidth;
}));
// By how much the page is wider than the window; the room for a scrollbar is not part of the page.
globalThis.overflow = () => Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth);
true
