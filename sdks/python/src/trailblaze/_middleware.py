"""Middleware for servers that are written with FastMCP."""

from __future__ import annotations

import os
import sys
from importlib import import_module

from . import result
from ._place import explain, is_of_author
from ._target import BASE_URL
from .errors import TrailblazeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def failure_middleware() -> Any:
    """Middleware of FastMCP 2 to 4 for tools that fail.

        server = FastMCP("acme", middleware=[failure_middleware()])

    The message of an exception that a tool does not catch names the file and line of the tool's code, and a failed assertion is
    recorded as such; see `result.failure`. If Trailblaze started the server, what tools print goes to stderr: stdout belongs to
    the protocol.
    """
    base: Any = import_module("fastmcp.server.middleware").Middleware

    class FailureMiddleware(base):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            if os.environ.get(BASE_URL):
                # The library has taken the real stdout.
                sys.stdout = sys.stderr
            try:
                return await call_next(context)
            # A server must not end because a tool called `sys.exit`.
            except (Exception, SystemExit) as error:
                failed = _failed(error)
                if failed is None:
                    raise
                return failed

    return FailureMiddleware()


def _failed(error: BaseException) -> Any:
    """The result of a tool that raised. None if it is not about the tool's code, such as wrong arguments."""
    raised = error
    # FastMCP wraps errors that are not its own.
    if error.__cause__ is not None and not isinstance(error, TrailblazeError) and not is_of_author(error):
        raised = error.__cause__
    while getattr(raised, "exceptions", None):
        # The first of an exception group.
        group: Any = raised
        raised = group.exceptions[0]
    if isinstance(raised, TrailblazeError):
        return result.failure(raised, explain(raised, str(raised)))
    kind, said = type(raised).__name__, str(raised)
    is_said = said != "" and kind in ("Exception", "ToolError")
    text = explain(raised, said if is_said else f"{kind}: {said}".removesuffix(": "))
    return None if text is None else result.error(text)
