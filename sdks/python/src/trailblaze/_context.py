"""Finds what Trailblaze says in a request, in what the MCP libraries for Python hand to a tool.

Supported are the `Context` of FastMCP (2 and newer) and of the official SDK (`FastMCP`, `MCPServer`), the request context
of the official SDK's low-level server (1 and 2), and the `_meta` of a request as a dict.
"""

from __future__ import annotations

import os

from ._target import BASE_URL, is_object
from .errors import ContextError, for_libraries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def context_of(context: object) -> dict[str, Any] | None:
    """`_meta.trailblaze` of the request, with the invocation id. None if another program than Trailblaze started the
    server and made the request.
    """
    meta = _meta_of(context)
    about: Any = _get(meta, "trailblaze")
    invocation: Any = _get(meta, "trailblazeInvocationId")
    if not is_object(about):
        if not isinstance(invocation, str):
            if not os.environ.get(BASE_URL):
                return None
            problem = ContextError(
                "this request was not made by Trailblaze: its `_meta` has no `trailblaze`; "
                "call the tool from a trail, or with `trailblaze tool`"
            )
            raise for_libraries(problem)
        about = {}
    merged: dict[str, Any] = {**about}
    if isinstance(invocation, str):
        merged.setdefault("invocationId", invocation)
    return merged


def progress_token_of(context: object) -> str | int | None:
    """The token that the caller chose for reports about this request."""
    meta = _meta_of(context)
    token: Any = _get(meta, "progressToken")
    if token is None:
        token = _get(meta, "progress_token")
    return token if isinstance(token, (str, int)) else None


async def report_progress(
    context: object, progress: float, total: float | None = None, message: str | None = None
) -> None:
    """Reports the progress of a tool, which is shown and renews the idle timeout of its call.

    Args:
        context: What the MCP library handed to the tool.
        progress: How much is done. It must increase.
        total: How much there is to do, if known.
        message: What the tool is doing.
    """
    request: Any = _request_of(context)
    for candidate in (context, getattr(request, "session", None)):
        report: Any = getattr(candidate, "report_progress", None)
        if report is not None:
            await report(progress, total, message)
            return
    # The low-level server of the official SDK 1.
    token: Any = _get(getattr(request, "meta", None), "progressToken")
    if token is not None:
        await request.session.send_progress_notification(
            token, progress, total, message=message, related_request_id=str(request.request_id)
        )


def _request_of(context: object) -> object:
    """The request context, if it is not one already."""
    try:
        request: Any = getattr(context, "request_context", None)
    except (LookupError, ValueError) as error:
        raise ContextError(f"there is no request: {error}") from error
    return context if request is None else request


def _meta_of(context: Any) -> object:
    if is_object(context):
        return context.get("_meta", context)
    request: Any = _request_of(context)
    if not hasattr(request, "meta") and not hasattr(request, "params"):
        raise TypeError(
            f"a {type(context).__name__} is not the context of a tool; declare a parameter of the type `Context` "
            "of your MCP library, and pass that"
        )
    meta: Any = getattr(request, "meta", None)
    if _get(meta, "trailblaze") is None:
        params: Any = getattr(request, "params", None)
        meta = _get(params, "_meta") or meta
    return meta


def _get(holder: object, name: str) -> object:
    """A value of a mapping, or of a pydantic model that keeps undeclared fields."""
    if hasattr(holder, "get") and hasattr(holder, "keys"):
        fields: Any = holder
        return fields.get(name)
    return getattr(holder, name, None)
