"""What tools return. FastMCP sends what JSON does not have as its `repr`, so that a tool passes that returned something else than meant."""

from __future__ import annotations

from importlib import import_module

from ._place import place_of_code
from ._target import is_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
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

    def __init__(self, value: object) -> None:
        super().__init__(f"an object of the type `{type(value).__name__}`, which JSON does not have")


def refuse_unsendable() -> None:
    """Lets tools fail that return what JSON does not have."""
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
        unsendable: list[object] = []
        import_module("pydantic_core").to_json(data, fallback=unsendable.append)
        if unsendable:
            raise Unsendable(unsendable[0])
        return former(data)

    serialize.is_of_trailblaze = True  # pyright: ignore[reportFunctionMemberAccess]
    return serialize


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
