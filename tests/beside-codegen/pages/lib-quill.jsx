import "quill/dist/quill.snow.css";
import Quill from "quill";

document.querySelector("#app").innerHTML = "<div id=letter></div><button id=done>Done</button>";
const quill = new Quill("#letter", { theme: "snow", modules: { toolbar: ["bold", "italic"] } });
document.querySelector("#done").onclick = () => { document.querySelector("#log").textContent = quill.getSemanticHTML().replaceAll("&nbsp;", " "); };
