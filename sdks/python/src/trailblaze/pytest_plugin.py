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
    from typing import Any

    from . import SyncTrailblazeClient

_DEVICE = "android/sim-1"
_SCOPES = ("function", "class", "module", "package", "session")
_RUN_FOLDER = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("trailblaze")
    group.addoption("--trailblaze-device", help=f"the device of the fixture `trailblaze` (default: {_DEVICE})")
    group.addoption("--trailblaze-project", help="the folder of trailblaze.yaml (default: found from the root of the tests upward)")  # fmt: skip
    parser.addini("trailblaze_device", "the device of the fixture `trailblaze`", default="")
    parser.addini("trailblaze_project", "the folder of trailblaze.yaml, relative to this file", default="")
    parser.addini("trailblaze_scope", "how long the fixture `trailblaze` lives: function, class, module, package or session", default="function")  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    # An error in `_scope` itself would be reported as a bug of pytest.
    scope = _scope("trailblaze", config)
    if scope not in _SCOPES:
        raise pytest.UsageError(f"`trailblaze_scope` is `{scope}`; it must be one of {', '.join(_SCOPES)}")


def _scope(fixture_name: str, config: pytest.Config) -> str:
    return str(config.getini("trailblaze_scope"))


# `wrapper=True` needs pytest 8.
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    report: pytest.TestReport = (yield).get_result()
    if report.failed and "trailblaze" in getattr(item, "fixturenames", ()):
        # The session belongs to the test, or to what contains it, depending on its scope.
        folders = [node.stash[_RUN_FOLDER] for node in item.listchain() if _RUN_FOLDER in node.stash]
        report.sections.extend(("Trailblaze", f"The run folder of the session: {folder}") for folder in folders)


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
def trailblaze(
    request: pytest.FixtureRequest, trailblaze_device: str, trailblaze_project: Path
) -> Generator[SyncTrailblazeClient, None, None]:
    """A client on a simulated device."""
    from ._serve import Server, ServerError

    try:
        server = Server(trailblaze_device, trailblaze_project, os.environ.get("TRAILBLAZE_BIN"))
    except ServerError as error:
        pytest.fail(str(error), pytrace=False)
    if server.run_folder is not None:
        request.node.stash[_RUN_FOLDER] = server.run_folder
    with server:
        yield server.client
