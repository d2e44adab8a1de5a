// Thirty actions by Playwright, with all the checks that it makes by default: `node playwright.mjs [RUNS]`. Needs
// `scripts/parts bench`.
import { createRequire } from "node:module";
import { ARGS, fail, findChromium } from "./chromium.mjs";
import { measure, tell } from "./measure.mjs";

const require = createRequire(new URL("../../../../.parts/bench/node_modules/", import.meta.url));
const { chromium, version } = load();
const browser = await chromium.launch({ executablePath: findChromium(), args: ARGS });
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(new URL("form.html", import.meta.url).href);

  const run = async () => {
    for (let n = 1; n <= 10; n++) await page.getByLabel(`Field ${n}`, { exact: true }).fill(`Text ${n}`);
    for (let n = 1; n <= 10; n++) await page.getByLabel(`Option ${n}`, { exact: true }).check();
    for (let n = 1; n <= 10; n++) await page.getByRole("button", { name: `Button ${n}`, exact: true }).click();
  };
  const times = await measure(run, {
    before: () => page.evaluate("reset()"),
    after: async () => {
      const counts = await page.evaluate("counts()");
      if (counts !== "10 filled, 10 checked, 10 pressed") throw new Error(`the page has ${counts}`);
    },
  });
  tell("playwright", times, { version, actions: 30, browser: browser.version() });
} finally {
  await browser.close();
}

function load() {
  try {
    return { ...require("playwright-core"), version: require("playwright-core/package.json").version };
  } catch (error) {
    return fail(`playwright-core cannot be loaded: ${error.message.split("\n")[0]}`, "`scripts/parts bench` installs it");
  }
}
