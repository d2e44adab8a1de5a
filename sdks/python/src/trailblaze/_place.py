"""Where in the author's code something was raised, for messages."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FrameType, TracebackType
    from typing import Any

PROJECT_DIR = "TRAILBLAZE_PROJECT_DIR"
"""The folder of the project, for a server that Trailblaze started."""


def explain(error: BaseException, message: str) -> str | None:
    """The message and its place, ahead of a hint: `no order 7 (tools/orders.py:12)`. None if no line of the author had a
    part in it.
    """
    place = _place_of(error.__traceback__)
    if place is None:
        return None
    end = message.rfind("\nhint: ")
    end = len(message) if end < 0 else end
    return f"{message[:end]} ({place}){message[end:]}"


def place_of_raised(error: BaseException) -> str | None:
    """The innermost line of the author that had a part in it."""
    return _place_of(error.__traceback__)


def is_of_author(error: BaseException) -> bool:
    """Whether the author's code raised it, and not a library that this code called or that called it."""
    lines = list(_lines(error.__traceback__))
    return bool(lines) and lines[-1][2]


def place_of_frame(frame: FrameType | None, *, is_loading: bool = False) -> str | None:
    """The innermost line of a function of the author that is being executed, or of a module if it is being loaded."""
    foreign = _foreign_folders()
    while frame is not None:
        is_meant = is_loading or frame.f_code.co_name != "<module>"
        if is_meant and _is_own(frame.f_code.co_filename, foreign):
            return f"{_from_project(frame.f_code.co_filename)}:{frame.f_lineno}"
        frame = frame.f_back
    return None


def tool_of_frame(frame: FrameType | None) -> str | None:
    """Where the function of the tool begins that FastMCP is calling."""
    while frame is not None:
        code: Any = getattr(getattr(frame.f_locals.get("self"), "fn", None), "__code__", None)
        if code is not None:
            return place_of_own_code(code)
        frame = frame.f_back
    return None


def place_of_line(path: str, line: int) -> str | None:
    """A line, if it is in the author's code."""
    return f"{_from_project(path)}:{line}" if _is_own(path, _foreign_folders()) else None


def place_of_own_code(code: CodeType) -> str | None:
    """Where a function begins, if it is the author's."""
    return place_of_code(code) if _is_own(code.co_filename, _foreign_folders()) else None


def place_of_code(code: CodeType) -> str:
    """Where a function begins."""
    return f"{_from_project(code.co_filename)}:{code.co_firstlineno}"


def _place_of(traceback: TracebackType | None) -> str | None:
    own = [(path, line) for path, line, is_own in _lines(traceback) if is_own]
    return f"{_from_project(own[-1][0])}:{own[-1][1]}" if own else None


def _lines(traceback: TracebackType | None) -> Iterator[tuple[str, int, bool]]:
    """The file and line of each call, outermost first, and whether it is in the author's code."""
    foreign = _foreign_folders()
    while traceback is not None:
        path = traceback.tb_frame.f_code.co_filename
        yield path, traceback.tb_lineno, _is_own(path, foreign)
        traceback = traceback.tb_next


def _is_own(path: str, foreign: tuple[str, ...]) -> bool:
    # `<frozen importlib>` is no file.
    return not path.startswith("<") and "site-packages" not in path and not path.startswith(foreign)


def _foreign_folders() -> tuple[str, ...]:
    from sysconfig import get_paths

    paths = get_paths()
    own = os.path.dirname(os.path.abspath(__file__))
    return tuple(folder + os.sep for folder in (own, paths["stdlib"], paths["platstdlib"], paths["purelib"]))


def _from_project(path: str) -> str:
    path = os.path.realpath(path)
    root = os.path.realpath(os.environ.get(PROJECT_DIR) or os.getcwd())
    return os.path.relpath(path, root) if path.startswith(root + os.sep) else path
