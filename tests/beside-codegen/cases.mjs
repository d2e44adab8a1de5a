// What the person does on each page.
const ENTER = ["Enter", 13];

/** @type {{ name: string, page: string, does: (hand: import("./hand.mjs").Hand, at: { file: string }) => Promise<void> }[]} */
export const cases = [
  { name: "Form", page: "form", async does(hand) {
    await hand.click("#name"); await hand.type("Ada"); await hand.click("#news"); await hand.click("label[for=b]");
    await hand.click("#notes"); await hand.type("two words"); await hand.click("#send");
  } },
  { name: "Date, colour and slider fields", page: "form", async does(hand) {
    await hand.drag("#volume", [25, 0]); await hand.script("day.focus()"); await hand.type("05172026"); await hand.click("#send");
  } },
  { name: "Number field by its arrows", page: "form", async does(hand) {
    await hand.click("#bags"); await hand.press("ArrowUp", 38); await hand.press("ArrowUp", 38); await hand.click("#send");
  } },
  { name: "File field", page: "form", async does(hand, { file }) { await hand.file("#file", file); await hand.click("#send"); } },
  { name: "Frames in frames", page: "frames", async does(hand) {
    await hand.click(["#outer", "#inner", "input"]); await hand.type("deep"); await hand.click(["#outer", "#inner", "button"]);
  } },
  { name: "Frame written by a script", page: "frames", async does(hand) {
    await hand.until("written.contentDocument.querySelector('input')"); await hand.click(["#written", "input"]); await hand.type("ada"); await hand.click(["#written", "button"]);
  } },
  { name: "Open shadow roots", page: "shadow", async does(hand) {
    await hand.click(["x-card:nth-of-type(2)", "x-field", "input"]); await hand.type("two"); await hand.click(["x-card:nth-of-type(2)", "button"]);
  } },
  { name: "Menu that the pointer opens (styles)", page: "menus", async does(hand) {
    await hand.hover("#products"); await hand.hover("#phones"); await hand.click("#small");
  } },
  { name: "Menu that the pointer opens (script)", page: "menus", async does(hand) {
    await hand.hover("#account"); await hand.until("getComputedStyle(leaving).display === 'block'"); await hand.click("#leave");
  } },
  { name: "Context menu", page: "menus", async does(hand) { await hand.click("#rows li:nth-child(2)", { button: "right" }); await hand.click("#remove"); } },
  { name: "List sorted by dragging (pointer events)", page: "drag", async does(hand) { await hand.drag("#cards li:nth-child(1)", [0, 66]); } },
  { name: "Drag and drop of the browser", page: "drag", async does(hand) { await hand.dragNative("#red", [155, 0]); } },
  { name: "Slider that a script draws", page: "drag", async does(hand) { await hand.drag("#thumb", [73, 0]); } },
  { name: "Canvas", page: "canvas", async does(hand) {
    await hand.click("canvas", { at: [0.25, 0.5] }); await hand.drag("canvas", [90, 30], [0.5, 0.25]); await hand.click("canvas", { at: [0.75, 0.75], button: "right" });
  } },
  { name: "Board of nameless fields", page: "canvas", async does(hand) { await hand.click(["#board", ["div", 4]]); await hand.click(["#board", ["div", 8]]); } },
  { name: "Contenteditable", page: "edit", async does(hand) {
    await hand.click("#editor"); await hand.type("Dear Ada"); await hand.press(...ENTER); await hand.type("bye"); await hand.click("#keep");
  } },
  { name: "List that draws only what is in view", page: "lists", async does(hand) {
    await hand.wheel("#rows", 220, 5); await hand.until("rows.textContent.includes('Row 38')"); await hand.click("[data-row='38']");
  } },
  { name: "Checkboxes without labels in rows", page: "lists", async does(hand) { await hand.click("#tasks li:nth-child(2) input"); await hand.click("#tasks li:nth-child(3) button"); } },
  { name: "List that is drawn again after each change", page: "todo", async does(hand) {
    await hand.click(".new"); for (const word of ["milk", "bread"]) { await hand.type(word); await hand.press(...ENTER); }
    await hand.click(["li:nth-child(1) .done"]); await hand.hover("li:nth-child(2)"); await hand.click("li:nth-child(2) .remove");
  } },
  { name: "Antd: select, checkbox, tabs", page: "lib-antd", async does(hand) {
    await hand.until("document.querySelector('#city')"); await hand.click(".ant-select"); await hand.until("document.querySelector('.ant-select-item-option')");
    await hand.click([[".ant-select-item-option", 1]]); await hand.click(".ant-checkbox-wrapper"); await hand.click([[".ant-tabs-tab", 1]]); await hand.click("#done");
  } },
  { name: "Antd: date picker", page: "lib-antd", async does(hand) {
    await hand.until("document.querySelector('.ant-picker')"); await hand.click(".ant-picker"); await hand.click("[title='2026-05-17']"); await hand.click("#done");
  } },
  { name: "Antd: slider, switch, rate", page: "lib-antd", async does(hand) {
    await hand.until("document.querySelector('.ant-slider-handle')"); await hand.drag(".ant-slider-handle", [60, 0]); await hand.click(".ant-switch");
    await hand.click([[".ant-rate-star-second", 3]]); await hand.click("#done");
  } },
  { name: "Antd: menu that the pointer opens", page: "lib-antd", async does(hand) {
    await hand.until("document.querySelector('#more')"); await hand.hover("#more"); await hand.click([[".ant-dropdown-menu-item", 1]]); await hand.click("#done");
  } },
  { name: "Antd: modal and table", page: "lib-antd", async does(hand) {
    await hand.until("document.querySelector('.ant-table-row')"); await hand.click([[".ant-table-row button", 1]]); await hand.until("document.querySelector('.ant-modal .ant-btn-primary')");
    await hand.click(".ant-modal .ant-btn-primary"); await hand.until("!document.querySelector('.ant-modal-wrap')?.checkVisibility()"); await hand.click("#done");
  } },
  { name: "Shoelace: input, select, switch", page: "lib-shoelace", async does(hand) {
    await hand.until("document.querySelector('sl-input')?.shadowRoot?.querySelector('input')"); await hand.click(["sl-input", "input"]); await hand.type("Ada");
    await hand.click(["sl-select", ".select__combobox"]); await hand.click([["sl-option", 1]]); await hand.click("sl-switch", { at: [0.05, 0.5] }); await hand.click("sl-button");
  } },
  { name: "Shoelace: range, rating, details", page: "lib-shoelace", async does(hand) {
    await hand.until("document.querySelector('sl-range')?.shadowRoot?.querySelector('input')"); await hand.drag(["sl-range", "input"], [40, 0]);
    await hand.click("sl-rating", { at: [0.15, 0.5] }); await hand.click(["sl-details", "summary"]); await hand.click("sl-button");
  } },
  { name: "Vuetify: text field, select, checkbox", page: "lib-vuetify", async does(hand) {
    await hand.until("document.querySelector('.v-select')"); await hand.click(".v-text-field input"); await hand.type("Ada"); await hand.click(".v-select .v-field");
    await hand.until("document.querySelector('.v-list-item')"); await hand.click([[".v-list-item", 1]]); await hand.click(".v-checkbox .v-selection-control__input"); await hand.click("#done");
  } },
  { name: "Quill: text with a bold word", page: "lib-quill", async does(hand) {
    await hand.until("document.querySelector('.ql-editor')"); await hand.click(".ql-editor"); await hand.type("Hello "); await hand.click(".ql-bold"); await hand.type("Ada"); await hand.click("#done");
  } },
];
