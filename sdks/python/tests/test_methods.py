"""What each method sends and returns."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from conftest import Style
from fake import FakeServer, enveloped, respond, stream

from trailblaze import (
    ActionResult,
    DesktopWindow,
    Device,
    DeviceList,
    ModelReply,
    ReloadResult,
    ScreenState,
    SessionEvent,
    SessionInfo,
    ShellResult,
    ToolInfo,
    ToolList,
    ToolResult,
    WindowList,
)
from trailblaze._generated import blocking, commands

DONE = {"success": True, "message": "done", "variant": ""}
DID = ActionResult(success=True, message="done")
CORE, MAESTRO, WEB = "TrailblazeCommands", "MaestroCommands", "PlaywrightCommands"
DESKTOP, MEMORY, SESSION = "DesktopCommands", "TrailblazeMemory", "TrailblazeSession"

Case = tuple[Callable[[Any], Any], str, dict[str, Any], Any, Any]

# The call; service and method; what is sent; the answer; what is returned.
CASES: list[Case] = [
    (lambda tb: tb.tap(100, 200), f"{CORE}/Tap", {"x": 100, "y": 200}, DONE, DID),
    (
        lambda tb: tb.tap(ref="y778", text="Pay", id="pay", index=0, long_press=False, timeout_ms=0),
        f"{CORE}/Tap",
        {"ref": "y778", "text": "Pay", "id": "pay", "index": 0, "longPress": False, "timeoutMs": 0},
        DONE,
        DID,
    ),
    (lambda tb: tb.input_text("ada"), f"{CORE}/InputText", {"text": "ada"}, DONE, DID),
    (
        lambda tb: tb.input_text(text="", hide_keyboard_after=False),
        f"{CORE}/InputText",
        {"text": "", "hideKeyboardAfter": False},
        DONE,
        DID,
    ),
    (lambda tb: tb.launch_app(), f"{CORE}/LaunchApp", {}, DONE, DID),
    (
        lambda tb: tb.launch_app("com.acme", launch_mode="resume", timeout_ms=9),
        f"{CORE}/LaunchApp",
        {"packageId": "com.acme", "launchMode": "resume", "timeoutMs": 9},
        DONE,
        DID,
    ),
    (lambda tb: tb.clear_app_data("com.acme"), f"{CORE}/ClearAppData", {"packageId": "com.acme"}, DONE, DID),
    (lambda tb: tb.is_visible("Pay"), f"{CORE}/IsVisible", {"text": "Pay"}, {"value": True}, True),
    (
        lambda tb: tb.is_visible(id="pay", timeout_ms=50),
        f"{CORE}/IsVisible",
        {"id": "pay", "timeoutMs": 50},
        {"value": False},
        False,
    ),
    (lambda tb: tb.has_text("Pay"), f"{CORE}/HasText", {"text": "Pay"}, {"value": True}, True),
    (lambda tb: tb.get_element_text("total"), f"{CORE}/GetElementText", {"id": "total"}, {"value": "4 €"}, "4 €"),
    (lambda tb: tb.get_element_text(id="total"), f"{CORE}/GetElementText", {"id": "total"}, {}, None),
    (lambda tb: tb.get_element_count(id="row"), f"{CORE}/GetElementCount", {"id": "row"}, {"value": 3}, 3),
    (lambda tb: tb.capture_screen(picture=True), f"{CORE}/CaptureScreen", {"picture": True}, {"width": 9}, ScreenState(width=9)),  # fmt: skip
    (
        lambda tb: tb.assert_visible(text="Pay", expected_text="Pay", timeout_ms=1),
        f"{CORE}/AssertVisible",
        {"text": "Pay", "expectedText": "Pay", "timeoutMs": 1},
        DONE,
        DID,
    ),
    (
        lambda tb: tb.wait_until_visible("Pay", 10_000),
        f"{CORE}/WaitUntilVisible",
        {"text": "Pay", "timeoutMs": 10_000},
        DONE,
        DID,
    ),
    (
        lambda tb: tb.maestro.adb_shell("ls"),
        f"{MAESTRO}/AdbShell",
        {"command": "ls"},
        {"output": "a\n", "exitCode": 1, "success": True},
        ShellResult(output="a\n", exit_code=1, success=True),
    ),
    (
        lambda tb: tb.maestro.grant_permission("com.acme", "camera"),
        f"{MAESTRO}/GrantPermission",
        {"packageId": "com.acme", "permission": "camera"},
        DONE,
        DID,
    ),
    (lambda tb: tb.maestro.press_back(), f"{MAESTRO}/PressBack", {}, DONE, DID),
    (lambda tb: tb.maestro.press_home(), f"{MAESTRO}/PressHome", {}, DONE, DID),
    (lambda tb: tb.maestro.swipe("down", duration_ms=3), f"{MAESTRO}/Swipe", {"direction": "down", "durationMs": 3}, DONE, DID),  # fmt: skip
    (lambda tb: tb.maestro.scroll(direction="UP"), f"{MAESTRO}/Scroll", {"direction": "UP"}, DONE, DID),
    (lambda tb: tb.maestro.pinch(0.5), f"{MAESTRO}/Pinch", {"scale": 0.5}, DONE, DID),
    (lambda tb: tb.playwright.navigate("https://a.example"), f"{WEB}/Navigate", {"url": "https://a.example"}, DONE, DID),
    (lambda tb: tb.playwright.click("#pay"), f"{WEB}/Click", {"selector": "#pay"}, DONE, DID),
    (lambda tb: tb.playwright.fill("#pin", ""), f"{WEB}/Fill", {"selector": "#pin", "value": ""}, DONE, DID),
    (lambda tb: tb.playwright.wait_for_selector("#pay"), f"{WEB}/WaitForSelector", {"selector": "#pay"}, DONE, DID),
    (
        lambda tb: tb.playwright.evaluate_js("1"),
        f"{WEB}/EvaluateJs",
        {"script": "1"},
        {"value": {"deep": [1, None]}, "success": True},
        {"deep": [1, None]},
    ),
    (
        lambda tb: tb.desktop.windows(),
        f"{DESKTOP}/Windows",
        {},
        {"windows": [{"id": "7", "title": "Bill", "app": "mousepad", "active": True}]},
        WindowList(windows=(DesktopWindow(id="7", title="Bill", app="mousepad", active=True),)),
    ),
    (lambda tb: tb.desktop.activate_window("7"), f"{DESKTOP}/ActivateWindow", {"id": "7"}, DONE, DID),
    (lambda tb: tb.desktop.menu(["File", "Save"]), f"{DESKTOP}/Menu", {"path": ["File", "Save"]}, DONE, DID),
    (lambda tb: tb.desktop.press_keys("Control+S"), f"{DESKTOP}/PressKeys", {"keys": "Control+S"}, DONE, DID),
    (lambda tb: tb.desktop.get_clipboard(), f"{DESKTOP}/GetClipboard", {}, {"value": "Ada"}, "Ada"),
    (lambda tb: tb.desktop.set_clipboard("Ada"), f"{DESKTOP}/SetClipboard", {"text": "Ada"}, DONE, DID),
    (lambda tb: tb.desktop.close("7"), f"{DESKTOP}/Close", {"id": "7"}, DONE, DID),
    (lambda tb: tb.remember("user", "ada"), f"{MEMORY}/Remember", {"variable": "user", "value": "ada"}, DONE, DID),
    (lambda tb: tb.forget("user"), f"{MEMORY}/Forget", {"variable": "user"}, DONE, DID),
    (lambda tb: tb.dump_memory(), f"{MEMORY}/DumpMemory", {}, {"value": {"user": "ada"}}, {"user": "ada"}),
    (
        lambda tb: tb.get_session(),
        f"{SESSION}/GetSession",
        {},
        {"sessionId": "s-1", "device": {"id": "android/sim-1", "platform": "android", "width": 1080}},
        SessionInfo(session_id="s-1", device=Device(id="android/sim-1", platform="android", width=1080)),
    ),
    (
        lambda tb: tb.list_tools(),
        f"{SESSION}/ListTools",
        {},
        {"tools": [{"name": "tap", "description": "Tap.", "inputSchema": {"type": "object"}}]},
        ToolList(tools=(ToolInfo(name="tap", description="Tap.", input_schema={"type": "object"}),)),
    ),
    (
        lambda tb: tb.call_tool("acme_login", {"email": "a"}),
        f"{SESSION}/CallTool",
        {"name": "acme_login", "args": {"email": "a"}},
        {**DONE, "structured": [1]},
        ToolResult(success=True, message="done", structured=[1]),
    ),
    (lambda tb: tb.reload_tools(), f"{SESSION}/ReloadTools", {}, {"added": ["a"], "total": 3}, ReloadResult(added=("a",), total=3)),  # fmt: skip
    (
        lambda tb: tb.ask_model("Why?", max_tokens=9),
        f"{SESSION}/AskModel",
        {"prompt": "Why?", "screen": False, "maxTokens": 9},
        {"text": "So.", "model": "m"},
        ModelReply(text="So.", model="m"),
    ),
    (
        lambda tb: tb.ask_llm("Why?", ScreenState(), system="Be brief."),
        f"{SESSION}/AskModel",
        {"prompt": "Why?", "screen": True, "system": "Be brief."},
        {"text": "So.", "model": "m"},
        ModelReply(text="So.", model="m"),
    ),
    (lambda tb: tb.list_devices(), f"{SESSION}/ListDevices", {}, {"number": 1, "devices": [{"id": "a"}]}, DeviceList(number=1, devices=(Device(id="a"),))),  # fmt: skip
]


@pytest.mark.parametrize("case", CASES, ids=[f"{case[1]}-{index}" for index, case in enumerate(CASES)])
def test_a_method_sends_what_it_is_given_and_returns_the_answer(style: Style, server: FakeServer, case: Case) -> None:
    call, method, sent, answer, returned = case
    server.answer = lambda request, connection: respond(answer)
    tb = style.client(server.address, key="secret", session_id="s-1", device_id="android/sim-1")

    result = style.run(call(tb))

    assert result == returned
    assert server.last.path == f"/trailblaze.v1.{method}"
    assert server.last.json == {"sessionId": "s-1", "deviceId": "android/sim-1", **sent}
    headers = server.last.headers
    assert headers["content-type"] == "application/json"
    assert headers["connect-protocol-version"] == "1"
    assert headers["authorization"] == "Bearer secret"
    assert "connect-timeout-ms" not in headers


def test_the_streams_send_where_to_start_and_return_messages(style: Style, server: FakeServer) -> None:
    event = {"number": 8, "type": "called", "json": "{}"}
    server.answer = lambda request, connection: stream(enveloped(event), enveloped({}, 2))
    tb = style.client(server.address, invocation_id="c-1")
    assert style.take(tb.watch_events(after=7)) == [SessionEvent(number=8, type="called", json="{}")]
    assert server.last.path == "/trailblaze.v1.TrailblazeSession/WatchEvents"
    assert server.last.json == {"invocationId": "c-1", "after": 7}

    server.answer = lambda request, connection: stream(enveloped({"number": 1}), enveloped({}, 2))
    assert style.take(tb.watch_devices()) == [DeviceList(number=1)]
    assert server.last.path == "/trailblaze.v1.TrailblazeSession/WatchDevices"


def test_every_method_of_the_contract_has_a_case_and_exists_in_both_clients() -> None:
    tested = {method for _, method, *_ in CASES} | {f"{SESSION}/WatchEvents", f"{SESSION}/WatchDevices"}
    for module, prefix in ((commands, ""), (blocking, "Sync")):
        source = inspect.getsource(module)
        classes = [CORE, MAESTRO, WEB, MEMORY, SESSION]
        assert {f"class {prefix}{name}" for name in classes} <= {line.split("(")[0] for line in source.splitlines()}
        paths = {part.split('"')[0] for part in source.split('"/trailblaze.v1.')[1:]}
        assert paths == tested


def test_both_clients_have_the_same_signatures() -> None:
    for name in (CORE, MAESTRO, WEB, MEMORY, SESSION):
        one, other = getattr(commands, name), getattr(blocking, f"Sync{name}")
        methods = [method for method in vars(one) if not method.startswith("_") and method != "PLATFORMS"]
        assert methods
        for method in methods:
            ours, theirs = (inspect.signature(getattr(of, method)) for of in (one, other))
            assert ours.parameters == theirs.parameters
            assert inspect.getdoc(getattr(one, method)) == inspect.getdoc(getattr(other, method))


def test_sampling_joins_the_messages_of_a_conversation(style: Style, server: FakeServer) -> None:
    server.answer = lambda request, connection: respond({"text": "Yes.", "model": "m"})
    tb = style.client(server.address, invocation_id="c-1")
    question = {"role": "user", "content": "Is it green?"}
    reply = style.run(tb.sampling.create_message(messages=[question], include_screenshot=True))
    assert reply.content.lower() == "yes."
    assert server.last.json == {"invocationId": "c-1", "prompt": "Is it green?", "screen": True}

    more = [question, {"role": "assistant", "content": {"type": "text", "text": "No."}}, {"content": ["Sure?"]}]
    style.run(tb.sampling.create_message(more, max_tokens=5, system_prompt="Be brief."))
    assert server.last.json["prompt"] == "user: Is it green?\n\nassistant: No.\n\nuser: Sure?"
    assert (server.last.json["maxTokens"], server.last.json["system"]) == (5, "Be brief.")

    with pytest.raises(TypeError, match="must be text"):
        style.run(tb.sampling.create_message([{"role": "user", "content": {"type": "image"}}]))


def test_a_group_that_the_platform_lacks_is_none(style: Style) -> None:
    unknown = style.client("localhost:1")
    assert unknown.platform is None and unknown.maestro is not None and unknown.desktop is not None
    phone = style.client("localhost:1", platform="ANDROID")
    assert phone.platform == "android" and phone.maestro is not None and phone.playwright is None
    browser = style.client("localhost:1", platform="web")
    assert browser.maestro is None and browser.playwright is not None and browser.desktop is None


def test_arguments_that_are_not_json_are_refused_before_anything_is_sent(style: Style, server: FakeServer) -> None:
    from trailblaze import ApiError

    tb = style.client(server.address, key="k")
    with pytest.raises(ApiError, match="not JSON") as raised:
        style.run(tb.call_tool("a", {"scale": float("nan")}))
    assert raised.value.code == "invalid_argument"
    with pytest.raises(TypeError):
        style.run(tb.call_tool("a", {"when": object()}))
    with pytest.raises(ValueError, match="`timeout` must be more than 0"):
        style.run(tb.tap(1, 2, timeout=0))
    assert server.requests == []
