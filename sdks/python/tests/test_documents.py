"""The examples of the documents run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PARTS, REPOSITORY, need
from test_daemon import FakeDaemon
from test_listings import serving
from test_plugin import WALLET, pytest_in

from trailblaze import ActionFailed
from trailblaze._serve import Server

README = Path(__file__).parents[1] / "README.md"
PAGE = REPOSITORY / "docs" / "python.md"


def examples(document: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL)


def write(folder: Path, example: str) -> Path:
    """An example as a server."""
    path = folder / "server.py"
    main = '\n\nif __name__ == "__main__":\n    server.run()\n'
    path.write_text(example if "__main__" in example else example + main)
    return path


@pytest.mark.parametrize("document", [README, PAGE], ids=["readme", "page"])
def test_the_tool_signs_in(tmp_path: Path, program: Path, document: Path) -> None:
    python = need(PARTS / "python" / "bin" / "python")
    with serving(program, tmp_path, python, str(write(tmp_path, examples(document)[0]))) as tb:
        tb.launch_app("com.acme.driver")
        assert tb.call_tool("acme_signIn", {"email": "ada"}).structured == {"success": True}


@pytest.mark.parametrize("document", [README, PAGE], ids=["readme", "page"])
def test_the_program_finds_the_session(document: Path) -> None:
    daemon = FakeDaemon("trailblaze", "acme")
    env = {"PYTHONPATH": str(README.parent / "src"), "XDG_RUNTIME_DIR": str(daemon.folder.parent)}
    program = [sys.executable, "-c", examples(document)[1]]
    done = subprocess.run(program, env=env, capture_output=True, text=True, timeout=60)
    daemon.kill()
    assert done.returncode == 0, done.stderr
    assert daemon.server.last.headers["authorization"] == "Bearer key-of-acme"


@pytest.mark.parametrize("document", [README, PAGE], ids=["readme", "page"])
def test_the_program_prints_what_is_on_the_screen(tmp_path: Path, program: Path, document: Path) -> None:
    with Server("android/sim-1", Path(WALLET), str(program)) as server:
        target = server.client._target  # pyright: ignore[reportPrivateUsage]
        (tmp_path / "key.txt").write_text(target.authorization.split()[-1] + "\n")
        example = examples(document)[2].replace("localhost:52525", target.name)
        paths = {"PYTHONPATH": str(README.parent / "src")}
        done = subprocess.run(
            [sys.executable, "-c", example], cwd=tmp_path, env=paths, capture_output=True, text=True, timeout=60
        )
    assert "Sign in" in done.stdout, done.stderr


@pytest.mark.parametrize("document", [README, PAGE], ids=["readme", "page"])
def test_the_test_passes(tmp_path: Path, program: Path, document: Path) -> None:
    tests = examples(document)[3]
    output = pytest_in(tmp_path, tests, program, f"--trailblaze-project={WALLET}").communicate(timeout=120)[0]
    assert "1 passed" in output, output


def test_results_and_delegates(tmp_path: Path, program: Path) -> None:
    python = need(PARTS / "python" / "bin" / "python")
    with serving(program, tmp_path, python, str(write(tmp_path, examples(PAGE)[5]))) as tb:
        assert tb.call_tool("acme_newEmail", {"name": "ada"}).message == "ada@example.com"
        assert tb.dump_memory()["email"] == "ada@example.com"
        tb.launch_app("com.acme.driver")
        login = tb.capture_screen().find(text="Login")
        assert login is not None and login.bounds is not None
        tb.call_tool("acme_tapAt", dict(zip("xy", login.bounds.center)))
        assert tb.is_visible("Dashboard")
        with pytest.raises(ActionFailed, match="nothing is at 5000, 5000") as raised:
            tb.call_tool("acme_tapAt", {"x": 5000, "y": 5000})
        assert raised.value.variant == "FatalError"
        [metadata] = [tool.metadata for tool in tb.list_tools().tools if tool.name == "acme_tapAt"]
        assert metadata.is_delegating
