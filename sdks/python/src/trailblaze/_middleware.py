"""Middleware for servers that are written with FastMCP."""

from __future__ import annotations

from importlib import import_module

from . import result
from .errors import TrailblazeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def failure_middleware() -> Any:
    """Middleware of FastMCP 2 to 4 that keeps the kind of a failure.

        server = FastMCP("acme", middleware=[failure_middleware()])

    If a tool does not catch an error of this package, FastMCP keeps only its message. With this middleware, a failed
    assertion is recorded as such; see `result.failure`.
    """
    base: Any = import_module("fastmcp.server.middleware").Middleware

    class FailureMiddleware(base):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            try:
                return await call_next(context)
            except Exception as error:
                # FastMCP wraps errors that are not its own.
                own = error if isinstance(error, TrailblazeError) else error.__cause__
                if not isinstance(own, TrailblazeError):
                    raise
                return result.failure(own)

    return FailureMiddleware()
