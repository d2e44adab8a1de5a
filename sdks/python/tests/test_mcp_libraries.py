"""Inside real MCP servers: FastMCP and the official SDK, in every generation that is installed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from conftest import PARTS, need
from fake import FakeServer, refuse, respond

HERE = Path(__file__).parent

# The environment in `.parts`, and the server.
SERVERS = [
    ("python", "fastmcp_server.py"),
    ("python", "mcp_server.py"),
    ("python", "lowlevel2_server.py"),
    ("fastmcp2", "fastmcp_server.py"),
    ("fastmcp2", "mcp_server.py"),
    ("fastmcp2", "lowlevel1_server.py"),
]


class Mcp:
    """A client of a server on stdio, as small as can be."""

    def __init__(self, python: Path, server: Path, environment: dict[str, str], *args: str, stderr: int | None = None) -> None:
        paths = os.pathsep.join([str(HERE.parent / "src"), str(HERE / "servers")])
        self._process = subprocess.Popen(
            [python, server, *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, "PYTHONPATH": paths, **environment},
            text=True,
        )
        self._id = 0
        self.notifications: list[Any] = []
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}
        self.request("initialize", about)
        self._send({"method": "notifications/initialized"})

    def request(self, method: str, params: Any) -> Any:
        self._id += 1
        self._send({"id": self._id, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if message.get("id") == self._id and "method" not in message:
                if "error" in message:
                    return {"isError": True, "content": [{"text": message["error"]["message"]}]}
                return message["result"]
            self.notifications.append(message)
        raise AssertionError(f"the server has exited with {self._process.wait()}")

    def call(self, tool: str, arguments: dict[str, Any], meta: dict[str, Any]) -> Any:
        return self.request("tools/call", {"name": tool, "arguments": arguments, "_meta": meta})

    def printed(self, text: str) -> str:
        """The first line on stderr that contains a text. Waits for it."""
        assert self._process.stderr is not None
        return next(line for line in self._process.stderr if text in line)

    def terminate_during(self, tool: str) -> str:
        """Ends the server with SIGTERM once a tool says on stderr that it hangs. Returns what the server printed after that."""
        self._send({"id": self._id + 1, "method": "tools/call", "params": {"name": tool, "arguments": {}}})
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if "hanging" in line:
                break
        self._process.terminate()
        printed = self._process.stderr.read()
        self.close()
        return printed

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        if self._process.stderr is not None:
            self._process.stderr.close()

    def close_and_read(self) -> str:
        """Ends the server. Returns what it printed to stderr that has not been read."""
        assert self._process.stdin is not None and self._process.stderr is not None
        self._process.stdin.close()
        printed = self._process.stderr.read()
        self.close()
        return printed

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()


@pytest.fixture(scope="module", params=SERVERS, ids=[f"{part}-{name[:-3]}" for part, name in SERVERS])
def mcp(request: pytest.FixtureRequest) -> Iterator[Mcp]:
    part, name = request.param
    python = need(PARTS / part / "bin" / "python")
    mcp = Mcp(python, HERE / "servers" / name, {"TRAILBLAZE_BASE_URL": "http://127.0.0.1:9"})
    yield mcp
    mcp.close()


def meta(address: str, invocation: str = "c-1") -> dict[str, Any]:
    """What Trailblaze sends with a call."""
    device = {
        "id": "android/sim-1",
        "platform": "android",
        "widthPixels": 1080,
        "heightPixels": 2400,
        "driverType": "android-host",
    }
    about = {"baseUrl": address, "sessionId": "s-1", "invocationId": invocation, "device": device, "memory": {}}
    return {"trailblaze": about, "trailblazeInvocationId": invocation, "progressToken": 7}


@pytest.mark.parametrize("tool", ["acme_tap", "acme_tapBlocking"])
def test_a_tool_calls_back_as_its_own_invocation(mcp: Mcp, server: FakeServer, tool: str) -> None:
    for invocation in ("c-1", "c-2"):
        answer = mcp.call(tool, {}, meta(server.address, invocation))
        assert not answer.get("isError"), answer
        device = "id='android/sim-1', platform='android', driver='android-host', width=1080, height=2400"
        assert answer["content"][0]["text"] == f"Device({device})"
        assert server.last.path == "/trailblaze.v1.TrailblazeCommands/Tap"
        ids = {"deviceId": "android/sim-1", "sessionId": "s-1", "invocationId": invocation}
        assert server.last.json == {**ids, "x": 100, "y": 200}
        assert "authorization" not in server.last.headers
    assert server.connections == 1


HIGH_LEVEL = [(part, name) for part, name in SERVERS if not name.startswith("lowlevel")]


@pytest.mark.parametrize("mcp", HIGH_LEVEL, indirect=True, ids=[f"{part}-{name[:-3]}" for part, name in HIGH_LEVEL])
def test_a_tool_that_is_a_plain_function_needs_no_await(mcp: Mcp, server: FakeServer) -> None:
    answer = mcp.call("acme_tapPlain", {}, meta(server.address))
    assert not answer.get("isError"), answer
    assert server.last.path == "/trailblaze.v1.TrailblazeCommands/Tap"
    assert (server.last.json["x"], server.last.json["invocationId"]) == (100, "c-1")
    server.answer = lambda request, connection: respond({"success": False, "message": "nothing is there"})
    answer = mcp.call("acme_tapPlain", {}, meta(server.address))
    assert answer["isError"] and "nothing is there" in answer["content"][0]["text"], answer


@pytest.mark.parametrize("mcp", HIGH_LEVEL, indirect=True, ids=[f"{part}-{name[:-3]}" for part, name in HIGH_LEVEL])
def test_trailblaze_is_told_about_a_call_that_is_never_awaited(mcp: Mcp, server: FakeServer) -> None:
    server.answer = lambda request, connection: refuse("failed_precondition", "never awaited")
    mcp.call("acme_forgets", {}, meta(server.address))
    assert server.last.path == "/trailblaze.v1.TrailblazeCommands/InputText"
    assert re.fullmatch(r".*_server\.py:\d+", server.last.headers["trailblaze-never-awaited"])
    assert server.last.json == {"deviceId": "android/sim-1", "sessionId": "s-1", "invocationId": "c-1"}
    answer = mcp.call("acme_asks", {}, meta(server.address))
    assert answer["isError"] and "write `await tb.is_visible(…)`" in answer["content"][0]["text"], answer


def test_a_tool_that_another_client_calls_says_so(mcp: Mcp) -> None:
    answer = mcp.call("acme_tap", {}, {})
    assert answer["isError"] and "this request was not made by Trailblaze" in answer["content"][0]["text"]


def test_a_failure_that_a_tool_does_not_catch_is_its_result(mcp: Mcp, server: FakeServer) -> None:
    for answer, words in (
        (respond({"success": False, "message": "nothing has the text"}), "nothing has the text"),
        (respond({"success": False, "message": "no total", "variant": "AssertionFailed"}), "no total"),
        (refuse("deadline_exceeded", "too late"), "too late (deadline_exceeded)"),
        (refuse("not_found", "Unknown invocation ID: c-1."), "Unknown invocation ID: c-1. (not_found)"),
    ):
        server.answer = lambda request, connection, answer=answer: answer
        for tool in ("acme_tap", "acme_tapBlocking"):
            result = mcp.call(tool, {}, meta(server.address))
            assert result["isError"] and words in result["content"][0]["text"], result


def line_of(code: str, server: str = "fastmcp_server.py") -> str:
    """The line of a piece of code in a server, as messages show it."""
    path = HERE / "servers" / server
    lines = path.read_text(encoding="utf-8").splitlines()
    number = next(number for number, line in enumerate(lines, 1) if line.startswith(code) or line.strip().startswith(code))
    return f"{path.relative_to(Path.cwd())}:{number}"


@pytest.mark.parametrize("part", ["python", "fastmcp2"])
def test_fastmcp_tells_the_kind_and_the_line_of_a_failure_with_our_middleware(part: str, server: FakeServer) -> None:
    mcp = Mcp(need(PARTS / part / "bin" / "python"), HERE / "servers" / "fastmcp_server.py", {})
    try:
        for answer, words, variant in (
            (respond({"success": False, "message": "nothing there"}), "nothing there", "ExceptionThrown"),
            (respond({"success": False, "message": "no", "variant": "MissingRequiredArgs"}), "no", "ExceptionThrown"),
            (respond({"success": False, "message": "no total", "variant": "AssertionFailed"}), "no total", "AssertionFailed"),
            (respond({"success": False, "message": "no account", "variant": "FatalError"}), "no account", "FatalError"),
            (refuse("unimplemented", "no camera"), "no camera (unimplemented)", "Unsupported"),
            (refuse("deadline_exceeded", "too late"), "too late (deadline_exceeded)", "ExceptionThrown"),
        ):
            server.answer = lambda request, connection, answer=answer: answer
            for tool in ("acme_tap", "acme_tapBlocking"):
                result = mcp.call(tool, {}, meta(server.address))
                line = line_of("await tb.tap(100, 200)" if tool == "acme_tap" else "    tb.tap(100, 200)")
                assert result["isError"] and result["content"][0]["text"] == f"{words} ({line})", result
                assert result["_meta"]["trailblaze"] == {"variant": variant}
        line = line_of("raise AssertionFailed")
        for kind, words, variant in (
            ("own", "the total is wrong", "AssertionFailed"),
            ("other", "ValueError: other", "ExceptionThrown"),
        ):
            result = mcp.call("acme_raises", {"kind": kind}, {})
            assert result["content"][0]["text"] == f"{words} ({line})", result
            assert result["_meta"]["trailblaze"] == {"variant": variant}
        exited = mcp.call("acme_exits", {}, {})
        assert exited["isError"] and exited["content"][0]["text"] == f"SystemExit: 3 ({line_of('sys.exit(3)')})", exited
        wrong = mcp.call("acme_raises", {"kind": 1}, {})
        assert wrong["isError"] and "servers/" not in wrong["content"][0]["text"], wrong
    finally:
        mcp.close()


@pytest.mark.parametrize("part", ["python", "fastmcp2"])
def test_a_task_that_fails_and_is_not_awaited_fails_its_tool(part: str) -> None:
    mcp = Mcp(need(PARTS / part / "bin" / "python"), HERE / "servers" / "fastmcp_server.py", {})
    try:
        assert mcp.call("acme_task", {"kind": "awaited"}, {})["content"][0]["text"] == "caught"
        failed = mcp.call("acme_task", {"kind": "forgotten"}, {})
        words = "a task or thread that the tool started and did not wait for failed: ValueError: the task"
        line = line_of('raise ValueError("the task")')
        assert failed["isError"] and failed["content"][0]["text"] == f"{words} ({line})", failed
    finally:
        mcp.close()


@pytest.mark.parametrize("part", ["python", "fastmcp2"])
def test_what_a_tool_overlooks_fails_it(part: str, server: FakeServer) -> None:
    environment = {"TRAILBLAZE_BASE_URL": server.address}
    mcp = Mcp(need(PARTS / part / "bin" / "python"), HERE / "servers" / "fastmcp_server.py", environment, stderr=subprocess.PIPE)
    try:
        words = "`pay` was called without `await`, so nothing was done: write `await pay(…)`"
        lost = "a future that nothing awaited failed: ValueError: lost"
        no_elements = (
            "`capture_screen` was called without `await`, so it has no `elements`: "
            "write `(await tb.capture_screen(…)).elements`, or use SyncTrailblazeClient"
        )
        not_captured = (
            "`capture_screen` was called without `await`, so nothing was done: "
            "write `await tb.capture_screen(…)`, or use SyncTrailblazeClient"
        )
        path, _, line = line_of("async def overlooks(").rpartition(":")
        for kind, said, place in (
            ("coroutine", words, line_of("pay()  #")),
            ("kept coroutine", words, line_of("paid = pay()")),
            ("future", lost, line_of("asyncio.get_running_loop().create_future().set_exception")),
            # Not known after the function has returned. The line of the decorator.
            ("kept future", f"{lost} at the end", f"{path}:{int(line) - 1}"),
            ("attribute", no_elements, line_of("return str(tb.capture_screen().elements)")),
            ("caught attribute", not_captured, line_of("return str(getattr(tb.capture_screen()")),
        ):
            failed = mcp.call("acme_overlooks", {"kind": kind}, meta(server.address))
            assert failed["isError"] and failed["content"][0]["text"] == f"{said} ({place})", failed
        failed = mcp.call("acme_overlooksBlocking", {}, meta(server.address))
        assert failed["isError"] and failed["content"][0]["text"].startswith(f"{words} ("), failed
        assert mcp.call("acme_overlooks", {"kind": "nothing"}, meta(server.address))["content"][0]["text"] == "done"
        assert server.requests == []
    finally:
        printed = mcp.close_and_read()
    # Nothing of it is left to be printed during another call.
    assert "never awaited" not in printed and "without `await`" not in printed, printed


@pytest.mark.parametrize("part", ["python", "fastmcp2"])
@pytest.mark.parametrize("level", ["", "DEBUG"])
def test_fastmcp_does_not_print_the_traceback_of_a_failed_tool_unless_it_is_asked_to(part: str, level: str, server: FakeServer) -> None:
    environment = {"TRAILBLAZE_BASE_URL": server.address, **({"FASTMCP_LOG_LEVEL": level} if level else {})}
    mcp = Mcp(need(PARTS / part / "bin" / "python"), HERE / "servers" / "fastmcp_server.py", environment, stderr=subprocess.PIPE)
    try:
        failed = mcp.call("acme_warns", {}, meta(server.address))
        line = line_of('raise ValueError("the shop is closed")')
        assert failed["content"][0]["text"] == f"ValueError: the shop is closed ({line})", failed
        assert "the shop is slow" in json.dumps(mcp.notifications)
        # A warning of our own, about a task that is still running.
        assert mcp.call("acme_late", {"kind": "task"}, meta(server.address, "c-late"))["content"][0]["text"] == "done"
        assert "ended before a task" in json.dumps(mcp.notifications)
        # Otherwise the server would wait for the task when it ends.
        assert mcp.call("acme_release", {}, meta(server.address))["content"][0]["text"] == "released"
    finally:
        printed = mcp.close_and_read()
    if level:
        assert "Error calling tool" in printed, printed
    else:
        assert "a line of the log of the author\n" in printed, printed
        for noise in ("Error calling tool", "Sending WARNING", "The logging capability is deprecated"):
            assert noise not in printed, printed


@pytest.mark.parametrize("part", ["python", "fastmcp2"])
def test_what_a_tool_leaves_behind_fails_it_or_is_told_to_trailblaze(part: str, server: FakeServer) -> None:
    server.answer = lambda request, connection: refuse("not_found", "Unknown invocation ID: c-late.")
    mcp = Mcp(need(PARTS / part / "bin" / "python"), HERE / "servers" / "fastmcp_server.py", {}, stderr=subprocess.PIPE)
    try:
        for kind in ("thread", "callback"):
            failed = mcp.call("acme_leaves", {"kind": kind}, meta(server.address))
            line = line_of(f'raise ValueError("in the {kind}")')
            words = "a task or thread that the tool started and did not wait for failed: ValueError"
            assert failed["isError"] and failed["content"][0]["text"] == f"{words}: in the {kind} ({line})", failed
        for kind in ("late thread", "late task"):
            n_before = len(server.requests)
            answer = mcp.call("acme_leaves", {"kind": kind}, meta(server.address, "c-late"))
            assert answer["content"][0]["text"] == "done", answer
            assert mcp.call("acme_release", {}, meta(server.address))["content"][0]["text"] == "released"
            line = line_of(f'raise ValueError("in the {kind}")')
            words = "something failed after `acme_leaves` had ended, which had started it: ValueError"
            text = f"{words}: in the {kind} ({line})"
            assert mcp.printed(words).startswith(text)
            while len(server.requests) == n_before:
                time.sleep(0.01)
            assert unquote(server.last.headers["trailblaze-failed"]) == text
            assert server.last.json["invocationId"] == "c-late"
    finally:
        mcp.close()


@pytest.mark.parametrize("part", ["python", "fastmcp2"])
def test_a_call_after_the_tool_has_ended_is_refused_and_trailblaze_is_told_where(part: str, server: FakeServer) -> None:
    server.answer = lambda request, connection: refuse("not_found", "Unknown invocation ID: c-late.")
    mcp = Mcp(need(PARTS / part / "bin" / "python"), HERE / "servers" / "fastmcp_server.py", {}, stderr=subprocess.PIPE)
    try:
        for kind, method, code, begins in (
            ("thread", "input_text", 'blocking.input_text("in the thread")', "def call() -> None:"),
            ("task", "tap", "await tb.tap(1, 2)", "async def await_call() -> None:"),
        ):
            mcp.notifications.clear()
            assert mcp.call("acme_late", {"kind": kind}, meta(server.address, "c-late"))["content"][0]["text"] == "done"
            warned = [item["params"] for item in mcp.notifications if item["method"] == "notifications/message"]
            words = f"`acme_late` ended before a {kind} that it had started ({line_of(begins)}); wait for it"
            # With several calls in progress, the token says which of them a message belongs to.
            named = [(item["level"], item["_meta"]["progressToken"]) for item in warned]
            assert named == [("warning", 7)] and words in json.dumps(warned), warned
            assert warned[0]["_meta"]["trailblazeDoubt"] is True, warned
            n_before = len(server.requests)
            assert mcp.call("acme_release", {}, meta(server.address))["content"][0]["text"] == "released"
            place = line_of(code)
            late = f"the author caught: `acme_late` called `{method}` after it had ended, so nothing was done ({place})"
            assert mcp.printed("the author caught").startswith(late)
            assert len(server.requests) == n_before + 1
            assert server.last.headers["trailblaze-called-at"] == place
            assert server.last.json["invocationId"] == "c-late"
    finally:
        mcp.close()


@pytest.mark.parametrize("part", ["python", "fastmcp2"])
def test_a_result_that_json_does_not_have_fails_the_tool(part: str) -> None:
    mcp = Mcp(need(PARTS / part / "bin" / "python"), HERE / "servers" / "fastmcp_server.py", {})
    try:
        for tool, arguments, function in (
            ("acme_returns", {}, "async def returns()"),
            ("acme_returnsAny", {"kind": "nested"}, "def returns_any"),
        ):
            path, _, line = line_of(function).rpartition(":")
            words = f"`{tool}` returned an object of the type `object`, which JSON does not have"
            # The line of the decorator.
            failed = f"{words} ({path}:{int(line) - 1})\nhint: a tool returns a text, "
            refused = mcp.call(tool, arguments, {})
            assert refused["isError"] and refused["content"][0]["text"].startswith(failed), refused
        path, _, line = line_of("async def returns_cycle()").rpartition(":")
        failed = f"`acme_returnsCycle` returned a value that contains itself at `orders.0`, which JSON does not have ({path}:{int(line) - 1})"
        refused = mcp.call("acme_returnsCycle", {}, {})
        assert refused["isError"] and refused["content"][0]["text"].startswith(failed), refused
        assert mcp.call("acme_returnsAny", {"kind": "order"}, {})["content"][0]["text"] == '{"number":7}'
        for kind, lost in (
            ("set", "a set, which JSON does not have and whose order changes; return `sorted(…)`"),
            ("nan", "nan, which JSON does not have"),
            ("infinite", "inf at `sizes.0`, which JSON does not have"),
            ("cycle", "a value that contains itself at `self`, which JSON does not have"),
        ):
            refused = mcp.call("acme_returnsAny", {"kind": kind}, {})
            path, _, line = line_of("def returns_any").rpartition(":")
            failed = f"`acme_returnsAny` returned {lost} ({path}:{int(line) - 1})\nhint: "
            assert refused["isError"] and refused["content"][0]["text"].startswith(failed), refused
        for kind, words, code in (
            ("nan", "`acme_result` returned nan at `sizes.1`, which JSON does not have", "return ToolResult(content=\"made\", structured"),
            ("memory", "`acme_result` returned inf at `trailblaze.memoryDelta.total`, which JSON does not have", 'return ToolResult(content="made", meta={"trailblaze": {"memoryDelta": {"total"'),
            ("misspelled", "the result of `acme_result` is malformed: unknown key `memorydelta` in `_meta.trailblaze`; did you mean `memoryDelta`?", 'return ToolResult(content="made", meta={"trailblaze": {"memorydelta"'),
            ("misplaced", "the result of `acme_result` is malformed: `memoryDelta` has no effect there; put it into `_meta.trailblaze`", 'return ToolResult(content="made", meta={"memoryDelta"'),
            ("reserved", "ValueError: `target.appId` cannot be changed in memory: names that begin with `target.` are set by Trailblaze", 'return ToolResult(content="made", meta={"trailblaze": {"memoryDelta": {"target'),
            ("helper", "ValueError: `args.x` cannot be changed in memory: names that begin with `args.` are set by Trailblaze", 'return result.success("made", remember'),
            ("set", "`acme_result` returned a set at `when`, which JSON does not have", 'return result.success("made", {"when"'),
        ):  # fmt: skip
            refused = mcp.call("acme_result", {"kind": kind}, {})
            text = refused["content"][0]["text"]
            assert refused["isError"] and text.startswith(words) and f"({line_of(code)})" in text, refused
        assert not mcp.call("acme_returnsAny", {"kind": "none"}, {}).get("isError")
    finally:
        mcp.close()


# FastMCP 2 lists one of two mounted tools, and says nothing.
@pytest.mark.parametrize(("part", "kind"), [("python", "overwritten"), ("python", "mounted"), ("fastmcp2", "overwritten")])
def test_two_tools_with_one_name_are_an_error(part: str, kind: str) -> None:
    server = "duplicates_server.py"
    mcp = Mcp(need(PARTS / part / "bin" / "python"), HERE / "servers" / server, {}, kind)
    try:
        first, second = (line_of(code, server) for code in ("def pay_once", "def pay_twice"))
        # The line of the decorator.
        first, second = (f"{path}:{int(line) - 1}" for path, line in (place.split(":") for place in (first, second)))
        words = {
            "overwritten": f"two tools are named `acme_pay` ({first} and {second}); rename one of them",
            "mounted": f"two mounted servers have a tool named `acme_pay` ({line_of('@mounted.tool', server)}); rename one of them",
        }
        refused = mcp.request("tools/list", {})
        assert refused.get("isError") and words[kind] in refused["content"][0]["text"], refused
    finally:
        mcp.close()


@pytest.mark.parametrize("part", ["python", "fastmcp2"])
def test_a_mounted_tool_is_listed_with_its_place(part: str) -> None:
    server = "duplicates_server.py"
    environment = {"TRAILBLAZE_BASE_URL": "http://127.0.0.1:9"}
    mcp = Mcp(need(PARTS / part / "bin" / "python"), HERE / "servers" / server, environment, "alone")
    try:
        listed = mcp.request("tools/list", {})["tools"]
        assert [tool["_meta"]["trailblaze/definedAt"] for tool in listed] == [line_of("@mounted.tool", server)]
    finally:
        mcp.close()


@pytest.mark.parametrize("part", ["python", "fastmcp2"])
def test_a_server_that_hangs_prints_where_when_it_is_stopped(part: str) -> None:
    server = HERE / "servers" / "fastmcp_server.py"
    environment = {"TRAILBLAZE_BASE_URL": "http://127.0.0.1:9"}
    mcp = Mcp(need(PARTS / part / "bin" / "python"), server, environment, stderr=subprocess.PIPE)
    printed = mcp.terminate_during("acme_hangs")
    path, _, line = line_of("while True:").rpartition(":")
    # It may be interrupted in the line before, or in the one after.
    places = [f"stopped while it was at {path}:{int(line) + n}" for n in (-1, 0, 1)]
    assert printed.splitlines()[-1] in places, printed


@pytest.mark.parametrize("part", ["python", "fastmcp2"])
def test_print_does_not_reach_the_protocol_with_our_middleware(part: str, server: FakeServer) -> None:
    environment = {"TRAILBLAZE_BASE_URL": server.address}
    mcp = Mcp(need(PARTS / part / "bin" / "python"), HERE / "servers" / "fastmcp_server.py", environment)
    try:
        # A line on stdout that is no message would not be JSON.
        assert mcp.call("acme_prints", {}, {})["content"][0]["text"] == "quiet"
    finally:
        mcp.close()


@pytest.mark.parametrize(
    ("kind", "text", "structured", "about"),
    [
        ("success", "paid", {"total": 4}, {"variant": "Success", "memoryDelta": {"total": 4}, "memoryDeletions": ["cart"]}),  # fmt: skip
        ("empty", None, None, {"variant": "Success"}),
        ("error", "no network", None, {"variant": "ExceptionThrown"}),
        ("fatal", "no account", None, {"variant": "FatalError"}),
        ("assertion", "the total is wrong", None, {"variant": "AssertionFailed"}),
        ("unsupported", "no camera", None, {"variant": "Unsupported"}),
        ("missing", "missing required arguments: `email`, `pin`", None, {"variant": "MissingRequiredArgs", "missing": ["email", "pin"]}),  # fmt: skip
        (
            "delegates",
            "delegated to `tap`, `pressBack`",
            {"_trailblaze_delegates": [{"tool": "tap", "args": {"text": "Pay"}}, {"tool": "pressBack", "args": {}}]},
            {"variant": "Success"},
        ),
    ],
)
def test_results_arrive_as_they_were_made(
    mcp: Mcp, kind: str, text: str | None, structured: Any, about: dict[str, Any]
) -> None:
    answer = mcp.call("acme_answer", {"kind": kind}, {})
    texts = [block["text"] for block in answer["content"]]
    assert texts == ([text] if text else [])
    assert answer.get("isError", False) == (about["variant"] != "Success")
    assert answer.get("structuredContent") == structured
    assert answer["_meta"]["trailblaze"] == about


def test_progress_is_reported(mcp: Mcp) -> None:
    mcp.notifications.clear()
    assert mcp.call("acme_progress", {}, {"progressToken": 7})["content"][0]["text"] == "done"
    [reported] = [item["params"] for item in mcp.notifications if item["method"] == "notifications/progress"]
    assert (reported["progressToken"], reported["progress"], reported["total"]) == (7, 1, 2)
    assert reported["message"] == "half"
    # Nobody wants to know.
    assert mcp.call("acme_progress", {}, {})["content"][0]["text"] == "done"


def test_the_registry_is_a_resource(mcp: Mcp) -> None:
    [content] = mcp.request("resources/read", {"uri": "trailblaze://registry"})["contents"]
    assert json.loads(content["text"]) == {
        "tools": {
            "acme_tap": {"platforms": ["android", "ios"], "groups": ["auth"]},
            "acme_answer": {"exposedToLlm": False, "isDelegating": True},
        },
        "groups": {"auth": {"description": "Signing in.", "defaultEnabled": True}},
        "serverInfo": {"name": "acme", "version": "1.0.0"},
    }
