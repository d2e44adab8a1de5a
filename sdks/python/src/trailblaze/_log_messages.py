"""Log messages of tools name the call that they belong to, and say whether they doubt it. The protocol has no place for that, and
several calls may be in progress.
"""

from __future__ import annotations

from contextvars import ContextVar
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

progress_token: ContextVar[str | int | None] = ContextVar("trailblaze_progress_token", default=None)
"""The token that Trailblaze chose for the reports of the current call."""

is_doubt: ContextVar[bool] = ContextVar("trailblaze_is_doubt", default=False)
"""Whether what is logged says that the tool may not have done what it says, although it passes."""


def name_calls() -> None:
    """Adds the token of the call to the log messages that the MCP library makes, as in reports of progress, and marks doubts."""
    params: Any = import_module("mcp.types").LoggingMessageNotificationParams
    former: Any = params.__init__
    if getattr(former, "is_of_trailblaze", False):
        return

    def init(self: Any, **fields: Any) -> None:
        token = progress_token.get()
        about: dict[str, Any] = {} if token is None else {"progressToken": token}
        if is_doubt.get():
            about["trailblazeDoubt"] = True
        if about and fields.get("meta") is None:
            fields.setdefault("_meta", about)
        former(self, **fields)

    init.is_of_trailblaze = True  # pyright: ignore[reportFunctionMemberAccess]
    params.__init__ = init
