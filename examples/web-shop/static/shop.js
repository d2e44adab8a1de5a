// Shared by all pages: status messages, money, and the quick search.
const at = (id) => document.getElementById(id);
const say = (text, id = "said") => { at(id).textContent = text; };
const money = (cents) => `€${(cents / 100).toFixed(2)}`;
const ask = async (path, options) => {
  const answer = await fetch(path, options);
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
  return answer.json();
};
const put = (sku, count) => ask("/api/cart", { method: "POST", body: JSON.stringify({ sku, count }) });
const showCount = (count) => { at("cartLink").textContent = `Cart (${count})`; };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey && event.key.toLowerCase() === "k") {
    event.preventDefault();
    at("quick").showModal();
    at("quickWords").focus();
  }
});
document.addEventListener("DOMContentLoaded", () => {
  at("quick").addEventListener("close", () => {
    const words = at("quickWords").value.trim();
    if (at("quick").returnValue === "go" && words) location.href = `/search?q=${encodeURIComponent(words)}`;
  });
});
