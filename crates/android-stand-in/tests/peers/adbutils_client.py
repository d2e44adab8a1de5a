"""Uses the phone with adbutils, and reads its screen with uiautomator2, which others wrote for real phones. Arguments: the port of the adb server, the phone's serial."""

import sys

import adbutils
from uiautomator2.xpath import PageSource

port, serial = int(sys.argv[1]), sys.argv[2]
phone = adbutils.AdbClient(host="127.0.0.1", port=port).device(serial=serial)


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got!r}, not {wanted!r}")


expect("sdk", phone.getprop("ro.build.version.sdk"), "34")
expect("size", tuple(phone.window_size()), (1080, 2400))
expect("rotation", phone.rotation(), 0)
expect("screen", phone.is_screen_on(), True)
expect("battery", phone.battery().level, 100)
expect("packages", phone.list_packages(["-3"]), ["com.example.wallet"])
expect("exit code", phone.shell2("ls /nowhere").returncode, 1)
expect("output", phone.shell2("echo out; echo err >&2", v2=True).stderr, "err\n")

phone.app_start("com.example.wallet")
expect("app", phone.app_current().package, "com.example.wallet")
info = phone.app_info("com.example.wallet")
expect("version", (info.version_name, info.version_code), ("1.0", 1))
expect("picture", phone.screenshot(error_ok=False).size, (1080, 2400))
dump = phone.dump_hierarchy()
expect("dump", "Welcome back" in dump, True)
fields = PageSource.parse(dump).find_elements("//android.widget.EditText")
expect("fields", [field.attrib["resource-id"] for field in fields], [f"com.example.wallet:id/{name}" for name in ("email", "pin")])
phone.click(*fields[0].center())
phone.send_keys("ada")
fields = PageSource.parse(phone.dump_hierarchy()).find_elements("//*[@focused='true']")
expect("field", [field.text for field in fields], ["ada"])

phone.sync.push(b"hello", "/sdcard/hello.txt")
expect("file", phone.sync.read_text("/sdcard/hello.txt"), "hello")

phone.switch_screen(False)
expect("screen", phone.is_screen_on(), False)
phone.switch_screen(True)
phone.app_stop("com.example.wallet")
expect("app", phone.app_current().package, "com.android.launcher3")
