// What appium-xcuitest-driver does with WebDriverAgent, on the stand-in: a session, the source, elements, taps, typing, alerts, apps, the lock.
// Arguments: the folder of its packages, the address of the stand-in.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, address] = process.argv.slice(2);
const library = join(folder, 'node_modules/appium-xcuitest-driver/build/lib/index.js');
const { XCUITestDriver } = await import(pathToFileURL(library).href);

const APP = 'com.example.Wallet';
const driver = new XCUITestDriver({});
await driver.createSession(null, null, {
  firstMatch: [{}],
  alwaysMatch: {
    platformName: 'iOS',
    'appium:automationName': 'XCUITest',
    'appium:udid': '00008110-000A1D3C0E21001E',
    'appium:platformVersion': '18.1',
    'appium:webDriverAgentUrl': address,
    'appium:noReset': true,
    'appium:skipLogCapture': true,
  },
});
await driver.mobileLaunchApp(APP);
assert.equal(await driver.mobileQueryAppState(APP), 4, 'the app is in front');
assert.match(await driver.getPageSource(), /XCUIElementTypeTextField[^>]*name="email"/);
const field = await driver.findElement('accessibility id', 'email');
const id = Object.values(field)[0];
await driver.click(id);
await driver.setValue('ada@example.com', id);
assert.equal(await driver.getText(id), 'ada@example.com');
assert.equal(await driver.getAttribute('name', id), 'email');
const { width, height } = await driver.getElementRect(id);
assert.ok(width > 0 && height > 0);
await driver.clear(id);
const cells = await driver.findElements('-ios predicate string', "type == 'XCUIElementTypeButton' AND label == 'Sign in'");
assert.equal(cells.length, 1);
const picture = await driver.getScreenshot();
assert.ok(Buffer.from(picture, 'base64').subarray(1, 4).equals(Buffer.from('PNG')));
const window = await driver.getWindowRect();
assert.ok(window.width > 0);
assert.equal(await driver.isLocked(), false);
// Through the PIN to the balance, past the alert of the app.
const tap = async (name) => driver.click(Object.values(await until(name, () => driver.findElement('accessibility id', name)))[0]);
const until = async (what, holds) => {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; ) {
    const found = await Promise.resolve(holds()).catch(() => undefined);
    if (found) return found;
  }
  assert.fail(`${what} does not come`);
};
await driver.setValue('ada@example.com', id);
await driver.setValue('1234', Object.values(await driver.findElement('accessibility id', 'pin'))[0]);
await tap('submit');
assert.match(await until('the alert', () => driver.getAlertText()), /Stay up to date/);
await driver.postDismissAlert();
const balance = await until('the balance', () => driver.findElement('accessibility id', 'balance'));
assert.equal(await driver.getAttribute('label', Object.values(balance)[0]), '€120.00');
await driver.mobileSwipe('up');
await driver.lock();
assert.equal(await driver.isLocked(), true);
await driver.unlock();
await driver.proxyCommand('/orientation', 'POST', { orientation: 'LANDSCAPE' });
assert.equal(await driver.proxyCommand('/orientation', 'GET'), 'LANDSCAPE');
await driver.proxyCommand('/orientation', 'POST', { orientation: 'PORTRAIT' });
const finger = { type: 'pointer', id: 'finger', parameters: { pointerType: 'touch' } };
const move = { type: 'pointerMove', duration: 0, x: 195, y: 400 };
await driver.performActions([{ ...finger, actions: [move, { type: 'pointerDown', button: 0 }, { type: 'pointerUp', button: 0 }] }]);
await driver.mobilePressButton('home');
assert.notEqual(await driver.mobileQueryAppState(APP), 4);
await driver.mobileActivateApp(APP);
assert.equal(await driver.mobileTerminateApp(APP), true);
await driver.deleteSession();
console.log('done');
process.exit(0);
