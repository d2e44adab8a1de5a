"""Unit tests of tools without Trailblaze and without a device.

    from trailblaze.testing import FakeDevice

    with FakeDevice() as device:
        device.show("Email", "Sign in")
        async with Client(tools) as client:
            await client.call_tool("acme_signIn", {"email": "ada"}, meta=device.meta)
        assert [call.tool for call in device.calls] == ["tap", "inputText", "tap"]
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from typing import Any
from urllib.parse import unquote

from ._generated.built_in_tools import BUILT_IN_TOOLS
from ._generated.types import Element
from ._late import CALLED_AT, begin, end, ended_tool, late_text
from ._late_failures import FAILED
from ._late_failures import listeners as overlooked_listeners
from ._pending_call import NEVER_AWAITED, mistake
from ._place import explain, place_of_frame
from ._returned import flaw, refuse_unsendable
from ._tasks import listeners, unseen_failures, watch_loop
from ._unawaited import watch_coroutines

__all__ = ["FakeCall", "FakeDevice"]

_WIDTH, _HEIGHT, _ROW = 1080, 2400, 100
_IDS = ("deviceId", "sessionId", "invocationId")
_WANTED = ("text", "id", "ref")


@dataclass(frozen=True)
class FakeCall:
    """A call of a tool."""

    tool: str
    """Its name, such as `tap`."""
    args: dict[str, Any]
    """The arguments that were given."""


class FakeDevice:
    """A device that shows what a test tells it, and keeps the calls that it got.

    As on a device, an action on an element that is not shown raises `ActionFailed`, an assertion about one raises
    `AssertionFailed`, and a query returns what it found. A call by name of a built-in tool whose arguments a device would
    refuse is refused. Nothing waits: a timeout is over at once. Close it, or use it in a `with` statement; if a tool made a
    call and did not await it, which fails the tool under Trailblaze, that raises `AssertionError`, and so does `calls`. The same
    goes for a coroutine of your own that nothing awaited, for a task or future that failed and that nothing awaited, for a result of FastMCP whose `_meta` Trailblaze would refuse, and for
    what a tool that FastMCP's client called does after it has ended, which is refused.
    """

    def __init__(self, platform: str = "android", *, memory: dict[str, Any] | None = None) -> None:
        """Creates a device with an empty screen.

        Args:
            platform: android, ios, web or desktop.
            memory: What is remembered at the start.
        """
        self.platform = platform
        self.memory: dict[str, Any] = dict(memory or {})
        """What is remembered. Calls of `remember` and `forget` change it."""
        self._lock = threading.RLock()
        self._calls: list[FakeCall] = []
        self._elements: list[dict[str, Any]] = []
        self._reactions: dict[str, Callable[[FakeCall], Any]] = {}
        self._mistakes: list[str] = []
        self._tasks: list[asyncio.Future[Any]] = []
        self._n_calls = 0
        device = self
        listeners.append(self._tasks.append)
        overlooked_listeners.append(self._failed_late)
        watch_coroutines()
        _check_results(self)

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                params = json.loads(self.rfile.read(int(self.headers["content-length"])) or b"{}")
                never_awaited = self.headers.get(NEVER_AWAITED)
                if never_awaited is not None:
                    device._never_awaited(self.path, None if never_awaited == "1" else never_awaited)
                    status, message = 200, _DONE
                elif FAILED in self.headers:
                    device._failed_late(unquote(self.headers[FAILED]))
                    status, message = 404, {"code": "not_found", "message": "the tool call has ended"}
                elif device._is_late(self.path, params.get("invocationId"), self.headers.get(CALLED_AT)):
                    status, message = 404, {"code": "not_found", "message": "the tool call has ended"}
                else:
                    status, message = device._answer(self.path.rsplit("/", 1)[-1], params)
                body = json.dumps(message).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def address(self) -> str:
        """Where it listens, for a client without a context: `SyncTrailblazeClient(device.address)`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def meta(self) -> dict[str, Any]:
        """The `_meta` of a call for this device, as Trailblaze sends it."""
        about = {
            "id": f"{self.platform}/fake",
            "platform": self.platform,
            "driverType": "fake",
            "widthPixels": _WIDTH,
            "heightPixels": _HEIGHT,
        }
        watch_loop()
        self._n_calls += 1
        invocation = f"c-fake-{self._n_calls}"
        context = {
            "baseUrl": self.address,
            "sessionId": "s-fake",
            "invocationId": invocation,
            "device": about,
            "memory": dict(self.memory),
            "capabilities": {"sampling": "askModel" in self._reactions},
        }
        return {"trailblaze": context, "trailblazeInvocationId": invocation}

    @property
    def calls(self) -> list[FakeCall]:
        """The calls so far."""
        self._raise_mistakes()
        with self._lock:
            return list(self._calls)

    @property
    def typed(self) -> list[str]:
        """The texts of the calls of `inputText` so far."""
        return [call.args.get("text", "") for call in self.calls if call.tool == "inputText"]

    def show(self, *elements: str | Element) -> None:
        """Shows these elements, or elements with these texts, from top to bottom, and nothing else."""
        rows = [self._row(number, element) for number, element in enumerate(elements)]
        with self._lock:
            self._elements = rows

    def on(self, tool: str, react: Callable[[FakeCall], Any]) -> None:
        """Decides what happens when a tool is called, such as `tap`, or a tool of your own for `call_tool`.

        Args:
            tool: The name of the tool.
            react: Runs before the tool's own effect. What it returns is the tool's value, unless that is None; what it raises
                fails the tool.
        """
        with self._lock:
            self._reactions[tool] = react

    def close(self) -> None:
        """Stops listening."""
        self._stop()
        self._raise_mistakes()

    def __enter__(self) -> FakeDevice:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop()
        # What the test itself raised says more.
        if exception[:1] == (None,):
            self._raise_mistakes()

    def _stop(self) -> None:
        if self in _open:
            _open.remove(self)
            listeners.remove(self._tasks.append)
            overlooked_listeners.remove(self._failed_late)
        self._server.shutdown()
        self._server.server_close()

    def _returned(self, meta: Any) -> None:
        problem = flaw(meta)
        if problem is not None:
            place = place_of_frame(sys._getframe(1))  # pyright: ignore[reportPrivateUsage]
            where = "" if place is None else f" ({place})"
            with self._lock:
                self._mistakes.append(f"the result of a tool is malformed: {problem}{where}")

    def _never_awaited(self, path: str, place: str | None) -> None:
        with self._lock:
            self._mistakes.append(mistake(path, place))

    def _failed_late(self, text: str) -> None:
        with self._lock:
            self._mistakes.append(text)

    def _is_late(self, path: str, invocation: str | None, place: str | None) -> bool:
        tool = ended_tool(invocation)
        if tool is None and place is None:
            return False
        with self._lock:
            self._mistakes.append(late_text(tool, path, place))
        return True

    def _raise_mistakes(self) -> None:
        for error in unseen_failures(self._tasks):
            said = explain(error, f"{type(error).__name__}: {error}")
            # Libraries see to their own.
            if said is not None:
                self._mistakes.append(f"a task that was not awaited failed: {said}")
        with self._lock:
            # Each is raised once.
            mistakes, self._mistakes = self._mistakes, []
        if mistakes:
            raise AssertionError("; ".join(mistakes))

    @staticmethod
    def _row(number: int, element: str | Element) -> dict[str, Any]:
        bounds = {"left": 0, "top": number * _ROW, "right": _WIDTH, "bottom": (number + 1) * _ROW}
        if isinstance(element, str):
            return {"role": "text", "text": element, "enabled": True, "bounds": bounds}
        return _json_of(element)

    def _answer(self, method: str, params: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        tool = method[:1].lower() + method[1:]
        args = {name: value for name, value in params.items() if name not in _IDS}
        if tool == "callTool":
            inner: dict[str, Any] = args.get("args") or {}
            name = str(args.get("name"))
            with self._lock:
                is_known = name in self._reactions or name in _COMMANDS
            if not is_known:
                text = f'unknown tool `{name}`; a test says with `device.on("{name}", ...)` what it does'
                return 200, _failed(text)
            invalid = _invalid(name, inner)
            if invalid:
                return 400, {"code": "invalid_argument", "message": f"`{name}`: {invalid}"}
            return 200, self._called(name, inner, is_by_name=True)
        if tool == "askModel" and "askModel" not in self._reactions:
            text = 'no model; a test says with `device.on("askModel", ...)` what it replies'
            return 400, {"code": "failed_precondition", "message": text}
        invalid = _invalid(tool, args)
        if invalid:
            return 400, {"code": "invalid_argument", "message": f"`{tool}`: {invalid}"}
        return 200, self._called(tool, args)

    def _called(self, tool: str, args: dict[str, Any], *, is_by_name: bool = False) -> dict[str, Any]:
        call = FakeCall(tool, args)
        with self._lock:
            # The elements before the test reacts: a tap on what was shown succeeds, even if it leads to another screen.
            shown = list(self._elements)
            self._calls.append(call)
            react = self._reactions.get(tool)
        try:
            value = react(call) if react else None
        except Exception as error:
            return _failed(str(error) or type(error).__name__)
        if is_by_name and tool not in _COMMANDS:
            text = value if isinstance(value, str) else None
            return {"success": True, "message": text or "done", "structured": value}
        return self._effect(call, value, shown)

    def _effect(self, call: FakeCall, value: Any, shown: list[dict[str, Any]]) -> dict[str, Any]:
        tool, args = call.tool, call.args
        with self._lock:
            now = list(self._elements)
        if tool == "tap":
            is_found = not any(name in args for name in _WANTED) or _find(shown, args)
            return _DONE if is_found else _failed(_missing(args, now))
        if tool in ("assertVisible", "waitUntilVisible"):
            is_shown = value if isinstance(value, bool) else bool(_find(shown, args) or _find(now, args))
            return _DONE if is_shown else _failed(_missing(args, now), "AssertionFailed")
        if tool == "remember":
            self.memory[args["variable"]] = args.get("value")
            return _DONE
        if tool == "forget":
            self.memory.pop(args["variable"], None)
            return _DONE
        if tool == "captureScreen":
            root = {"role": "screen", "enabled": True, "children": now}
            return {"platform": self.platform, "width": _WIDTH, "height": _HEIGHT, "root": root}
        if tool == "askModel":
            return {"text": str(value), "model": "fake"}
        queries: dict[str, Callable[[], Any]] = {
            "isVisible": lambda: bool(_find(now, args)),
            "hasText": lambda: any(args.get("text", "") in (element.get("text") or "") for element in _walk(now)),
            "getElementText": lambda: next((element.get("text") for element in _find(now, args)), None),
            "getElementCount": lambda: len(_find(now, args)),
            "dumpMemory": lambda: dict(self.memory),
        }
        if tool in queries:
            found = queries[tool]() if value is None else value
            return {} if found is None else {"value": found}
        return {**_DONE, **value} if isinstance(value, dict) else {**_DONE, "value": value}


_open: list[FakeDevice] = []
"""The devices that have not been closed."""


def _check_results(device: FakeDevice) -> None:
    """Checks the results of FastMCP's tools while a device is open, as Trailblaze does, and notes when their calls end."""
    _open.append(device)
    if "fastmcp" not in sys.modules:
        return
    refuse_unsendable()
    tools: Any = import_module("fastmcp.tools")
    # FastMCP 2 has it in another module.
    tool_result: Any = getattr(tools, "ToolResult", None) or import_module("fastmcp.tools.tool").ToolResult
    former: Any = tool_result.__init__
    if getattr(former, "is_of_trailblaze", False):
        return

    def init(self: Any, *args: Any, **options: Any) -> None:
        former(self, *args, **options)
        for device in _open:
            device._returned(self.meta)  # pyright: ignore[reportPrivateUsage]

    init.is_of_trailblaze = True  # pyright: ignore[reportFunctionMemberAccess]
    tool_result.__init__ = init
    _note_ends(import_module("fastmcp").Client)


def _note_ends(client: Any) -> None:
    call: Any = client.call_tool

    async def call_tool(self: Any, name: str, *args: Any, **options: Any) -> Any:
        meta: Any = options.get("meta") or {}
        # A task goes on when the client has returned.
        invocation = None if options.get("task") else meta.get("trailblazeInvocationId")
        begin(invocation)
        try:
            return await call(self, name, *args, **options)
        finally:
            end(invocation, name)

    client.call_tool = call_tool


_COMMANDS = {"tap", "inputText", "launchApp", "clearAppData", "assertVisible", "waitUntilVisible", "remember", "forget"}
_DONE: dict[str, Any] = {"success": True, "message": "done"}
_BUILT_IN = {
    tool: {name.removesuffix("!"): (name.endswith("!"), accepted) for name, _, accepted in (arg.partition(":") for arg in args)}
    for tool, *args in (line.split() for line in BUILT_IN_TOOLS.strip().splitlines())
}
"""The arguments of each built-in tool, whether they are required, and what they accept: a type, or words such as `UP|DOWN`."""

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
}


def _invalid(tool: str, args: dict[str, Any]) -> str:
    """What is wrong with the arguments of a built-in tool, in the words of Trailblaze. Empty for other tools."""
    parameters = _BUILT_IN.get(tool)
    if parameters is None:
        return ""
    is_missing = [name for name, (is_required, _) in parameters.items() if is_required and args.get(name) is None]
    problems = [f"missing argument `{name}`" for name in is_missing]
    for name in (name for name in args if name not in parameters):
        near = get_close_matches(name, parameters, 1)
        known = f"expected one of: {', '.join(parameters)}" if parameters else "none are accepted"
        problems.append(f"unknown argument `{name}`; {f'did you mean `{near[0]}`?' if near else known}")
    given = [(name, args[name], parameters[name][1]) for name in parameters if args.get(name) is not None]
    problems += [f"`{name}`: {json.dumps(value)} {problem}" for name, value, kind in given if (problem := _mismatch(value, kind))]
    return "; ".join(problems)


def _mismatch(value: Any, accepted: str) -> str:
    """Why a value is not what an argument accepts. Empty if it is."""
    if accepted in _TYPES:
        # To Python, True is an integer.
        is_of_type = isinstance(value, _TYPES[accepted]) and (accepted == "boolean" or not isinstance(value, bool))
        is_whole = accepted == "integer" and isinstance(value, float) and value.is_integer()
        return "" if is_of_type or is_whole else f'is not of type "{accepted}"'
    words = accepted.split("|") if accepted else []
    is_word = isinstance(value, str) and value.lower() in map(str.lower, words)
    return "" if is_word or not words else f"is not one of {', '.join(map(json.dumps, words))}"


def _failed(message: str, variant: str = "ExceptionThrown") -> dict[str, Any]:
    return {"success": False, "message": message, "variant": variant}


def _walk(elements: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for element in elements:
        found += [element, *_walk(element.get("children", []))]
    return found


def _find(elements: list[dict[str, Any]], args: dict[str, Any]) -> list[dict[str, Any]]:
    text, id_, ref, expected = (args.get(name) for name in ("text", "id", "ref", "expectedText"))
    found = [
        element
        for element in _walk(elements)
        if (text is None or text in (element.get("text"), element.get("label")))
        and (id_ is None or element.get("id") == id_)
        and (ref is None or element.get("ref") == ref)
        and (expected is None or element.get("text") == expected)
    ]
    return found[args.get("index") or 0 :]


def _missing(args: dict[str, Any], shown: list[dict[str, Any]]) -> str:
    wanted = ", ".join(f"{name} `{value}`" for name, value in args.items() if name in (*_WANTED, "index", "expectedText"))
    texts = ", ".join(f"`{element['text']}`" for element in _walk(shown) if element.get("text")) or "nothing"
    return f"no element with {wanted} is visible; the fake device shows {texts}"


def _json_of(element: Element) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "ref": element.ref,
        "role": element.role,
        "text": element.text,
        "label": element.label,
        "id": element.id,
        "enabled": element.enabled,
        "checked": element.checked,
        "selected": element.selected,
        "focused": element.focused,
        "children": [_json_of(child) for child in element.children],
    }
    if element.bounds is not None:
        sides = ("left", "top", "right", "bottom")
        fields["bounds"] = {side: getattr(element.bounds, side) for side in sides}
    return {name: value for name, value in fields.items() if value is not None}
