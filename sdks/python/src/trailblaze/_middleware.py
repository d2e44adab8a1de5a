"""Middleware for servers that are written with FastMCP."""

from __future__ import annotations

import asyncio
import os
import sys
from importlib import import_module

from . import result
from ._context import context_of, progress_token_of
from ._duplicates import duplicates
from ._late import begin, end
from ._late_failures import ToolCall, at
from ._log_messages import is_doubt, name_calls, progress_token
from ._place import explain, is_of_author, place_of_frame, place_of_own_code, place_of_raised
from ._quiet import quieten
from ._returned import MAY_RETURN, Malformed, Unsendable, function_of, refuse_unsendable
from ._target import BASE_URL
from ._tasks import WatchedTasks
from .errors import TrailblazeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def failure_middleware() -> Any:
    """Middleware of FastMCP 2 to 4 for tools that fail.

        server = FastMCP("acme", middleware=[failure_middleware()])

    The message of an exception that a tool does not catch names the file and line of the tool's code, and a failed assertion is
    recorded as such; see `result.failure`. So does the exception of a task, thread or callback that the tool started and did not wait
    for, if it failed before the tool returned; if it fails later, Trailblaze is told, and the trail fails. A task or thread that is still
    running when the tool returns is a warning, and what it calls afterwards is refused. So is a result that JSON does not have. A
    coroutine that the tool never awaits, and a future that failed and that nothing awaits, fail it as well. Two tools with one name are an error. If Trailblaze started the server, what tools print
    goes to stderr, because stdout belongs to the protocol, and a server that Trailblaze stops because it hangs prints where.
    """
    base: Any = import_module("fastmcp.server.middleware").Middleware
    refuse_unsendable()
    name_calls()
    quieten()
    if os.environ.get(BASE_URL):
        _print_place_on_sigterm()

    class FailureMiddleware(base):
        async def on_list_tools(self, context: Any, call_next: Any) -> Any:
            tools = await call_next(context)
            places = [await _place_of_tool(tool) for tool in tools]
            problem = duplicates(zip((str(tool.name) for tool in tools), places, strict=True))
            if problem is not None:
                raise ValueError(problem)
            if not os.environ.get(BASE_URL):
                return tools
            return [_with_place(tool, place) for tool, place in zip(tools, places, strict=True)]

        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            if os.environ.get(BASE_URL):
                # The library has taken the real stdout.
                sys.stdout = sys.stderr
            tool = str(getattr(context.message, "name", ""))
            invocation, token = _ids_of(context)
            begin(invocation)
            progress_token.set(token)
            try:
                with WatchedTasks(ToolCall(tool, _about(context))) as tasks:
                    returned = await call_next(context)
                    failure = tasks.failure()
                    mistake = tasks.mistake()
                    left = tasks.left()
                if failure is not None:
                    return _failed_task(failure)
                if mistake is not None:
                    return result.error(at(*mistake))
                for what in left:
                    await _doubt(context, f"`{tool}` ended before {what}; wait for it")
                return returned
            except asyncio.CancelledError as error:
                _print_stopped(place_of_raised(error))
                raise
            # A server must not end because a tool called `sys.exit`.
            except (Exception, SystemExit) as error:
                failed = _failed(error, tool)
                if failed is None:
                    raise
                return failed
            finally:
                end(invocation, tool)
                # What was printed without a line end belongs to this call.
                sys.stderr.flush()

    return FailureMiddleware()


async def _place_of_tool(tool: Any) -> str | None:
    """Where the function of a tool begins."""
    code: Any = getattr(getattr(tool, "fn", None), "__code__", None)
    if code is not None:
        return place_of_own_code(code)
    # FastMCP 3 and newer list what stands for a tool of a mounted server.
    server, name = getattr(tool, "_server", None), getattr(tool, "_original_name", None)
    if server is None or name is None:
        return None
    try:
        return await _place_of_tool(await server.get_tool(name))
    except Exception:
        # Private to the library: without it, messages have no place.
        return None


def _with_place(tool: Any, place: str | None) -> Any:
    """A tool that is listed with its place, which messages of Trailblaze name."""
    if place is None or not hasattr(tool, "model_copy"):
        return tool
    return tool.model_copy(update={"meta": {**(tool.meta or {}), "trailblaze/definedAt": place}})


def _print_place_on_sigterm() -> None:
    """Prints where the author's code is before SIGTERM ends the process: Trailblaze sends it to a server that hangs."""
    import signal

    def stop(number: int, frame: object) -> None:
        frames = sys._current_frames().values()  # pyright: ignore[reportPrivateUsage]
        for place in sorted({place for place in map(place_of_frame, frames) if place is not None}):
            # `print` may be what was interrupted.
            os.write(2, f"{_STOPPED_AT}{place}\n".encode())
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    try:
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, stop)
    except ValueError:
        # Only the main thread may do that.
        pass


_STOPPED_AT = "stopped while it was at "
"""Trailblaze reads what follows."""


def _print_stopped(place: str | None) -> None:
    """Prints where a tool was whose call is cancelled. Trailblaze shows it if the tool was silent for too long."""
    if place is not None and os.environ.get(BASE_URL):
        print(f"{_STOPPED_AT}{place}", file=sys.stderr, flush=True)


def _failed_task(error: BaseException) -> Any:
    text = f"{type(error).__name__}: {error}".removesuffix(": ")
    text = f"a task or thread that the tool started and did not wait for failed: {explain(error, text) or text}"
    return result.failure(error, text) if isinstance(error, TrailblazeError) else result.error(text)


def _about(context: Any) -> dict[str, Any] | None:
    """What Trailblaze says about the call, if it makes it."""
    try:
        return context_of(context.fastmcp_context)
    except (TrailblazeError, TypeError, AttributeError):
        return None


def _ids_of(context: Any) -> tuple[str | None, str | int | None]:
    """The id of the call, if Trailblaze makes it, and the token of its reports."""
    try:
        about = context_of(context.fastmcp_context)
        token = progress_token_of(context.fastmcp_context)
    except (TrailblazeError, TypeError, AttributeError):
        return None, None
    found = None if about is None else about.get("invocationId")
    return found if isinstance(found, str) else None, token


async def _doubt(context: Any, text: str) -> None:
    """Warns that the tool may not have done what it says, although it passes."""
    if context.fastmcp_context is None:
        print(text, file=sys.stderr)
        return
    token = is_doubt.set(True)
    try:
        await context.fastmcp_context.warning(text)
    finally:
        is_doubt.reset(token)


def _failed(error: BaseException, tool: str) -> Any:
    """The result of a tool that raised. None if it is not about the tool's code, such as wrong arguments."""
    raised = error
    # FastMCP wraps errors that are not its own.
    if error.__cause__ is not None and not isinstance(error, TrailblazeError) and not is_of_author(error):
        raised = error.__cause__
    while getattr(raised, "exceptions", None):
        # The first of an exception group.
        group: Any = raised
        raised = group.exceptions[0]
    if isinstance(raised, Unsendable):
        place = place_of_raised(raised) or function_of(raised.__traceback__)
        where = "" if place is None else f" ({place})"
        return result.error(f"`{tool}` returned {raised}{where}\nhint: {MAY_RETURN}")
    if isinstance(raised, Malformed):
        text = f"the result of `{tool}` is malformed: {raised}"
        return result.error(explain(raised, text) or at(text, function_of(raised.__traceback__)))
    if isinstance(raised, TrailblazeError):
        return result.failure(raised, explain(raised, str(raised)))
    kind, said = type(raised).__name__, str(raised)
    is_said = said != "" and kind in ("Exception", "ToolError")
    text = explain(raised, said if is_said else f"{kind}: {said}".removesuffix(": "))
    return None if text is None else result.error(text)
