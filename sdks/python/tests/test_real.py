"""Against the real Trailblaze, on a simulated phone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import REPOSITORY, Style

from trailblaze import ActionFailed, ApiError, AssertionFailed, DeadlineExceeded, SyncTrailblazeClient, TrailblazeClient
from trailblaze._serve import Server


@pytest.fixture(scope="module")
def real(program: Path) -> Iterator[SyncTrailblazeClient]:
    with Server("android/sim-1", REPOSITORY / "examples" / "wallet", str(program)) as server:
        yield server.client


def again(style: Style, real: SyncTrailblazeClient, **more: str) -> object:
    """A client of the same session."""
    target = real._target  # pyright: ignore[reportPrivateUsage]
    return style.client(target.name, key=target.authorization.split()[-1], platform=real.platform, **more)


def test_a_flow_of_commands(style: Style, real: SyncTrailblazeClient) -> None:
    tb = again(style, real)
    session = style.run(tb.get_session())
    assert session.device.id == "android/sim-1" and session.device.platform == "android" == tb.platform

    assert style.run(tb.launch_app()).success
    screen = style.run(tb.capture_screen())
    assert (screen.platform, screen.width, screen.height) == ("android", 1080, 2400)
    assert screen.find(text="Sign in") is not None and screen.picture is None
    email = screen.find(text="Email")
    assert email is not None and email.bounds is not None
    assert screen.element_at(*email.bounds.center) == email
    style.run(tb.tap(*email.bounds.center))
    style.run(tb.input_text("ada@example.com"))
    style.run(tb.tap(id="pin"))
    style.run(tb.input_text("1234"))
    style.run(tb.tap(text="Sign in"))
    style.run(tb.wait_until_visible("Activity", 5000))
    assert style.run(tb.is_visible(text="Home")) is True
    assert style.run(tb.is_visible(text="Nothing like it")) is False
    assert style.run(tb.get_element_text("nothing-like-it")) is None
    assert style.run(tb.get_element_count(id="nothing-like-it")) == 0
    assert style.run(tb.capture_screen(picture=True)).picture.data.startswith(b"\x89PNG")
    assert tb.playwright is None
    assert style.run(tb.maestro.scroll("down")).success
    model = style.run(tb.maestro.adb_shell("getprop ro.product.model"))
    assert (model.output, model.exit_code) == ("Trailblaze Sim\n", 0)
    assert style.run(tb.maestro.adb_shell("reboot now")).exit_code == 127


def test_memory_and_tools(style: Style, real: SyncTrailblazeClient) -> None:
    tb = again(style, real)
    style.run(tb.remember("user", "ada"))
    assert style.run(tb.dump_memory())["user"] == "ada"
    style.run(tb.forget("user"))
    assert "user" not in style.run(tb.dump_memory())
    assert "wallet_signIn" in {tool.name for tool in style.run(tb.list_tools()).tools}
    assert style.run(tb.call_tool("remember", {"variable": "a", "value": "b"})).success
    assert style.run(tb.reload_tools()).total > 0
    assert [device.id for device in style.run(tb.list_devices()).devices] == ["android/sim-1"]


def test_failures(style: Style, real: SyncTrailblazeClient) -> None:
    tb = again(style, real)
    with pytest.raises(ActionFailed, match="nothing on the screen has the text"):
        style.run(tb.tap(text="Nothing like it", timeout_ms=1))
    with pytest.raises(AssertionFailed, match="nothing on the screen has the text") as raised:
        style.run(tb.assert_visible(text="Nothing like it", timeout_ms=1))
    assert raised.value.variant == "AssertionFailed"
    with pytest.raises(ApiError, match="`direction` must be one of UP") as refused:
        style.run(tb.maestro.swipe("sideways"))
    assert refused.value.code == "invalid_argument"
    with pytest.raises(ApiError) as unknown:
        style.run(tb.call_tool("nothing_likeIt"))
    assert "nothing_likeIt" in unknown.value.message
    for client in (again(style, real, session_id="s-nothing"), again(style, real, invocation_id="c-nothing")):
        with pytest.raises(ApiError) as refused:
            style.run(client.tap(1, 2))
        assert refused.value.code in ("not_found", "permission_denied")
    target = real._target  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(ApiError) as refused:
        style.run(style.client(target.name, key="wrong").tap(1, 2))
    assert refused.value.code in ("not_found", "permission_denied", "unauthenticated")
    with pytest.raises(ApiError) as refused:
        style.run(tb.ask_llm("Is it green?"))
    assert refused.value.code == "failed_precondition"
    with pytest.raises(DeadlineExceeded):
        style.run(tb.wait_until_visible("Nothing like it", 5000, timeout=0.1))


def test_events_are_followed_and_resumed(style: Style, real: SyncTrailblazeClient) -> None:
    tb = again(style, real)
    style.run(tb.is_visible("Pay"))
    first = style.take(tb.watch_events(), 2)
    assert [event.number for event in first] == [1, 2]
    assert all(json.loads(event.json) for event in first)
    assert style.take(tb.watch_events(after=1), 1)[0] == first[1]
    assert style.take(tb.watch_devices(), 1)[0].devices[0].id == "android/sim-1"


def test_many_tasks_call_at_the_same_time(real: SyncTrailblazeClient) -> None:
    target = real._target  # pyright: ignore[reportPrivateUsage]

    async def main() -> None:
        async with TrailblazeClient(target.name, key=target.authorization.split()[-1]) as tb:
            assert await asyncio.gather(*[tb.is_visible("Nothing like it") for _ in range(40)]) == [False] * 40

    asyncio.run(main())
