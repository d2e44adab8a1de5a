"""A fake device answers the clients as a test tells it."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

import pytest
from conftest import PARTS, need
from trailblaze import ActionFailed, ApiError, AssertionFailed, Element, SyncTrailblazeClient, TrailblazeClient
from trailblaze.testing import FakeCall, FakeDevice


def test_it_shows_what_it_is_told_and_keeps_the_calls():
    with FakeDevice() as device:
        device.show("Email", Element(role="button", text="Sign in", id="go", enabled=True))
        device.on("tap", lambda call: device.show("Welcome") if call.args.get("id") == "go" else None)
        tb = SyncTrailblazeClient(context=device.meta["trailblaze"])
        assert tb.platform == "android"
        assert tb.get_element_count("Email") == 1
        assert [element.text for element in tb.capture_screen().root.children] == ["Email", "Sign in"]
        tb.tap(text="Email")
        tb.input_text("ada")
        tb.tap(id="go")
        tb.assert_visible(text="Welcome")
        assert not tb.is_visible(text="Email")
        assert device.typed == ["ada"]
        assert device.calls[0] == FakeCall("getElementCount", {"text": "Email"})
        assert [call.tool for call in device.calls[2:5]] == ["tap", "inputText", "tap"]


def test_what_is_not_shown_fails_and_says_what_is():
    with FakeDevice("ios") as device:
        device.show("Cancel")
        tb = SyncTrailblazeClient(device.address)
        with pytest.raises(ActionFailed, match="no element with text `Pay` is visible; the fake device shows `Cancel`"):
            tb.tap(text="Pay")
        with pytest.raises(AssertionFailed):
            tb.assert_visible(text="Pay")
        with pytest.raises(ActionFailed, match=r"unknown tool `acme_pay`; a test says with `device.on"):
            tb.call_tool("acme_pay", {})
        with pytest.raises(ApiError, match="no model"):
            tb.ask_llm("Is it red?")


def test_arguments_of_commands_are_checked_as_by_trailblaze():
    with FakeDevice() as device:
        device.show("Pay")
        tb = SyncTrailblazeClient(device.address)
        assert tb.call_tool("tap", {"text": "Pay", "longPress": True}).success
        with pytest.raises(ApiError, match=r"`tap`: unknown argument `txt`; did you mean `text`\? \(invalid_argument\)"):
            tb.call_tool("tap", {"txt": "Pay"})
        with pytest.raises(ApiError, match="`remember`: missing argument `variable`; unknown argument `nme`; expected one of"):
            tb.call_tool("remember", {"nme": "a", "value": "b"})
        device.on("web_click", lambda call: "clicked")
        with pytest.raises(ApiError, match=r"`web_click`: unknown argument `reff`; did you mean `ref`\?"):
            tb.call_tool("web_click", {"reff": "y1"})
        assert len(device.calls) == 1


def test_types_of_arguments_are_checked_as_by_trailblaze():
    with FakeDevice("web") as device:
        device.show("Pay")
        tb = SyncTrailblazeClient(device.address)
        assert tb.call_tool("tap", {"text": "Pay", "index": None, "timeoutMs": 5.0}).success
        with pytest.raises(ApiError, match=r'`tap`: `x`: "a" is not of type "integer"; `y`: true is not of type "integer"'):
            tb.call_tool("tap", {"x": "a", "y": True})
        device.on("swipe", lambda call: "swiped")
        assert tb.call_tool("swipe", {"direction": "down"}).success
        with pytest.raises(ApiError, match=r'`swipe`: `direction`: "back" is not one of "UP", "DOWN", "LEFT", "RIGHT"'):
            tb.call_tool("swipe", {"direction": "back"})
        with pytest.raises(ApiError, match=r'`tap`: `text`: 5 is not of type "string"'):
            tb.tap(text=5)  # pyright: ignore[reportArgumentType]
        assert [call.tool for call in device.calls] == ["tap", "swipe"]


def test_tools_and_memory_are_what_the_test_says():
    with FakeDevice(memory={"user": "ada"}) as device:
        device.on("acme_pay", lambda call: f"paid {call.args['amount']}")
        tb = SyncTrailblazeClient(context=device.meta["trailblaze"])
        assert tb.memory == {"user": "ada"}
        assert tb.call_tool("acme_pay", {"amount": 3}).message == "paid 3"
        tb.remember("count", "2")
        assert device.memory == {"user": "ada", "count": "2"}

        def refuse(call: FakeCall) -> None:
            raise ValueError("the card is blocked")

        device.on("acme_pay", refuse)
        with pytest.raises(ActionFailed, match="the card is blocked"):
            tb.call_tool("acme_pay", {"amount": 3})


async def _count(device: FakeDevice) -> int:
    async with TrailblazeClient.from_context(device.meta) as tb:
        return await tb.get_element_count("Pay")


def test_it_serves_asynchronous_tools():
    with FakeDevice() as device:
        device.show("Pay", "Pay")
        assert asyncio.run(_count(device)) == 2


async def _leave_a_failed_task(device: FakeDevice) -> None:
    async def work() -> None:
        raise ValueError("the shop is closed")

    assert device.meta
    task = asyncio.create_task(work())
    await asyncio.wait([task])


def test_a_task_that_failed_and_that_nothing_awaited_fails_the_test():
    words = r"a task that was not awaited failed: ValueError: the shop is closed \(.*test_fake_device.py:\d+\)"
    with pytest.raises(AssertionError, match=words), FakeDevice() as device:
        asyncio.run(_leave_a_failed_task(device))


OVERLOOKED = """
import asyncio, sys
from fastmcp import Client, FastMCP
from trailblaze.testing import FakeDevice

tools = FastMCP("acme")

async def pay():
    raise ValueError("not paid")

@tools.tool
async def acme_pay() -> str:
    pay()
    return "paid"

@tools.tool
async def acme_lose() -> str:
    asyncio.get_running_loop().create_future().set_exception(ValueError("lost"))
    return "paid"

async def call(device, tool):
    async with Client(tools) as client:
        return await client.call_tool(tool, {}, meta=device.meta)

for tool in ("acme_pay", "acme_lose"):
    try:
        with FakeDevice() as device:
            asyncio.run(call(device, tool))
    except AssertionError as error:
        print(error)

pay()
"""


@pytest.mark.parametrize("part", ["python", "fastmcp2"])
def test_a_coroutine_or_future_that_nothing_awaited_fails_the_test(part: str, tmp_path: Path):
    script = tmp_path / "test_pay.py"
    script.write_text(OVERLOOKED, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent / "src")}
    python = need(PARTS / part / "bin" / "python")
    ran = subprocess.run([python, script], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    paid, lost = (number for number, line in enumerate(OVERLOOKED.splitlines(), 1) if line.startswith(("    pay()", "    asyncio.get")))
    assert ran.stdout.splitlines() == [
        f"`pay` was called without `await`, so nothing was done: write `await pay(…)` (test_pay.py:{paid})",
        f"a future that nothing awaited failed: ValueError: lost (test_pay.py:{lost})",
    ]
    # Outside of tests and tools, Python warns as ever.
    assert ran.stderr.count("RuntimeWarning: coroutine 'pay' was never awaited") == 1, ran.stderr


async def _forget_to_await(device: FakeDevice) -> None:
    async with TrailblazeClient.from_context(device.meta) as tb:
        await tb.tap(text="Pay")
        tb.tap(text="Pay")  # pyright: ignore[reportUnusedCoroutine]


@pytest.mark.filterwarnings("ignore:`tap` was called without:RuntimeWarning")
def test_a_call_that_is_not_awaited_fails_the_test():
    device = FakeDevice()
    device.show("Pay")
    asyncio.run(_forget_to_await(device))
    with pytest.raises(AssertionError, match=r"`tap` was called without `await`, .* \(.*test_fake_device.py:\d+\)"):
        device.calls
    assert device.calls == [FakeCall("tap", {"text": "Pay"})]
    asyncio.run(_forget_to_await(device))
    with pytest.raises(AssertionError), device:
        pass


RESULTS = """
import asyncio, sys
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from trailblaze.testing import FakeDevice
try:
    from fastmcp.tools import ToolResult
except ImportError:
    from fastmcp.tools.tool import ToolResult

tools = FastMCP("acme")

@tools.tool
def acme_pay(key: str) -> ToolResult:
    return ToolResult(content="paid", meta={"trailblaze": {key: {"total": 4}}})

@tools.tool
def acme_order() -> ToolResult:
    return object()

async def call(device, tool, arguments):
    async with Client(tools) as client:
        return await client.call_tool(tool, arguments, meta=device.meta)

with FakeDevice() as device:
    asyncio.run(call(device, "acme_pay", {"key": "memoryDelta"}))
    assert device.calls == []
    asyncio.run(call(device, "acme_pay", {"key": "memory_deltas"}))
    try:
        device.calls
    except AssertionError as error:
        print(error)
    try:
        asyncio.run(call(device, "acme_order", {}))
    except ToolError as error:
        print(error)
"""


@pytest.mark.parametrize("part", ["python", "fastmcp2"])
def test_a_result_that_trailblaze_would_refuse_fails_the_test(part: str, tmp_path: Path):
    script = tmp_path / "test_pay.py"
    script.write_text(RESULTS, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent / "src")}
    python = need(PARTS / part / "bin" / "python")
    ran = subprocess.run([python, script], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    malformed, unsendable = ran.stdout.splitlines()
    line = next(number for number, line in enumerate(RESULTS.splitlines(), 1) if "meta={" in line)
    words = "the result of a tool is malformed: unknown key `memory_deltas` in `_meta.trailblaze`; did you mean `memoryDelta`?"
    assert malformed == f"{words} (test_pay.py:{line})"
    assert "an object of the type `object`, which JSON does not have" in unsendable


LATE = """
import asyncio
from fastmcp import Client, Context, FastMCP
from trailblaze import ApiError, SyncTrailblazeClient, TrailblazeClient
from trailblaze.testing import FakeDevice

tools = FastMCP("acme")
left = []

@tools.tool
async def acme_pay(ctx: Context) -> str:
    tb = TrailblazeClient.from_context(ctx)
    await tb.tap(text="Pay")

    async def receipt() -> None:
        await tb.tap(text="Receipt")

    left.append(receipt)
    return "paid"

async def test(device):
    async with Client(tools) as client:
        meta = device.meta
        for _ in range(2):
            await client.call_tool("acme_pay", {}, meta=meta)
        try:
            await left[0]()
        except ApiError as error:
            print(error)
    try:
        SyncTrailblazeClient(context=meta["trailblaze"]).input_text("Ada")
    except ApiError as error:
        print(error)

with FakeDevice() as device:
    device.show("Pay", "Receipt")
    asyncio.run(test(device))
    try:
        device.calls
    except AssertionError as error:
        print(error)
    assert [call.args for call in device.calls] == [{"text": "Pay"}, {"text": "Pay"}]
    SyncTrailblazeClient(device.address).tap(text="Receipt")
    assert len(device.calls) == 3
"""


@pytest.mark.parametrize("part", ["python", "fastmcp2"])
def test_a_call_after_the_tool_has_ended_is_refused_and_fails_the_test(part: str, tmp_path: Path):
    script = tmp_path / "test_pay.py"
    script.write_text(LATE, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent / "src")}
    python = need(PARTS / part / "bin" / "python")
    ran = subprocess.run([python, script], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    first, second, mistakes = ran.stdout.splitlines()

    def words(method: str, code: str) -> str:
        line = next(number for number, line in enumerate(LATE.splitlines(), 1) if code in line)
        text = f"`acme_pay` called `{method}` after it had ended, so nothing was done (test_pay.py:{line})"
        return f"{text}; wait for everything that the tool starts before it returns"

    tap, typed = words("tap", 'tap(text="Receipt")'), words("input_text", "input_text(")
    assert (first, second) == (f"{tap} (not_found)", f"{typed} (not_found)")
    assert mistakes == f"{tap}; {typed}"
