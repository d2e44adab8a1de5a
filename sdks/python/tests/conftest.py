"""What tests share: a fake server, and both clients behind one interface."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fake import FakeServer

from trailblaze import SyncTrailblazeClient, TrailblazeClient

REPOSITORY = Path(__file__).parents[3]
PARTS = Path(os.environ.get("TRAILBLAZE_PARTS", REPOSITORY / ".parts"))
"""What `scripts/parts` installs."""


def need(path: Path, hint: str = "`scripts/parts` installs it") -> Path:
    """Something that a test uses. If it is missing, the test is skipped; in CI, it fails."""
    if not path.exists():
        if os.environ.get("CI"):
            pytest.fail(f"{path} does not exist; {hint}")
        pytest.skip(f"{path} does not exist; {hint}")
    return path


class Style:
    """A client, and how to wait for what its methods return."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.client_type: type[Any] = TrailblazeClient if name == "async" else SyncTrailblazeClient
        self.loop = asyncio.new_event_loop() if name == "async" else None

    def client(self, *args: Any, **kwargs: Any) -> Any:
        return self.client_type(*args, **kwargs)

    def run(self, value: Any) -> Any:
        """The result of a call."""
        if self.loop is None:
            return value
        assert inspect.isawaitable(value)
        return self.loop.run_until_complete(value)

    def take(self, generator: Any, count: int | None = None) -> list[Any]:
        """The first messages of a stream, or all of them. Then it is closed."""
        taken: list[Any] = []
        if self.loop is None:
            for item in generator:
                taken.append(item)
                if len(taken) == count:
                    break
            generator.close()
            return taken

        async def collect() -> None:
            async for item in generator:
                taken.append(item)
                if len(taken) == count:
                    break
            await generator.aclose()

        self.loop.run_until_complete(collect())
        return taken

    def close(self) -> None:
        if self.loop is not None:
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
            self.loop.close()


@pytest.fixture(params=["async", "sync"])
def style(request: pytest.FixtureRequest) -> Iterator[Style]:
    style = Style(request.param)
    yield style
    style.close()


@pytest.fixture(scope="session")
def program() -> Path:
    """The real Trailblaze."""
    path = Path(os.environ.get("TRAILBLAZE_BIN", REPOSITORY / "target" / "debug" / "trailblaze"))
    return need(path, "`cargo build -p trailblaze` builds it")


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as server:
        yield server


@pytest.fixture(autouse=True)
def outside_of_a_tool_server(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.delenv("TRAILBLAZE_BASE_URL", raising=False)
    monkeypatch.delenv("TRAILBLAZE_SESSION", raising=False)
    # Without the daemon of who runs the tests, and without one that outlives them.
    monkeypatch.setenv("TRAILBLAZE_FRESH", "1")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
