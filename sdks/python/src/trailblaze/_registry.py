"""The resource `trailblaze://registry` of a tool server."""

from __future__ import annotations

from dataclasses import fields
from json import dumps

from ._generated.types import GroupInfo, ServerInfo, ToolMetadata, TrailblazeToolRegistry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def registry(
    *modules: TrailblazeToolRegistry,
    tools: Mapping[str, ToolMetadata] | None = None,
    groups: Mapping[str, GroupInfo] | None = None,
    server_info: ServerInfo | None = None,
) -> str:
    """The metadata of the tools of a server, as the text of its resource `trailblaze://registry`.

        @server.resource("trailblaze://registry")
        def get_registry() -> str:
            return registry(shared.REGISTRY, tools={"acme_login": ToolMetadata(platforms=("android", "ios"))})

    A tool or group that several modules describe differently is a `ValueError`.

    Args:
        modules: The registries of the modules that the server is composed of.
        tools: Further tools, by name.
        groups: Further groups, by name.
        server_info: The server. If absent, that of the last module that has one.
    """
    own = TrailblazeToolRegistry(tools=tools or {}, groups=groups or {}, server_info=server_info)
    all_tools: dict[str, ToolMetadata] = {}
    all_groups: dict[str, GroupInfo] = {}
    for module in (*modules, own):
        _merge("tool", all_tools, module.tools)
        _merge("group", all_groups, module.groups)
        server_info = module.server_info or server_info
    merged = TrailblazeToolRegistry(tools=all_tools, groups=all_groups, server_info=server_info)
    return dumps(_json_of(merged), ensure_ascii=False)


def _merge(kind: str, into: dict[str, Any], further: Mapping[str, Any]) -> None:
    for name, value in further.items():
        if into.setdefault(name, value) != value:
            raise ValueError(f"the {kind} `{name}` is described twice: as {into[name]} and as {value}")


def _json_of(value: Any) -> Any:
    """The JSON form of a message of the contract. What is absent is left out."""
    if hasattr(value, "__dataclass_fields__"):
        named: dict[str, Any] = {camel(field.name): getattr(value, field.name) for field in fields(value)}
        return {name: _json_of(item) for name, item in named.items() if item not in (None, ())}
    if hasattr(value, "items"):
        return {name: _json_of(item) for name, item in value.items()}
    return value


def camel(name: str) -> str:
    """A name of Python as JSON has it."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
