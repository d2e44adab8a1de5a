"""The listings of the specification, with nothing but their imports changed, as tool servers of a real project."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import PARTS, need

from trailblaze import ActionFailed, AssertionFailed, SyncTrailblazeClient
from trailblaze._serve import Server

HERE = Path(__file__).parent
LISTINGS = HERE / "listings"
APP = "com.acme.driver"


@pytest.fixture(params=["python", "fastmcp2"])
def python(request: pytest.FixtureRequest) -> Path:
    """Python with FastMCP 4, and with FastMCP 2."""
    return need(PARTS / request.param / "bin" / "python")


def configure(folder: Path, python: Path, listing: str, devices: list[str]) -> None:
    """Makes a project whose tool server is a listing."""
    (folder / "driver.app.yaml").write_text((LISTINGS / "driver.app.yaml").read_text())
    (folder / "trailblaze.yaml").write_text(
        f"""
devices: [{", ".join(f"{{id: {device}}}" for device in devices)}]
sim: {{apps: [driver.app.yaml]}}
mcpServers:
  listing:
    command: {python}
    args: [{LISTINGS / listing}]
    context: meta
    env: {{PYTHONPATH: {HERE.parent / "src"}}}
"""
    )


@contextmanager
def serving(program: Path, folder: Path, python: Path, listing: str) -> Iterator[SyncTrailblazeClient]:
    """A session of such a project."""
    configure(folder, python, listing, ["android/sim-1"])
    with Server("android/sim-1", folder, str(program)) as server:
        yield server.client


def test_a_client_at_an_address(tmp_path: Path, program: Path, python: Path) -> None:
    with serving(program, tmp_path, python, "acme_tools_server.py") as tb:
        login = tb.call_tool("acme_driver_login", {"email": "ada", "password": "x"})
        assert login.structured == {"success": True}
        assert tb.is_visible("Go Online")
        assert tb.call_tool("acme_handle_onboarding").structured == {"screen": "returning_user"}
        assert not tb.is_visible("Accept Cookies")

        tb.launch_app(APP)
        assert tb.call_tool("acme_handle_onboarding").structured == {"screen": "new_user"}
        wrong = tb.call_tool("acme_login_with_retry", {"email": "nobody@example.com", "password": "wrong"})
        assert wrong.structured == {"success": False, "error": "invalid_credentials"}
        tb.launch_app(APP)
        right = tb.call_tool("acme_login_with_retry", {"email": "ada", "password": "x"})
        assert right.structured == {"success": True, "attempts": 1}

        with pytest.raises(ActionFailed, match='could not see text "Login Button"'):
            tb.call_tool("acme_query_and_assert")


def test_a_client_from_a_context(tmp_path: Path, program: Path, python: Path) -> None:
    with serving(program, tmp_path, python, "acme_tools.py") as tb:
        login = tb.call_tool("acme_driver_login", {"email": "ada", "password": "x"})
        assert login.structured == {"success": True}
        assert tb.get_element_text("email") == "adax"
        # What the registry of the listing says.
        [metadata] = [tool.metadata for tool in tb.list_tools().tools if tool.name == "acme_driver_login"]
        assert (metadata.groups, metadata.platforms) == (("auth",), ("android", "ios"))


def test_each_call_lands_on_its_own_device(tmp_path: Path, program: Path) -> None:
    # Several devices share one process of the server, which then serves over HTTP.
    python = need(PARTS / "python" / "bin" / "python")
    configure(tmp_path, python, "acme_tools.py", ["android/sim-1", "android/sim-2", "ios/sim-1"])
    (tmp_path / "trails").mkdir()
    # A call that went to another device would leave that one with more text, and this one with less.
    for user in ("ada", "grace", "alan"):
        (tmp_path / "trails" / f"{user}.trail.yaml").write_text(
            f"""
config: {{title: Sign in as {user}}}
trail:
  - step: Sign in
    tools:
      - acme_driver_login: {{email: {user}, password: x}}
      - assertVisible: {{id: email, expectedText: {user}x}}
"""
        )
    done = subprocess.run([program, "run"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 passed" in done.stdout + done.stderr, done.stdout + done.stderr


def test_a_blocking_tool(tmp_path: Path, program: Path) -> None:
    # FastMCP 2 refuses what the listing returns: nothing, where it declares a text.
    python = need(PARTS / "python" / "bin" / "python")
    with serving(program, tmp_path, python, "blocking.py") as tb:
        tb.launch_app(APP)
        assert tb.call_tool("my_tool", {"param": "x"}).success


REPLIES = """
replies:
  - {expect: {contains: What is on the screen?}, reply: {text: A sign-in form.}}
  - {expect: {contains: Is the button green?}, reply: {text: "Yes, it is."}}
"""


def test_tools_that_ask_a_model(tmp_path: Path, program: Path, python: Path) -> None:
    (tmp_path / "replies.yaml").write_text(REPLIES)
    configure(tmp_path, python, "asks_a_model.py", ["android/sim-1"])
    with (tmp_path / "trailblaze.yaml").open("a") as config:
        config.write("    sampling: true\nllm: {defaults: {model: scripted/replies.yaml}}\n")
    with Server("android/sim-1", tmp_path, str(program)) as server:
        analyzed = server.client.call_tool("analyze_screen", {"prompt": "What is on the screen?"})
        assert analyzed.structured == {"text": "A sign-in form.", "model": "scripted/replies.yaml"}
        verified = server.client.call_tool("verify_screen_color", {"expected_color": "green"})
        assert verified.structured == {"matches": True}


def test_a_tool_that_may_not_ask_a_model_is_told_so(tmp_path: Path, program: Path, python: Path) -> None:
    with serving(program, tmp_path, python, "asks_a_model.py") as tb:
        for tool, args in (("analyze_screen", {"prompt": "x"}), ("verify_screen_color", {"expected_color": "green"})):
            with pytest.raises(ActionFailed, match="may not ask a model: set `sampling: true` in the entry of its server"):
                tb.call_tool(tool, args)


def test_the_context_as_an_argument(tmp_path: Path, program: Path, python: Path) -> None:
    with serving(program, tmp_path, python, "delegating.py") as tb:
        login = tb.call_tool("acme_driver_login", {"email": "ada", "password": "x"})
        assert login.structured == {"success": True}
        login_button = tb.capture_screen().find(text="Login")
        assert login_button is not None and login_button.bounds is not None
        x, y = login_button.bounds.center
        assert tb.call_tool("acme_tap_by_coords", {"x": x, "y": y}).success
        assert tb.is_visible("Dashboard")
        tb.launch_app(APP)
        assert tb.call_tool("acme_smart_tap", {"description": "login"}).success
        assert tb.is_visible("Dashboard")


FORGETTING = """
from fastmcp import Context, FastMCP
from trailblaze import TrailblazeClient

server = FastMCP("forgetting")


@server.tool
async def acme_forgets(ctx: Context) -> dict:
    TrailblazeClient.from_context(ctx).tap(text="Login")
    return {"success": True}


@server.tool
async def acme_works(ctx: Context) -> dict:
    await TrailblazeClient.from_context(ctx).tap(text="Login")
    return {"success": True}


server.run(show_banner=False)
"""


def test_a_tool_that_never_awaits_a_call_fails(tmp_path: Path, program: Path) -> None:
    (tmp_path / "forgetting.py").write_text(FORGETTING)
    with serving(program, tmp_path, need(PARTS / "python" / "bin" / "python"), str(tmp_path / "forgetting.py")) as tb:
        tb.launch_app(APP)
        with pytest.raises(ActionFailed, match="the tool called `Tap` and never awaited it, so nothing was done; .*forgetting.py:"):
            tb.call_tool("acme_forgets")
        assert not tb.is_visible("Dashboard")
        assert tb.call_tool("acme_works").success
        assert tb.is_visible("Dashboard")


ASSERTING = """
from fastmcp import Context, FastMCP
from trailblaze import TrailblazeClient, failure_middleware

server = FastMCP("asserting", middleware=[failure_middleware()])


@server.tool
async def acme_check(ctx: Context) -> dict:
    await TrailblazeClient.from_context(ctx).assert_visible(text="Nowhere", timeout_ms=0)
    return {"success": True}


server.run(show_banner=False)
"""


def test_a_failed_assertion_in_a_tool_is_recorded_as_one(tmp_path: Path, program: Path, python: Path) -> None:
    (tmp_path / "asserting.py").write_text(ASSERTING)
    configure(tmp_path, python, str(tmp_path / "asserting.py"), ["android/sim-1"])
    with Server("android/sim-1", tmp_path, str(program)) as server:
        with pytest.raises(AssertionFailed, match="Nowhere") as raised:
            server.client.call_tool("acme_check")
        assert raised.value.variant == "AssertionFailed"
