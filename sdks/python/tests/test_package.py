"""The package itself: what importing it costs, its types, and what is built from it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import PARTS, REPOSITORY, need

ROOT = Path(__file__).parents[1]


def run(*command: object, cwd: Path = ROOT, **more: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **more}
    return subprocess.run([str(word) for word in command], cwd=cwd, env=env, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("client", ["TrailblazeClient", "SyncTrailblazeClient"])
def test_importing_a_client_imports_nothing_slow(client: str) -> None:
    slow = {"asyncio", "dataclasses", "email", "http", "inspect", "ssl", "typing", "urllib"}
    program = f"import sys; from trailblaze import {client}; print(*sys.modules)"
    # Without `site`, which may import anything.
    done = run(sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r}); {program}")
    assert done.returncode == 0, done.stderr
    assert slow.isdisjoint(done.stdout.split())


def test_all_names_can_be_imported_and_listed() -> None:
    program = """
import trailblaze
from trailblaze import *
names = {name for name in dir(trailblaze) if not name.startswith("_")} - {"annotations", "TYPE_CHECKING"}
missing = [name for name in names if not hasattr(trailblaze, name)]
assert not missing, missing
assert {"TrailblazeClient", "ScreenState", "Direction", "registry", "AssertionFailed"} <= names
assert ScreenState is trailblaze.ScreenState and result.success is trailblaze.result.success
try:
    trailblaze.Nonsense
except AttributeError as error:
    assert "has no attribute 'Nonsense'" in str(error)
"""
    done = run(sys.executable, "-W", "error", "-c", program)
    assert done.returncode == 0, done.stderr


def pyright(*arguments: object) -> subprocess.CompletedProcess[str]:
    node = need(PARTS / "node" / "node_modules" / "node" / "bin" / "node")
    program = need(Path(os.environ.get("PYRIGHT", PARTS / "node" / "node_modules" / "pyright" / "index.js")))
    return run(node, program, "--pythonpath", sys.executable, *arguments)


def test_the_package_and_its_example_pass_a_strict_type_check() -> None:
    done = pyright("--project", ROOT)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("    def tap(", "    def press(", 'Cannot access attribute "tap"'),
        ("        long_press: bool | None = None,\n", "", 'No parameter named "long_press"'),
        ("package_id: str, *", "app: str, *", 'No parameter named "package_id"'),
        ("    def swipe(", "    def drag(", 'Cannot access attribute "swipe"'),
        ("Any, ScreenState]:", "Any, ActionResult]:", 'Cannot access attribute "elements"'),
    ],
)
def test_a_renamed_command_or_parameter_fails_the_type_check(tmp_path: Path, old: str, new: str, words: str) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src")
    shutil.copytree(ROOT / "tests" / "types", tmp_path / "types")
    (tmp_path / "pyrightconfig.json").write_text('{"include": ["types"], "strict": ["types"], "extraPaths": ["src"]}')
    commands = tmp_path / "src" / "trailblaze" / "_generated" / "commands.py"
    text = commands.read_text(encoding="utf-8")
    assert old in text
    commands.write_text(text.replace(old, new, 1), encoding="utf-8")
    done = pyright("--project", tmp_path)
    assert done.returncode == 1 and words in done.stdout, done.stdout


def test_the_version_is_that_of_the_workspace() -> None:
    workspace = (REPOSITORY / "Cargo.toml").read_text(encoding="utf-8")
    version = re.search(r'^version = "(.*)"$', workspace, re.MULTILINE)
    assert version is not None
    assert f'__version__ = "{version[1]}"' in (ROOT / "src" / "trailblaze" / "__init__.py").read_text(encoding="utf-8")


def test_the_wheel_and_the_source_distribution_can_be_installed(tmp_path: Path) -> None:
    if not os.environ.get("CI"):
        pytest.importorskip("hatchling")
    source = tmp_path / "source"
    ignored = shutil.ignore_patterns("__pycache__", "dist")
    shutil.copytree(ROOT, source, ignore=ignored)
    built = run(sys.executable, "-m", "hatchling", "build", cwd=source)
    assert built.returncode == 0, built.stdout + built.stderr
    [wheel], [sdist] = (list((source / "dist").glob(pattern)) for pattern in ("*.whl", "*.tar.gz"))
    names = zipfile.ZipFile(wheel).namelist()
    for name in ("trailblaze/py.typed", "trailblaze/_generated/commands.py", "trailblaze/pytest_plugin.py"):
        assert name in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    is_own = {"trailblaze/pytest_plugin.py", "trailblaze/testing.py"}.__contains__
    assert not [name for name in names if "test" in name and not is_own(name)]
    for number, package in enumerate((wheel, sdist)):
        folder = tmp_path / f"installed-{number}"
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
        installed = run(*pip, "--no-build-isolation", "--target", folder, package)
        assert installed.returncode == 0, installed.stderr
        program = "import trailblaze; print(trailblaze.__file__); trailblaze.TrailblazeClient('localhost:1')"
        done = run(sys.executable, "-c", program, cwd=tmp_path, PYTHONPATH=str(folder))
        assert done.returncode == 0 and str(folder) in done.stdout, done.stderr
        # pytest finds the plugin by itself.
        done = run(sys.executable, "-m", "pytest", "--fixtures", "-q", cwd=tmp_path, PYTHONPATH=str(folder))
        assert "A client on a simulated device." in done.stdout, done.stdout
