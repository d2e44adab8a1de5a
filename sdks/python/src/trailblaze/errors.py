"""What the methods raise."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

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


class ActionFailed(TrailblazeError):
    """An action was carried out and failed."""

    variant: str
    """The kind of failure, such as `MissingRequiredArgs`."""

    def __init__(self, message: str, variant: str = "") -> None:
        super().__init__(message)
        self.variant = variant

    def __reduce__(self) -> tuple[type[ActionFailed], tuple[str, str]]:
        return type(self), (self.message, self.variant)


class AssertionFailed(TrailblazeError, AssertionError):
    """An assertion is false. Test runners report it as a failed test, not as an error."""

    variant: str
    """The kind of failure: `AssertionFailed`, or why it could not be checked."""

    def __init__(self, message: str, variant: str = "AssertionFailed") -> None:
        super().__init__(message)
        self.variant = variant

    def __reduce__(self) -> tuple[type[AssertionFailed], tuple[str, str]]:
        return type(self), (self.message, self.variant)


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
        return type(self), (self.code, self.message)


class DeadlineExceeded(ApiError, TimeoutError):
    """The call took longer than its timeout. It may have been carried out."""


class ConnectionFailed(ApiError, ConnectionError):
    """Trailblaze could not be reached, or the connection broke."""


class ContextError(TrailblazeError):
    """There is nothing about Trailblaze in a request, so it was not made by Trailblaze."""
