"""What the methods raise."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    Code = Literal[
        "canceled",
        "unknown",
        "invalid_argument",
        "deadline_exceeded",
        "not_found",
        "already_exists",
        "permission_denied",
        "resource_exhausted",
        "failed_precondition",
        "aborted",
        "out_of_range",
        "unimplemented",
        "internal",
        "unavailable",
        "data_loss",
        "unauthenticated",
    ]

CODES = frozenset(
    "canceled unknown invalid_argument deadline_exceeded not_found already_exists permission_denied resource_exhausted "
    "failed_precondition aborted out_of_range unimplemented internal unavailable data_loss unauthenticated".split()
)


class TrailblazeError(Exception):
    """The base class of everything that this package raises about a call."""

    message: str
    """What is wrong."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __reduce__(self) -> tuple[type[TrailblazeError], tuple[str, ...]]:
        return plain(type(self)), (self.message,)


class ActionFailed(TrailblazeError):
    """An action was carried out and failed."""

    variant: str
    """The kind of failure, such as `MissingRequiredArgs`."""

    def __init__(self, message: str, variant: str = "") -> None:
        super().__init__(message)
        self.variant = variant

    def __reduce__(self) -> tuple[type[ActionFailed], tuple[str, str]]:
        return plain(type(self)), (self.message, self.variant)


class AssertionFailed(TrailblazeError, AssertionError):
    """An assertion is false. Test runners report it as a failed test, not as an error."""

    variant: str
    """The kind of failure: `AssertionFailed`, or why it could not be checked."""

    def __init__(self, message: str, variant: str = "AssertionFailed") -> None:
        super().__init__(message)
        self.variant = variant

    def __reduce__(self) -> tuple[type[AssertionFailed], tuple[str, str]]:
        return plain(type(self)), (self.message, self.variant)


class ApiError(TrailblazeError):
    """The call could not be carried out."""

    code: Code
    """The reason, as in Connect and gRPC, such as `not_found`."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"

    def __reduce__(self) -> tuple[type[ApiError], tuple[Code, str]]:
        return plain(type(self)), (self.code, self.message)


class DeadlineExceeded(ApiError, TimeoutError):
    """The call took longer than its timeout. It may have been carried out."""


class ConnectionFailed(ApiError, ConnectionError):
    """Trailblaze could not be reached, or the connection broke."""


class ContextError(TrailblazeError):
    """Trailblaze started the server, but there is nothing about Trailblaze in the request, so it did not make it."""


# MCP libraries treat other exceptions than theirs as crashes, and may keep the reason from the caller.
_LIBRARIES = ("fastmcp.exceptions", "mcp.server.mcpserver.exceptions", "mcp.server.fastmcp.exceptions")

_for_libraries: dict[tuple[type, ...], type[TrailblazeError]] = {}


def for_libraries(error: TrailblazeError) -> TrailblazeError:
    """The error as one that is also a `ToolError` of the MCP libraries that have been imported. If a tool does not catch
    it, Trailblaze gets its message as the result of the tool.
    """
    found: list[Any] = [getattr(sys.modules.get(name), "ToolError", None) for name in _LIBRARIES]
    found = [base for base in found if base is not None and not isinstance(error, base)]
    if not found:
        return error
    # Without those that others derive from.
    bases = tuple(base for base in found if not any(other is not base and issubclass(other, base) for other in found))
    own = plain(type(error))
    combined = _for_libraries.get((own, *bases))
    if combined is None:
        names = {"__module__": own.__module__, "__qualname__": own.__qualname__, "_plain": own}
        combined = _for_libraries[(own, *bases)] = type(own.__name__, (own, *bases), names)
    copy: TrailblazeError = combined(*error.__reduce__()[1])
    for base in bases:
        # Built-in exceptions do not call the next class.
        base.__init__(copy, error.message)
    copy.__cause__ = error.__cause__
    return copy


def plain(error: type[Any]) -> type[Any]:
    """The class in this module: only that one can be pickled."""
    return getattr(error, "_plain", error)
