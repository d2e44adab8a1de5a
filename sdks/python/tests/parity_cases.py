"""The cases of tests/parity, which every protocol and client answers alike, with this package."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from trailblaze import ActionFailed, ApiError, AssertionFailed

PARITY = Path(__file__).parents[3] / "tests" / "parity"


def cases_on(device: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((PARITY / "cases.json").read_text())
    return [case for case in cases if case["on"] == device]


def is_possible(case: dict[str, Any]) -> bool:
    """A required argument cannot be left out in Python: that is a TypeError, and nothing is sent."""
    return "missing argument" not in case["answer"].get("message", "")


def call(tb: Any, case: dict[str, Any]) -> Any:
    """What the method of the case returns: a value, or something to be awaited."""
    service, rpc = case["method"].split("/")
    groups = {"MaestroCommands": tb.maestro, "PlaywrightCommands": tb.playwright, "DesktopCommands": tb.desktop}
    group = groups.get(service, tb)
    if group is None:
        # A group that the device lacks is absent; its commands can be called by name.
        return tb.call_tool(rpc[0].lower() + rpc[1:], case["params"])
    params = {snake(name): value for name, value in case["params"].items()}
    return getattr(group, snake(rpc))(**params)


def answer(case: dict[str, Any], returned: Any) -> dict[str, Any]:
    """What a method returned, in the form that all clients are compared in."""
    rpc = case["method"].split("/")[1]
    if rpc == "CaptureScreen":
        fields = {name: getattr(returned, name) for name in ("platform", "width", "height", "app")}
        texts = [element.text for element in returned.root.walk() if element.text is not None]
        picture = returned.picture
        return {"ok": {**fields, "texts": texts, "picture": None if picture is None else picture.mime}}
    if rpc == "AdbShell":
        return {"ok": {"output": returned.output, "exitCode": returned.exit_code}}
    if rpc == "Windows":
        return {"ok": [[w.id, w.title, w.app, w.bounds.right, w.bounds.bottom, w.active] for w in returned.windows]}
    if hasattr(returned, "success"):
        return {"ok": getattr(returned, "structured", None)}
    return {"ok": returned}


def failure(error: Exception) -> dict[str, Any]:
    """The same for what it raised."""
    if isinstance(error, (ActionFailed, AssertionFailed)):
        return {"failed": error.variant, "message": re.sub(r" within [\d.]+ s", "", error.message)}
    if isinstance(error, ApiError):
        return {"error": error.code, "message": error.message}
    raise error


def snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
