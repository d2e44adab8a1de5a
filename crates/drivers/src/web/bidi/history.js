// Tells what a person who is followed does to the address of a tab: the protocol reports that a document comes, but neither why nor where it
// is in the history of the tab. It runs in a world of our own, in each document.
;(() => {
  if (window !== window.top || !window.navigation) return;
  const { navigation } = window;
  const send = (text) => { globalThis.trailblazeChanged?.(`history:${text}`); };
  const kind = performance.getEntriesByType("navigation")[0]?.type ?? "navigate";
  const entry = (how) => {
    if (navigation.currentEntry) send(`entry ${how} ${navigation.currentEntry.key}`);
  };
  // The page asks for another document. One that a person asks for in the window of the browser has no such event, unless it is in the history.
  navigation.addEventListener("navigate", (event) => { if (event.navigationType !== "traverse") send("asks"); });
  navigation.addEventListener("currententrychange", (event) => { entry(`within-${event.navigationType}`); });
  if (document.readyState !== "loading") {
    entry(kind);
    return;
  }
  send(`document ${kind} ${document.URL}`);
  window.addEventListener("DOMContentLoaded", () => { entry(kind); });
})();
