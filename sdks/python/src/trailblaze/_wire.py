"""Connect's JSON: parameters to bodies, bodies to values and errors."""

from __future__ import annotations

from json import JSONEncoder, loads

from ._target import is_object
from .errors import (
    CODES,
    ActionFailed,
    ApiError,
    AssertionFailed,
    ConnectionFailed,
    DeadlineExceeded,
    TrailblazeError,
    for_libraries,
)

# pytest shows the test that called, not these frames.
__tracebackhide__ = True

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from ._daemon import Daemon
    from ._http import Response
    from ._target import Target
    from .errors import Code

_encode: Callable[[object], str] = JSONEncoder(separators=(",", ":"), allow_nan=False).encode

# What an HTTP status means if the body does not tell.
_STATUS_CODES: dict[int, Code] = {
    400: "internal",
    401: "unauthenticated",
    403: "permission_denied",
    404: "unimplemented",
    429: "unavailable",
    502: "unavailable",
    503: "unavailable",
    504: "unavailable",
}


def body_of(ids: Mapping[str, str], params: Mapping[str, Any]) -> bytes:
    """The JSON of a request. Parameters that are None are not sent."""
    message: dict[str, Any] = {**ids}
    for name, value in params.items():
        if value is not None:
            message[name] = value
    try:
        return _encode(message).encode()
    except ValueError as error:
        raise ApiError("invalid_argument", f"the arguments are not JSON: {error}") from None


def answer_of(target: Target, response: Response) -> dict[str, Any]:
    """The message of a complete response."""
    if response.status != 200:
        raise error_of(target, response)
    return parse(response.body, "the response")


def parse(body: bytes | bytearray, what: str) -> dict[str, Any]:
    """A JSON object."""
    try:
        message: Any = loads(body)
    except RecursionError:
        raise ApiError("resource_exhausted", f"{what} is nested too deeply; see sys.setrecursionlimit") from None
    except ValueError:
        raise ApiError("internal", f"{what} is not JSON: {_excerpt(body)}") from None
    if not is_object(message):
        raise ApiError("internal", f"{what} is not a JSON object: {_excerpt(body)}")
    return message


def error_of(target: Target, response: Response) -> ApiError:
    """The error of a response that is not a success."""
    try:
        error: Any = loads(response.body)
    except (ValueError, RecursionError):
        error = None
    if is_object(error) and "code" in error:
        return error_from(error)
    code = _STATUS_CODES.get(response.status, "unknown")
    text = f"http://{target.name} answered with HTTP status {response.status}: {_excerpt(response.body)}"
    return ApiError(code, f"{text}; is Trailblaze listening at this address?")


def error_from(error: Any) -> ApiError:
    """An error in Connect's JSON."""
    fields: dict[str, Any] = error if is_object(error) else {}
    code: Any = fields.get("code")
    message = str(fields.get("message") or "") or str(code)
    if not is_code(code):
        return ApiError("unknown", message)
    return DeadlineExceeded(code, message) if code == "deadline_exceeded" else ApiError(code, message)


def is_code(code: object) -> bool:
    return isinstance(code, str) and code in CODES


def read(name: str, message: dict[str, Any]) -> Any:
    """A message as the dataclass of that name."""
    # Imported when it is first needed: dataclasses take a while.
    from ._generated import types

    try:
        return getattr(types, name).from_json(message)
    except RecursionError:
        raise ApiError("resource_exhausted", "the response is nested too deeply; see sys.setrecursionlimit") from None
    except (AttributeError, TypeError, ValueError) as error:
        raise ApiError("internal", f"the response is not a valid {name}: {error}") from None


def settle(name: str, message: dict[str, Any], is_assertion: bool) -> Any:
    """The result of an action or an assertion, if it succeeded: the message, or its value if no name is given."""
    if message.get("success") is True:
        return read(name, message) if name else message.get("value")
    text, variant = str(message.get("message") or "it failed"), str(message.get("variant") or "")
    if is_assertion or variant == "AssertionFailed":
        raise for_libraries(AssertionFailed(text, variant or "AssertionFailed"))
    raise for_libraries(ActionFailed(text, variant))


def end_of_stream(message: bytes) -> None:
    """Raises the error that the last message of a stream contains, if any."""
    error = parse(message, "the end of the stream").get("error")
    if error is not None:
        raise error_from(error)


def expired() -> DeadlineExceeded:
    return DeadlineExceeded("deadline_exceeded", "Trailblaze did not answer within the timeout")


def explain(target: Target, error: TrailblazeError) -> TrailblazeError:
    """The error of a call, with the reason if its session was found in a daemon and is gone."""
    if target.session_name is None or not isinstance(error, ApiError):
        return error
    from ._daemon import ended

    return ended(target.session_name, error)


def unreachable(target: Target | Daemon, problem: object) -> ConnectionFailed:
    return ConnectionFailed(
        "unavailable",
        f"Trailblaze cannot be reached at http://{target.name}: {problem}; it runs during `trailblaze run`, "
        "`trailblaze shell` and `trailblaze serve`",
    )


def _excerpt(body: bytes | bytearray) -> str:
    text = bytes(body[:200]).decode("utf-8", "replace").strip()
    return repr(text + "…" if len(body) > 200 else text) if text else "empty"
