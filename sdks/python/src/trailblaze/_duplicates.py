"""Tools with the same name in one FastMCP server. FastMCP logs a warning that nobody sees, and keeps one of them."""

from __future__ import annotations

import logging
import re
import sys

from ._late_failures import at
from ._place import place_of_code, place_of_frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# FastMCP 3 and newer, and FastMCP 2.
_WARNING = re.compile(r"(?:Component already exists: tool:|Tool already exists: )([^@\s]+)")


class _Overwritten(logging.Handler):
    """Keeps the tools that a later one of the same name has replaced."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.problems: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        found = _WARNING.match(record.getMessage())
        if found is None:
            return
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
        second, first = place_of_frame(frame, is_loading=True), None
        while frame.f_back is not None and first is None:
            # The tool that FastMCP is about to replace.
            code = getattr(getattr(frame.f_locals.get("existing"), "fn", None), "__code__", None)
            first = None if code is None else place_of_code(code)
            frame = frame.f_back
        places = [place for place in (first, second) if place is not None]
        self.problems.append(at(f"two tools are named `{found[1]}`", " and ".join(places) or None))


_overwritten = _Overwritten()
logging.getLogger("fastmcp").addHandler(_overwritten)


def duplicates(listed: Iterable[tuple[str, str | None]]) -> str | None:
    """What is wrong with the tools of this process, of which a server lists these, by name and place. None if each has a name of its
    own.
    """
    places: dict[str, list[str | None]] = {}
    for name, place in listed:
        places.setdefault(name, []).append(place)
    twice = {name: dict.fromkeys(filter(None, found)) for name, found in places.items() if len(found) > 1}
    mounted = [at(f"two mounted servers have a tool named `{name}`", " and ".join(found) or None) for name, found in twice.items()]
    problems = [*_overwritten.problems, *mounted]
    return f"{'; '.join(problems)}; rename one of them" if problems else None
