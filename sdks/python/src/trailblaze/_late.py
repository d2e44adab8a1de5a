"""Calls that the code of a tool makes after the tool has ended, in a thread, a task or a timer that nothing waited for.

Trailblaze refuses them, and what they raise is often lost. So Trailblaze is told where they are, which it shows.
"""

from __future__ import annotations

import sys

from .errors import ApiError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._target import Target

CALLED_AT = "Trailblaze-Called-At"
"""The header of a call that is known to be too late: its place in the author's code, which Trailblaze shows."""

_KEPT = 256
_REPORT_TIMEOUT = 10.0

_ended: dict[str, str] = {}
"""The tools of the calls that ended last, by the ids of the calls."""


def begin(invocation: str | None) -> None:
    """A call of a tool begins. In tests, several may have one id."""
    if invocation is not None:
        _ended.pop(invocation, None)


def end(invocation: str | None, tool: str) -> None:
    """A call of a tool has ended."""
    if invocation is None:
        return
    _ended[invocation] = tool
    while len(_ended) > _KEPT:
        _ended.pop(next(iter(_ended)), None)


def ended_tool(invocation: str | None) -> str | None:
    """The tool of a call that has ended. None if it has not, or if that was long ago."""
    return _ended.get(invocation or "")


def late_text(tool: str | None, path: str, place: str | None) -> str:
    """What is wrong with a call that is too late."""
    from ._pending_call import method_of

    who = "a tool" if tool is None else f"`{tool}`"
    where = "" if not place else f" ({place})"
    text = f"{who} called `{method_of(path)}` after it had ended, so nothing was done{where}"
    return f"{text}; wait for everything that the tool starts before it returns"


def refuse_late(target: Target, path: str) -> None:
    """Raises, and tells Trailblaze, if the tool call that a client belongs to has ended."""
    tool = ended_tool(target.ids.get("invocationId"))
    if tool is None:
        return
    from ._place import place_of_frame

    place = place_of_frame(sys._getframe(1))  # pyright: ignore[reportPrivateUsage]
    try:
        _report(target, path, place)
    except Exception as error:
        print(f"Trailblaze could not be told about a call that was too late: {error}", file=sys.stderr)
    raise ApiError("not_found", late_text(tool, path, place))


def _report(target: Target, path: str, place: str | None) -> None:
    """Makes the call, which Trailblaze refuses, and says where it is. Blocks: the event loop may be about to end."""
    from time import monotonic

    from ._blocking_calls import connect, exchange
    from ._wire import body_of

    body = body_of(target.ids, {})
    value = (place or "").encode("ascii", "replace").decode("ascii")
    head = target.head(path, "application/json", _REPORT_TIMEOUT, f"{CALLED_AT}: {value}\r\n")
    deadline = monotonic() + _REPORT_TIMEOUT
    exchange(connect(target, deadline), f"{head}{len(body)}\r\n\r\n".encode("ascii") + body, deadline, [])
