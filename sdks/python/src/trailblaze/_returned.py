"""What tools return. FastMCP sends what JSON does not have as its `repr`, so that a tool passes that returned something else than meant."""

from __future__ import annotations

from importlib import import_module
from math import isfinite

from ._late_failures import current
from ._place import place_of_code
from ._target import is_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import TracebackType
    from typing import Any

MAY_RETURN = (
    "a tool returns a text, number, boolean, list, dictionary, dataclass or pydantic model, nothing, "
    "or what a function of `trailblaze.result` makes"
)

_OWN_KEYS = ("variant", "missing", "memoryDelta", "memoryDeletions")

# Where FastMCP 2 to 4 have it.
_MODULES = ("fastmcp.tools.base", "fastmcp.tools.tool")


class Unsendable(TypeError):
    """A tool returned something that JSON does not have."""


class Malformed(ValueError):
    """Trailblaze would refuse the result of a tool."""


RESERVED = ("target.", "args.")
"""How the names in memory begin that Trailblaze sets itself."""


def refuse_reserved(names: Iterable[str]) -> None:
    """Trailblaze would refuse the result."""
    for name in names:
        prefix = next((prefix for prefix in RESERVED if str(name).startswith(prefix)), None)
        if prefix is not None:
            text = f"`{name}` cannot be changed in memory: names that begin with `{prefix}` are set by Trailblaze"
            raise ValueError(text)


def unlike_json(value: object, path: str = "", around: tuple[int, ...] = ()) -> str | None:
    """What of a value JSON would lose, and where. None if nothing."""
    at = f" at `{path}`" if path else ""
    if isinstance(value, float) and not isfinite(value):
        return f"{value}{at}, which JSON does not have"
    if isinstance(value, (set, frozenset)):
        return f"a set{at}, which JSON does not have and whose order changes; return `sorted(…)`"
    own_id = id(value)
    if own_id in around:
        return f"a value that contains itself{at}, which JSON does not have"
    # What is deeper is an error of its own.
    if len(around) > 100:
        return None
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    elif isinstance(value, (list, tuple)):
        items = enumerate(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    for name, item in items:
        found = unlike_json(item, f"{path}.{name}" if path else str(name), (*around, own_id))
        if found is not None:
            return found
    return None


def refuse_unlike_json(value: object) -> None:
    """Lets a tool fail whose result JSON would change."""
    lost = unlike_json(value)
    if lost is not None:
        raise Unsendable(lost)


def refuse_unsendable() -> None:
    """Lets tools fail that return what JSON does not have."""
    _check_tool_results()
    for name in _MODULES:
        try:
            module: Any = import_module(name)
        except ImportError:
            continue
        former: Any = getattr(module, "default_serializer", None)
        if former is not None and not getattr(former, "is_of_trailblaze", False):
            module.default_serializer = _strict(former)


def _strict(former: Any) -> Any:
    def serialize(data: object) -> str:
        refuse_unlike_json(data)
        unsendable: list[object] = []
        core: Any = import_module("pydantic_core")
        # With models and dataclasses as dictionaries.
        plain = core.to_jsonable_python(data, fallback=unsendable.append)
        if unsendable:
            raise Unsendable(f"an object of the type `{type(unsendable[0]).__name__}`, which JSON does not have")
        refuse_unlike_json(plain)
        return former(data)

    serialize.is_of_trailblaze = True  # pyright: ignore[reportFunctionMemberAccess]
    return serialize


def _check_tool_results() -> None:
    """Lets the results fail that authors make themselves."""
    tools: Any = import_module("fastmcp.tools")
    # FastMCP 2 has it in another module.
    tool_result: Any = getattr(tools, "ToolResult", None) or import_module("fastmcp.tools.tool").ToolResult
    former: Any = tool_result.__init__
    if getattr(former, "checks_json", False):
        return

    def init(self: Any, *args: Any, **options: Any) -> None:
        for name in ("structured_content", "meta"):
            refuse_unlike_json(options.get(name))
        meta: Any = options.get("meta")
        own: Any = meta.get("trailblaze") if is_object(meta) else None
        if is_object(own):
            changed: Any = own.get("memoryDelta")
            deleted: Any = own.get("memoryDeletions")
            refuse_reserved(changed if is_object(changed) else ())
            refuse_reserved(deleted if type(deleted) in (list, tuple) else ())
        # In a test without our middleware, the fake device says so.
        problem = None if current.get() is None or not is_object(meta) else flaw(meta)
        if problem is not None:
            raise Malformed(problem)
        former(self, *args, **options)

    init.checks_json = True  # pyright: ignore[reportFunctionMemberAccess]
    init.is_of_trailblaze = getattr(former, "is_of_trailblaze", False)  # pyright: ignore[reportFunctionMemberAccess]
    tool_result.__init__ = init


def function_of(traceback: TracebackType | None) -> str | None:
    """Where the function of the tool begins that FastMCP called."""
    while traceback is not None:
        code: Any = getattr(getattr(traceback.tb_frame.f_locals.get("self"), "fn", None), "__code__", None)
        if code is not None:
            return place_of_code(code)
        traceback = traceback.tb_next
    return None


def flaw(meta: Mapping[str, Any] | None) -> str | None:
    """What Trailblaze would refuse about the `_meta` of a result: values that it would not remember."""
    from difflib import get_close_matches

    for key, value in (meta or {}).items():
        is_ours = isinstance(value, dict) and any(own in value for own in _OWN_KEYS)
        if is_ours and key != "trailblaze" and get_close_matches(key.lower(), ["trailblaze"]):
            return f"unknown key `{key}` in `_meta`; did you mean `trailblaze`?"
        if key in ("memoryDelta", "memoryDeletions"):
            return f"`{key}` has no effect there; put it into `_meta.trailblaze`"
    own: Any = (meta or {}).get("trailblaze")
    if own is None:
        return None
    if not is_object(own):
        return f"`_meta.trailblaze` must be an object, got {own!r}"
    fields: dict[str, Any] = own
    for key, value in fields.items():
        if key not in _OWN_KEYS:
            plain = {name.lower(): name for name in _OWN_KEYS}
            near = get_close_matches(str(key).lower().replace("_", ""), plain, 1)
            if near:
                return f"unknown key `{key}` in `_meta.trailblaze`; did you mean `{plain[near[0]]}`?"
        elif key == "memoryDelta" and value is not None and not isinstance(value, dict):
            return f"`{key}` in `_meta.trailblaze` must be an object, got {value!r}"
        elif key in ("memoryDeletions", "missing") and value is not None and not _is_texts(value):
            return f"`{key}` in `_meta.trailblaze` must be a list of texts, got {value!r}"
    return None


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)  # pyright: ignore[reportUnknownVariableType]
