// Thirty actions by selenium-webdriver on a browser, with what it checks by itself: `node selenium.mjs RUNS BROWSER PROGRAM FORM [ENDPOINT]`.
// Needs `scripts/parts bench`.
import { createRequire } from "node:module";
import { measure, tell } from "../web/measure.mjs";

const [, , , browser, program, form, endpoint] = process.argv;
const require = createRequire(new URL("../../../../.parts/selenium-webdriver/node_modules/", import.meta.url));
const { Builder, By, Capabilities } = require("selenium-webdriver");
const { version } = require("selenium-webdriver/package.json");

const options = {
  firefox: { "moz:firefoxOptions": { binary: program, args: ["-headless"] } },
  chrome: {
    "goog:chromeOptions": {
      binary: program,
      args: ["--headless=new", "--no-sandbox", "--disable-background-networking", "--disable-component-update", "--window-size=1280,800"],
    },
  },
  MiniBrowser: { "webkitgtk:browserOptions": { binary: program, args: ["--automation"] } },
};
const wanted = new Capabilities({ browserName: browser, ...options[browser] });
const driver = await new Builder().usingServer(endpoint).withCapabilities(wanted).build();
try {
  await driver.get(form);
  // As its documentation finds elements by what a person sees.
  const labelled = (text) => By.xpath(`//*[@id=//label[normalize-space()='${text}']/@for] | //label[normalize-space()='${text}']//input`);
  const button = (text) => By.xpath(`//button[normalize-space()='${text}']`);
  const run = async () => {
    for (let n = 1; n <= 10; n++) {
      const field = await driver.findElement(labelled(`Field ${n}`));
      await field.clear();
      await field.sendKeys(`Text ${n}`);
    }
    for (let n = 1; n <= 10; n++) await (await driver.findElement(labelled(`Option ${n}`))).click();
    for (let n = 1; n <= 10; n++) await (await driver.findElement(button(`Button ${n}`))).click();
  };
  const times = await measure(run, {
    before: () => driver.executeScript("reset()"),
    after: async () => {
      const counts = await driver.executeScript("return counts()");
      if (counts !== "10 filled, 10 checked, 10 pressed") throw new Error(`the page has ${counts}`);
    },
  });
  tell("selenium-webdriver", times, { version, actions: 30, browser });
} finally {
  await driver.quit();
}
