"""Uses the phone with mobile-mcp, which others wrote for real phones. Arguments: node, the program, the phone's serial."""

import json
import os
import re
import subprocess
import sys
import tempfile

node, program, serial = sys.argv[1:]
server = subprocess.Popen([node, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
last = 0


def ask(method, params):
    global last
    last += 1
    server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": last, "method": method, "params": params}) + "\n")
    server.stdin.flush()
    for line in server.stdout:
        answer = json.loads(line)
        if answer.get("id") == last:
            return answer["result"]
    sys.exit(f"{method}: no answer")


def call(name, **arguments):
    result = ask("tools/call", {"name": name, "arguments": {"device": serial, **arguments}})
    return "".join(part.get("text", "") for part in result["content"])


def expect(what, got, wanted):
    if wanted not in got:
        sys.exit(f"{what}: {got!r}, not {wanted!r}")


def element(identifier):
    """The text of an element, and its middle: `EditText text="Email" id="com.example.wallet:id/email" at=55,666 size=970x154`."""
    listed = call("mobile_list_elements_on_screen")
    lines = [line for line in listed.splitlines() if f'/{identifier}"' in line]
    if len(lines) != 1:
        sys.exit(f"no {identifier} in {listed}")
    x, y, width, height = map(int, re.search(r"at=(\d+),(\d+) size=(\d+)x(\d+)", lines[0]).groups())
    text = re.search(r'text="([^"]*)"', lines[0])
    return text.group(1) if text else "", x + width // 2, y + height // 2


def tap(identifier):
    _, x, y = element(identifier)
    call("mobile_click_on_screen_at_coordinates", x=x, y=y)


ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})
server.stdin.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n")
expect("size", call("mobile_get_screen_size"), "1080x2400")
expect("apps", call("mobile_list_apps"), "com.example.wallet")
call("mobile_launch_app", packageName="com.example.wallet")
expect("app in front", call("mobile_list_elements_on_screen"), "Welcome back")
tap("email")
call("mobile_type_keys", text="ada@example.com", submit=False)
expect("field", element("email")[0], "ada@example.com")
tap("pin")
call("mobile_type_keys", text="1234", submit=False)
tap("submit")
while "/notNow" not in call("mobile_list_elements_on_screen"):
    pass  # The test limits the wait.
tap("notNow")
expect("balance", element("balance")[0], "€120.00")
with tempfile.TemporaryDirectory() as folder:
    picture = os.path.join(folder, "picture.png")
    call("mobile_save_screenshot", saveTo=picture)
    expect("picture", str(os.path.exists(picture) and open(picture, "rb").read(4)), "PNG")
call("mobile_press_button", button="HOME")
call("mobile_terminate_app", packageName="com.example.wallet")
expect("home", call("mobile_list_elements_on_screen"), "Hello")
server.stdin.close()
server.wait()
