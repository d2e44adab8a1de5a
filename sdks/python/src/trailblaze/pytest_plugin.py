"""A pytest plugin: the fixture `trailblaze` is a client on a simulated device.

    def test_sign_in(trailblaze):
        trailblaze.launch_app()
        trailblaze.tap(text="PIN")
        trailblaze.input_text("1234")
        trailblaze.assert_visible(text="Sign in")

Each test gets a device of its own, unless the option `trailblaze_scope` says otherwise. The program is `trailblaze` on
the PATH, or what TRAILBLAZE_BIN names.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator

    from . import SyncTrailblazeClient

_DEVICE = "android/sim-1"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("trailblaze")
    group.addoption("--trailblaze-device", help=f"the device of the fixture `trailblaze` (default: {_DEVICE})")
    group.addoption("--trailblaze-project", help="the folder of trailblaze.yaml (default: found from the root of the tests upward)")  # fmt: skip
    parser.addini("trailblaze_device", "the device of the fixture `trailblaze`", default="")
    parser.addini("trailblaze_project", "the folder of trailblaze.yaml, relative to this file", default="")
    parser.addini("trailblaze_scope", "how long the fixture `trailblaze` lives: function, class, module, package or session", default="function")  # fmt: skip


def _scope(fixture_name: str, config: pytest.Config) -> str:
    scope = str(config.getini("trailblaze_scope"))
    if scope not in ("function", "class", "module", "package", "session"):
        raise pytest.UsageError(f"trailblaze_scope is `{scope}`, which is not the scope of a fixture")
    return scope


@pytest.fixture(scope="session")
def trailblaze_device(pytestconfig: pytest.Config) -> str:
    """The device of the fixture `trailblaze`. Override it to choose another one."""
    return str(pytestconfig.getoption("--trailblaze-device") or pytestconfig.getini("trailblaze_device") or _DEVICE)


@pytest.fixture(scope="session")
def trailblaze_project(pytestconfig: pytest.Config) -> Path:
    """The folder that the fixture `trailblaze` runs Trailblaze in. Override it to choose another one."""
    if given := pytestconfig.getoption("--trailblaze-project"):
        return Path(given)
    if named := pytestconfig.getini("trailblaze_project"):
        return Path(pytestconfig.inipath or pytestconfig.rootpath).parent / str(named)
    root = pytestconfig.rootpath
    return next((folder for folder in (root, *root.parents) if (folder / "trailblaze.yaml").is_file()), root)


@pytest.fixture(scope=_scope)  # pyright: ignore[reportArgumentType, reportCallIssue, reportUntypedFunctionDecorator]
def trailblaze(trailblaze_device: str, trailblaze_project: Path) -> Generator[SyncTrailblazeClient, None, None]:
    """A client on a simulated device."""
    from ._serve import Server, ServerError

    try:
        server = Server(trailblaze_device, trailblaze_project, os.environ.get("TRAILBLAZE_BIN"))
    except ServerError as error:
        pytest.fail(str(error), pytrace=False)
    with server:
        yield server.client
