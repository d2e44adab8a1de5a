import "@shoelace-style/shoelace/dist/themes/light.css";
import "@shoelace-style/shoelace/dist/components/button/button.js";
import "@shoelace-style/shoelace/dist/components/details/details.js";
import "@shoelace-style/shoelace/dist/components/input/input.js";
import "@shoelace-style/shoelace/dist/components/option/option.js";
import "@shoelace-style/shoelace/dist/components/range/range.js";
import "@shoelace-style/shoelace/dist/components/rating/rating.js";
import "@shoelace-style/shoelace/dist/components/select/select.js";
import "@shoelace-style/shoelace/dist/components/switch/switch.js";

document.querySelector("#app").innerHTML = `<div style="display: grid; gap: 14px; max-width: 400px"><sl-input label="Name"></sl-input>
  <sl-select label="Drink"><sl-option value="tea">Tea</sl-option><sl-option value="milk">Milk</sl-option></sl-select><sl-switch>News</sl-switch>
  <sl-range label="Volume" min="0" max="100"></sl-range><sl-rating label="Stars"></sl-rating><sl-details summary="More">Details</sl-details><sl-button>Done</sl-button></div>`;
const $ = (css) => document.querySelector(css);
$("sl-button").onclick = () => {
  $("#log").textContent = [$("sl-input").value, $("sl-select").value, $("sl-switch").checked, $("sl-range").value, $("sl-rating").value, $("sl-details").open].join("/");
};
