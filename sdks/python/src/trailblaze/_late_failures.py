"""What a tool starts and does not wait for: tasks, threads, timers and callbacks. What fails while the tool runs fails it; Trailblaze is
told of what fails later, because the trail would pass although the tool has not done its work.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from contextvars import ContextVar

from ._place import explain, place_of_frame, place_of_raised, tool_of_frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

FAILED = "Trailblaze-Failed"
"""The header of a call that says what has failed that a tool had started. Trailblaze refuses the call itself."""

_PATH = "/trailblaze.v1.TrailblazeSession/GetSession"
_REPORT_TIMEOUT = 10.0
_LONGEST_TEXT = 2_000


class ToolCall:
    """A call of a tool, in progress or ended."""

    def __init__(self, tool: str, about: Mapping[str, Any] | None) -> None:
        self.tool = tool
        self.failures: list[BaseException] = []
        """What has failed while the tool ran."""
        self.mistakes: list[tuple[str, str | None]] = []
        """What the tool has overlooked while it ran, and where, if that is known."""
        self.has_ended = False
        self._about = about

    def failed(self, error: BaseException) -> None:
        """Something has failed that the tool started, and that nothing waits for."""
        said = explain(error, f"{type(error).__name__}: {error}".removesuffix(": "))
        # Libraries see to their own.
        if said is None:
            return
        if not self.has_ended:
            self.failures.append(error)
            return
        self._tell(f"something failed after `{self.tool}` had ended, which had started it: {said}")

    def mistaken(self, text: str, place: str | None) -> None:
        """The tool has overlooked something."""
        if self.has_ended:
            self._tell(f"something failed after `{self.tool}` had ended, which had started it: {at(text, place)}")
        else:
            self.mistakes.append((text, place))

    def _tell(self, text: str) -> None:
        """Tells people and Trailblaze of something that went wrong after the call."""
        print(text, file=sys.stderr, flush=True)
        if self._about is None:
            return
        try:
            _report(self._about, text)
        except Exception as problem:
            print(f"Trailblaze could not be told about that: {problem}", file=sys.stderr)

    def watch(self, task: asyncio.Future[Any]) -> None:
        """Reports a task that fails after the call, unless something waits for it."""

        def done(task: asyncio.Future[Any]) -> None:
            if self.has_ended and not task.cancelled():
                # What waits for the task is told first.
                task.get_loop().call_soon(self._check, task)

        task.add_done_callback(done)

    def _check(self, task: asyncio.Future[Any]) -> None:
        # True until something asks for the exception.
        if getattr(task, "_log_traceback", False):
            error = task.exception()
            if error is not None:
                self.failed(error)


current: ContextVar[ToolCall | None] = ContextVar("trailblaze_tool_call", default=None)
"""The call that the code belongs to."""

listeners: list[Callable[[str], None]] = []
"""Are told what code has overlooked that belongs to no call: that of a test, or of a server without our middleware."""


def overlooked(text: str, place: str | None) -> bool:
    """The code that runs has overlooked something, such as a coroutine that it did not await. Whether somebody has been told."""
    call = current.get()
    if call is not None:
        call.mistaken(text, place)
        return True
    for listen in listeners:
        listen(at(text, place))
    return bool(listeners)


def at(text: str, place: str | None) -> str:
    return text if place is None else f"{text} ({place})"

_CALL = "_trailblaze_tool_call"


def watch_threads() -> None:
    """Follows the threads that the code of tools starts."""
    former: Any = threading.Thread.start
    if getattr(former, "is_of_trailblaze", False):
        return

    def start(self: threading.Thread) -> None:
        setattr(self, _CALL, current.get())
        former(self)

    start.is_of_trailblaze = True  # pyright: ignore[reportFunctionMemberAccess]
    threading.Thread.start = start
    print_traceback = threading.excepthook

    def raised(args: threading.ExceptHookArgs) -> None:
        print_traceback(args)
        call: ToolCall | None = getattr(args.thread, _CALL, None)
        if call is not None and args.exc_value is not None and not isinstance(args.exc_value, SystemExit):
            call.failed(args.exc_value)

    threading.excepthook = raised


def watch_callbacks(loop: asyncio.AbstractEventLoop) -> None:
    """Follows the callbacks that the code of tools gives to an event loop, such as those of `call_later`."""
    if loop.get_exception_handler() is not None:
        return

    def handle(loop: asyncio.AbstractEventLoop, about: dict[str, Any]) -> None:
        future = about.get("future")
        if future is not None and not isinstance(future, asyncio.Task) and _note_unread(future, about.get("exception")):
            return
        loop.default_exception_handler(about)
        context: Any = getattr(about.get("handle"), "_context", None)
        call: ToolCall | None = None if context is None else context.get(current)
        error = about.get("exception")
        if call is not None and isinstance(error, BaseException):
            call.failed(error)

    loop.set_exception_handler(handle)


def _note_unread(future: asyncio.Future[Any], error: BaseException | None) -> bool:
    """Notes that nothing has asked for the exception of a future. Whether it is a mistake of a tool or of its test."""
    if error is None:
        return False
    place = place_of_raised(error)
    # Libraries see to what their own code raised.
    if place is None and error.__traceback__ is not None:
        return False
    # The line that dropped it; that is not known if it was dropped because its function returned.
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    place = place or place_of_frame(frame) or tool_of_frame(frame)
    said = f"{type(error).__name__}: {error}".removesuffix(": ")
    return overlooked(f"a future that nothing awaited failed: {said}", place)


def _report(about: Mapping[str, Any], text: str) -> None:
    """Blocks: the event loop may be about to end."""
    from time import monotonic
    from urllib.parse import quote

    from ._blocking_calls import connect, exchange
    from ._target import BASE_URL, Target
    from ._wire import body_of

    if not about.get("baseUrl") and not os.environ.get(BASE_URL):
        return
    target = Target(
        None, invocation_id=None, key=None, session_id=None, device_id=None, platform=None, context=about, timeout=None
    )
    if "invocationId" not in target.ids:
        return
    body = body_of(target.ids, {})
    head = target.head(_PATH, "application/json", _REPORT_TIMEOUT, f"{FAILED}: {quote(text[:_LONGEST_TEXT])}\r\n")
    deadline = monotonic() + _REPORT_TIMEOUT
    exchange(connect(target, deadline), f"{head}{len(body)}\r\n\r\n".encode("ascii") + body, deadline, [])
