"""Coroutines of the author that are never awaited: what they should have done has not been done, so the tool must not pass.

CPython tells `warnings` of one when it is deallocated, which is at once as a rule, because it counts references.
"""

from __future__ import annotations

import sys
import warnings

from ._late_failures import current, listeners, overlooked
from ._place import place_of_frame, place_of_line, place_of_own_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HOOK = "_warn_unawaited_coroutine"


def watch_coroutines() -> None:
    """Follows the coroutines that the code of tools creates. Elsewhere, the warning of Python stays as it is."""
    former: Any = getattr(warnings, _HOOK, None)
    # Another interpreter may not have it.
    if former is None or getattr(former, "is_of_trailblaze", False):
        return

    def warn(coroutine: Any) -> None:
        if not _note(coroutine):
            former(coroutine)

    warn.is_of_trailblaze = True  # pyright: ignore[reportFunctionMemberAccess]
    setattr(warnings, _HOOK, warn)


def remember_origins() -> None:
    """Lets the coroutines of this thread know the line that created them. Otherwise only that is known which dropped them."""
    if hasattr(sys, "get_coroutine_origin_tracking_depth") and sys.get_coroutine_origin_tracking_depth() == 0:
        sys.set_coroutine_origin_tracking_depth(1)


def _note(coroutine: Any) -> bool:
    """Whether it is a mistake of a tool or of its test, which has been noted."""
    if current.get() is None and not listeners:
        return False
    place = _place_of(coroutine)
    # Libraries see to their own.
    if place is None:
        return False
    name = coroutine.__name__
    return overlooked(f"`{name}` was called without `await`, so nothing was done: write `await {name}(…)`", place)


def _place_of(coroutine: Any) -> str | None:
    origin: Any = getattr(coroutine, "cr_origin", None)
    if origin:
        path, line, _ = origin[0]
        return place_of_line(path, line)
    # `_note`, `warn` and this.
    frame = sys._getframe(3)  # pyright: ignore[reportPrivateUsage]
    code: Any = getattr(coroutine, "cr_code", None)
    return place_of_frame(frame) or (None if code is None else place_of_own_code(code))
