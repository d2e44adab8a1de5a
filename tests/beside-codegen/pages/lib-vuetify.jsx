import "vuetify/styles";
import { createApp, h, reactive } from "vue/dist/vue.esm-bundler.js";
import { createVuetify } from "vuetify";
import { VApp, VBtn, VCheckbox, VSelect, VTextField } from "vuetify/components";

const said = reactive({ name: "", city: "", agree: false });
const bind = (name) => ({ modelValue: said[name], "onUpdate:modelValue": (value) => { said[name] = value; } });
const App = () => h(VApp, null, () => h("div", { style: "padding: 20px; max-width: 400px" }, [
  h(VTextField, { label: "Name", ...bind("name") }), h(VSelect, { label: "City", items: ["Rome", "Oslo"], ...bind("city") }),
  h(VCheckbox, { label: "I agree", ...bind("agree") }),
  h(VBtn, { id: "done", onClick: () => { document.querySelector("#log").textContent = JSON.stringify(said); } }, () => "Done"),
]));
createApp({ render: App }).use(createVuetify()).mount("#app");
