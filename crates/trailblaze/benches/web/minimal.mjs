// The same thirty actions with the least that can be done: one evaluation finds the element and its place, then the input is
// sent, and nothing is checked or waited for. `node minimal.mjs [RUNS]`.
//
// Told twice. Chromium answers a move of the mouse with the next frame, so a script that awaits each answer takes a frame for
// each click; one that sends move, press and release at once does not.
import { Chromium } from "./chromium.mjs";
import { measure, tell } from "./measure.mjs";

const chromium = new Chromium();
try {
  const { product } = await chromium.send("Browser.getVersion");
  const send = await chromium.open(new URL("form.html", import.meta.url).href);

  const evaluate = async (expression) => {
    const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  await evaluate(`
    globalThis.place = (element) => {
      element.scrollIntoViewIfNeeded();
      const { left, top, width, height } = element.getBoundingClientRect();
      return [left + width / 2, top + height / 2];
    };
    globalThis.labelled = (text) => place([...document.querySelectorAll("label")].find((label) => label.textContent.trim() === text).control);
    globalThis.button = (text) => place([...document.querySelectorAll("button")].find((button) => button.textContent.trim() === text));
  `);
  const mouse = (type, [x, y], more) => send("Input.dispatchMouseEvent", { type, x, y, ...more });
  const pressed = { button: "left", buttons: 1, clickCount: 1 };
  const released = { button: "left", clickCount: 1 };
  const clicks = {
    "minimal, in turn": async (place) => {
      await mouse("mouseMoved", place);
      await mouse("mousePressed", place, pressed);
      await mouse("mouseReleased", place, released);
    },
    "minimal, at once": (place) =>
      Promise.all([mouse("mouseMoved", place), mouse("mousePressed", place, pressed), mouse("mouseReleased", place, released)]),
  };
  const around = {
    before: () => evaluate("reset()"),
    after: async () => {
      const counts = await evaluate("counts()");
      if (counts !== "10 filled, 10 checked, 10 pressed") throw new Error(`the page has ${counts}`);
    },
  };
  for (const [name, click] of Object.entries(clicks)) {
    const run = async () => {
      for (let n = 1; n <= 10; n++) {
        await click(await evaluate(`labelled("Field ${n}")`));
        await send("Input.insertText", { text: `Text ${n}` });
      }
      for (let n = 1; n <= 10; n++) await click(await evaluate(`labelled("Option ${n}")`));
      for (let n = 1; n <= 10; n++) await click(await evaluate(`button("Button ${n}")`));
    };
    tell(name, await measure(run, around), { actions: 30, browser: product });
  }
} finally {
  await chromium.close();
}
