"""The values that methods return."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from trailblaze import (
    ActionResult,
    Bounds,
    Element,
    GroupInfo,
    Picture,
    ScreenState,
    ServerInfo,
    ToolMetadata,
    TrailblazeToolRegistry,
    registry,
    result,
)
from trailblaze._generated import types

SCREEN: dict[str, Any] = {
    "platform": "android",
    "width": 1080,
    "height": 2400,
    "root": {
        "role": "FrameLayout",
        "bounds": {"left": 0, "top": 0, "right": 1080, "bottom": 2400},
        "children": [
            {"role": "Button", "text": "Pay", "id": "pay", "bounds": {"left": 0, "top": 0, "right": 100, "bottom": 50}},
            {
                "role": "List",
                "children": [
                    {"role": "Row", "text": "Tea", "id": "row", "checked": False, "enabled": True},
                    {"role": "Row", "label": "Tea", "id": "row", "clipped": True},
                ],
            },
        ],
    },
    "picture": {"mime": "image/png", "data": "iVBORw=="},
}


def test_a_screen_is_read_as_a_tree() -> None:
    screen = ScreenState.from_json(SCREEN)
    assert [element.role for element in screen.elements] == ["FrameLayout", "Button", "List", "Row", "Row"]
    assert list(screen.root.walk()) == list(screen.elements)
    assert screen.picture == Picture(mime="image/png", data=b"\x89PNG")
    assert screen.app is None
    row = screen.elements[3]
    assert (row.checked, row.enabled, row.ref, row.bounds) == (False, True, None, None)
    assert screen.elements[1].bounds == Bounds(left=0, top=0, right=100, bottom=50)


def test_elements_are_found_by_text_id_role_and_place() -> None:
    screen = ScreenState.from_json(SCREEN)
    pay = screen.find(text="Pay")
    assert pay is not None and pay.id == "pay" and pay.bounds is not None and pay.bounds.center == (50, 25)
    assert [element.text for element in screen.find_all(text="Tea")] == ["Tea", None]
    assert [element.text for element in screen.find_all(id="row", role="Row")] == ["Tea", None]
    assert screen.find(text="Tea", id="pay") is None
    assert screen.element_at(99, 49) is pay
    assert screen.element_at(100, 50) is screen.root
    assert screen.element_at(5000, 0) is None
    empty = ScreenState()
    assert (empty.elements, empty.find(text="Pay"), empty.element_at(0, 0)) == ((Element(),), None, None)


def test_a_deep_tree_can_be_walked() -> None:
    element = Element()
    for _ in range(10_000):
        element = Element(children=(element,))
    assert sum(1 for _ in element.walk()) == 10_001


@pytest.mark.parametrize("name", [name for name in types.__all__ if isinstance(getattr(types, name), type)])
def test_answers_are_frozen_dataclasses_with_defaults(name: str) -> None:
    message = getattr(types, name)
    value = message()
    assert dataclasses.is_dataclass(message) and not hasattr(value, "__dict__")
    assert value == message.from_json({}) == message.from_json({"unknown": 1})
    for field in dataclasses.fields(message):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, field.name, None)
    assert dataclasses.replace(value) == value


def test_answers_can_be_compared_and_hashed() -> None:
    one, other = (ScreenState.from_json(SCREEN) for _ in range(2))
    assert one == other and hash(one) == hash(other) and one is not other
    assert ActionResult(success=True) != ActionResult()


def test_a_registry_merges_modules() -> None:
    shared = TrailblazeToolRegistry(
        tools={"shared_wait": ToolMetadata()}, server_info=ServerInfo(name="shared", version="1")
    )
    mine = TrailblazeToolRegistry(tools={"acme_pay": ToolMetadata(is_recordable=False, platforms=("ios",))})
    text = registry(shared, mine, shared, groups={"auth": GroupInfo(description="Signing in.")})
    assert json.loads(text) == {
        "tools": {"shared_wait": {}, "acme_pay": {"platforms": ["ios"], "isRecordable": False}},
        "groups": {"auth": {"description": "Signing in."}},
        "serverInfo": {"name": "shared", "version": "1"},
    }
    assert json.loads(registry(server_info=ServerInfo(name="acme")))["serverInfo"]["name"] == "acme"
    again = TrailblazeToolRegistry.from_json(json.loads(text))
    assert again.tools["acme_pay"] == mine.tools["acme_pay"]


def test_a_registry_refuses_a_tool_that_two_modules_describe_differently() -> None:
    mine = TrailblazeToolRegistry(tools={"acme_pay": ToolMetadata(is_recordable=False)})
    with pytest.raises(ValueError, match="the tool `acme_pay` is described twice"):
        registry(mine, tools={"acme_pay": ToolMetadata()})


def test_without_an_mcp_library_results_are_as_mcp_sends_them() -> None:
    assert result.success("paid", {"total": 4}) == {
        "content": [{"type": "text", "text": "paid"}],
        "isError": False,
        "structuredContent": {"total": 4},
        "_meta": {"trailblaze": {"variant": "Success"}},
    }
    failed = result.fatal_error("no account")
    assert failed["isError"] and failed["_meta"] == {"trailblaze": {"variant": "FatalError"}}
    with pytest.raises(ValueError, match="a delegate needs the name of a `tool`"):
        result.delegates([{"tool": ""}])
    with pytest.raises(TypeError, match="must be a list of names"):
        result.missing_required_args("email")
    with pytest.raises(TypeError, match="must be a list of names"):
        result.success(forget="cart")
