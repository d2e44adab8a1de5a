"""Uses the stand-in with facebook-wda, which others wrote for the real WebDriverAgent. Argument: the address of the stand-in."""

import sys
import time

import wda

WALLET = "com.example.Wallet"
client = wda.Client(sys.argv[1])


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got!r}, not {wanted!r}")


def element(name, node=None):
    node = node or client.source(format="json")
    if node["name"] == name:
        return node
    found = (element(name, child) for child in node.get("children", []))
    return next((one for one in found if one), None)


def tap(name):
    rect = element(name)["rect"]
    client.tap(rect["x"] + rect["width"] / 2, rect["y"] + rect["height"] / 2)


def wait_for(what, holds):
    deadline = time.monotonic() + 60
    while not holds():
        if time.monotonic() > deadline:
            sys.exit(f"{what} does not come")


expect("ready", client.is_ready(), True)
expect("system", client.status()["os"]["name"], "iOS")
expect("locked", client.locked(), False)
expect("scale", client.scale, 3)
expect("size", tuple(client.window_size()), (390, 844))
expect("orientation", client.orientation, "PORTRAIT")

client.session(WALLET)
client.app_launch(WALLET)
expect("app", client.app_current()["bundleId"], WALLET)
expect("state", client.app_state(WALLET).value, 4)
tree = client.source(format="json")
expect("tree", (tree["type"], tree["label"], tree["children"][0]["type"]), ("Application", "Wallet", "Window"))

tap("email")
client.send_keys("ada@example.com")
expect("typed", element("email")["value"], "ada@example.com")
pin = client(id="pin").get(timeout=60)
expect("type", (pin.className, pin.enabled), ("XCUIElementTypeSecureTextField", True))
pin.set_text("1234")
expect("dots", pin.value, "••••")
tap("submit")
wait_for("the alert", lambda: client.alert.exists)
expect("buttons", client.alert.buttons(), ["Not now", "Allow"])
client.alert.click("Not now")
wait_for("the balance", lambda: element("balance"))
expect("balance", element("balance")["label"], "€120.00")
expect("picture", client.screenshot(format="raw")[:4], b"\x89PNG")
client.swipe(200, 600, 200, 200, 0.5)

client.home()
expect("home", client.app_current()["bundleId"], "com.apple.springboard")
for what, call in {
    "unknown error": lambda: client.app_launch("com.example.None"),
    "unknown command": lambda: client.http.get("/nonsense"),
}.items():
    try:
        call()
        sys.exit(f"{what}: no error")
    except wda.WDARequestError as error:
        expect(what, error.value["error"], what)
client.close()
