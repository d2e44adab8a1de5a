// Uses the stand-in with the client of WebDriverAgent in mobile-mcp, which others wrote. Arguments: the package's folder, host, port.
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const [folder, host, port] = process.argv.slice(2);
const { WebDriverAgent } = createRequire(`${folder}/`)("@mobilenext/mobile-mcp/lib/webdriver-agent.js");
const agent = new WebDriverAgent(host, Number(port));

const element = async (id) => (await agent.getElementsOnScreen()).find((one) => one.identifier === id);
// Its list of elements leaves out fields for passwords.
const within = (node, id) =>
    node.rawIdentifier === id ? node : (node.children ?? []).map((child) => within(child, id)).find(Boolean);
const place = async (id) => within((await agent.getPageSource()).value, id);
const until = async (what, holds) => {
    for (const deadline = Date.now() + 60_000; Date.now() < deadline; ) {
        const found = await holds();
        if (found) return found;
    }
    assert.fail(`${what} does not come`);
};
const tap = async (id) => {
    const { rect } = await until(id, () => place(id));
    await agent.tap(rect.x + rect.width / 2, rect.y + rect.height / 2);
};

assert.equal(await agent.isRunning(), true);
assert.deepEqual(await agent.getScreenSize(), { width: 390, height: 844, scale: 3 });
await agent.withinSession((session) =>
    fetch(`${session}/wda/apps/launch`, { method: "POST", body: JSON.stringify({ bundleId: "com.example.Wallet" }) }),
);
await tap("email");
await agent.sendKeys("ada@example.com");
assert.equal((await element("email")).value, "ada@example.com");
await tap("pin");
await agent.sendKeys("1234");
await tap("submit");
await tap("notNow");
assert.equal((await until("the balance", () => element("balance"))).label, "€120.00");
assert.equal((await agent.getScreenshot()).subarray(1, 4).toString(), "PNG");
await agent.swipe("up");
await agent.setOrientation("landscape");
assert.equal(await agent.getOrientation(), "landscape");
const { width, height } = await agent.getScreenSize();
assert.ok(width > height);
await agent.setOrientation("portrait");
await agent.pressButton("VOLUME_UP");
await agent.pressButton("HOME");
assert.equal(await element("balance"), undefined);
