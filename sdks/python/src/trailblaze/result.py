"""Results of tools, for servers that are written with FastMCP or the official MCP SDK.

    from fastmcp.tools import ToolResult
    from trailblaze import result

    @server.tool
    def acme_newEmail(name: str) -> ToolResult:
        email = f"{name}@example.com"
        return result.success(email, remember={"email": email})

Each function returns the type of result that the MCP library of the server uses: `fastmcp.tools.ToolResult` if FastMCP
has been imported, otherwise `mcp.types.CallToolResult`. Without either, it returns the result as a dict, as MCP sends it.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, TypedDict

    from typing_extensions import NotRequired

    from .errors import TrailblazeError

    class Delegate(TypedDict):
        """A call that Trailblaze makes, and records instead of the tool's own."""

        tool: str
        args: NotRequired[Mapping[str, Any]]


__all__ = ["assertion_failed", "delegate", "delegates", "error", "failure", "fatal_error", "missing_required_args", "success", "unsupported"]  # fmt: skip


def success(
    text: str = "",
    structured: Mapping[str, Any] | None = None,
    *,
    remember: Mapping[str, Any] | None = None,
    forget: Iterable[str] = (),
) -> Any:
    """The tool succeeded.

    Args:
        text: What people and models read.
        structured: What programs read.
        remember: Values to remember. Later steps can use them as {{name}}.
        forget: The names of values to forget.
    """
    meta: dict[str, Any] = {"variant": "Success"}
    if isinstance(forget, str):
        raise TypeError("`forget` must be a list of names")
    deletions = list(forget)
    _check(remember, structured, deletions)
    if remember:
        meta["memoryDelta"] = dict(remember)
    if deletions:
        meta["memoryDeletions"] = deletions
    return _native(text, None if structured is None else dict(structured), meta)


def _check(remember: Mapping[str, Any] | None, structured: Mapping[str, Any] | None, forget: list[str]) -> None:
    """Raises if Trailblaze would refuse or change the result."""
    from ._returned import refuse_reserved, refuse_unlike_json

    refuse_reserved([*(remember or ()), *forget])
    for value in (structured, remember):
        refuse_unlike_json(None if value is None else dict(value))


def error(text: str) -> Any:
    """The tool failed."""
    return _native(text, None, {"variant": "ExceptionThrown"})


def fatal_error(text: str) -> Any:
    """The tool failed and the trail must end. Never retried or repaired."""
    return _native(text, None, {"variant": "FatalError"})


def assertion_failed(text: str) -> Any:
    """A check failed. Never repaired."""
    return _native(text, None, {"variant": "AssertionFailed"})


def unsupported(text: str) -> Any:
    """The device does not support this."""
    return _native(text, None, {"variant": "Unsupported"})


def missing_required_args(missing: Iterable[str], text: str | None = None) -> Any:
    """Arguments are missing."""
    if isinstance(missing, str):
        raise TypeError("`missing` must be a list of names")
    names = list(missing)
    said = text or f"missing required arguments: {', '.join(f'`{name}`' for name in names)}"
    return _native(said, None, {"variant": "MissingRequiredArgs", "missing": names})


def failure(error: TrailblazeError, text: str | None = None) -> Any:
    """The tool failed because of an error of this package, whose kind is kept: some are never retried or repaired.

        except TrailblazeError as error:
            return result.failure(error)
    """
    if isinstance(error, AssertionError):
        variant = "AssertionFailed"
    elif getattr(error, "variant", None) == "FatalError":
        variant = "FatalError"
    elif getattr(error, "code", None) == "unimplemented":
        variant = "Unsupported"
    else:
        variant = "ExceptionThrown"
    return _native(text or str(error), None, {"variant": variant})


def delegate(tool: str, /, **args: Any) -> Delegate:
    """A call for `delegates()`: `delegate("tap", text="Sign in")`."""
    return {"tool": tool, "args": args}


def delegates(
    calls: Iterable[Delegate],
    text: str | None = None,
    *,
    remember: Mapping[str, Any] | None = None,
    forget: Iterable[str] = (),
) -> Any:
    """Delegates to other tools, which Trailblaze calls in order and records instead of this one.

    Args:
        calls: The calls, such as `{"tool": "tap", "args": {"text": "Sign in"}}`.
        text: What people and models read.
        remember: Values to remember.
        forget: The names of values to forget.
    """
    listed: list[dict[str, Any]] = []
    for call in calls:
        if not call.get("tool"):
            raise ValueError("a delegate needs the name of a `tool`")
        listed.append({"tool": call["tool"], "args": dict(call.get("args", {}))})
    said = text or f"delegated to {', '.join('`{}`'.format(call['tool']) for call in listed) or 'no tool'}"
    return success(said, {"_trailblaze_delegates": listed}, remember=remember, forget=forget)


def _native(text: str, structured: dict[str, Any] | None, meta: dict[str, Any]) -> Any:
    """The result as an object of the MCP library that the server uses."""
    wire: dict[str, Any] = {
        "content": [{"type": "text", "text": text}] if text else [],
        "isError": meta["variant"] != "Success",
        "_meta": {"trailblaze": meta},
    }
    if structured is not None:
        wire["structuredContent"] = structured
    if "fastmcp" in sys.modules:
        return _of_fastmcp(wire)
    if "mcp" in sys.modules:
        return _of_mcp(wire)
    return wire


def _of_mcp(wire: dict[str, Any]) -> Any:
    from importlib import import_module

    return import_module("mcp.types").CallToolResult.model_validate(wire)


def _of_fastmcp(wire: dict[str, Any]) -> Any:
    from importlib import import_module

    tools = import_module("fastmcp.tools")
    # FastMCP 2 has it in another module.
    tool_result: Any = getattr(tools, "ToolResult", None) or import_module("fastmcp.tools.tool").ToolResult
    protocol: Any = _of_mcp(wire)
    if hasattr(tool_result, "from_mcp_result"):
        return tool_result.from_mcp_result(protocol)

    # FastMCP 2 and 3 drop `isError` when they convert their own results.
    class Verbatim(tool_result):
        def to_mcp_result(self) -> Any:
            return protocol

    return Verbatim(content=protocol.content, structured_content=wire.get("structuredContent"), meta=wire["_meta"])
