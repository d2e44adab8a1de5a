"""The pytest plugin, in a pytest of its own."""

from __future__ import annotations

import os
import re
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import REPOSITORY

SRC = Path(__file__).parents[1] / "src"


def pytest_in(folder: Path, tests: str, program: object, *arguments: str) -> subprocess.Popen[str]:
    (folder / "test_it.py").write_text(tests)
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-p", "trailblaze.pytest_plugin", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(SRC), "TRAILBLAZE_BIN": str(program)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


WALLET = str(REPOSITORY / "examples" / "wallet")

TESTS = """
def test_the_app_starts(trailblaze):
    trailblaze.launch_app()
    trailblaze.assert_visible(text="Sign in")
    trailblaze.remember("seen", "yes")
    assert trailblaze.platform == "android" and trailblaze.maestro is not None

def test_another_device(trailblaze):
    assert "seen" not in trailblaze.dump_memory()
    assert not trailblaze.is_visible("Sign in")

def test_a_failed_assertion_is_a_failed_test(trailblaze):
    trailblaze.assert_visible(text="Nothing like it", timeout_ms=1)
"""


def test_each_test_has_a_device_of_its_own(tmp_path: Path, program: Path) -> None:
    output = pytest_in(tmp_path, TESTS, program, f"--trailblaze-project={WALLET}").communicate(timeout=120)[0]
    assert "1 failed, 2 passed" in output, output
    assert "AssertionFailed" in output
    [folder] = re.findall(r"The run folder of the session: (.+)", output)
    assert "Nothing like it" in (Path(folder) / "events.jsonl").read_text()


def test_tests_can_share_a_device(tmp_path: Path, program: Path) -> None:
    (tmp_path / "pytest.ini").write_text(
        f"[pytest]\ntrailblaze_scope = session\ntrailblaze_device = ios/sim-1\ntrailblaze_project = {WALLET}\n"
    )
    tests = """
def test_one(trailblaze):
    trailblaze.remember("seen", "yes")

def test_other(trailblaze):
    assert trailblaze.dump_memory()["seen"] == "yes"
    assert trailblaze.platform == "ios"

def test_a_failure(trailblaze):
    raise ValueError

def test_a_failure_without_a_device():
    raise ValueError
"""
    output = pytest_in(tmp_path, tests, program).communicate(timeout=120)[0]
    assert "2 failed, 2 passed" in output, output
    assert output.count("The run folder of the session: ") == 1, output


def test_an_unknown_scope_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\ntrailblaze_scope = forever\n")
    child = pytest_in(tmp_path, "def test_it(trailblaze):\n    pass\n", "trailblaze")
    output = child.communicate(timeout=60)[0]
    expected = "ERROR: `trailblaze_scope` is `forever`; it must be one of function, class, module, package, session"
    assert expected in output and "INTERNALERROR" not in output, output
    assert child.returncode == pytest.ExitCode.USAGE_ERROR


def test_nothing_is_left_when_pytest_is_killed(tmp_path: Path, program: Path) -> None:
    tests = """
import time
def test_it(trailblaze):
    print("ready", trailblaze._target.port, flush=True)
    time.sleep(600)
"""
    child = pytest_in(tmp_path, tests, program, "-s", f"--trailblaze-project={WALLET}")
    assert child.stdout is not None
    line = next(line for line in child.stdout if "ready" in line)
    port = int(line.split()[-1])
    socket.create_connection(("127.0.0.1", port), 5).close()
    child.kill()
    child.wait()
    deadline = time.monotonic() + 30
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 5).close()
        except ConnectionRefusedError:
            break
        assert time.monotonic() < deadline, "the server still runs"
        time.sleep(0.05)
    child.stdout.close()


def test_a_program_that_is_missing_is_named(tmp_path: Path) -> None:
    tests = "def test_it(trailblaze):\n    pass\n"
    output = pytest_in(tmp_path, tests, tmp_path / "nothing").communicate(timeout=60)[0]
    assert "was not found; install Trailblaze, or set TRAILBLAZE_BIN to its path" in output


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo 'error: no device `android/sim-1`' >&2; exit 3", ["did not start (exit status 3):", "error: no device"]),
        ("echo nonsense", ["did not start"]),
        ('echo \'{"address": "http://127.0.0.1:1"}\'', ["did not start"]),
    ],
)
def test_a_server_that_does_not_start_is_explained(tmp_path: Path, script: str, words: list[str]) -> None:
    program = tmp_path / "trailblaze"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    tests = "def test_it(trailblaze):\n    pass\n"
    output = pytest_in(tmp_path, tests, program).communicate(timeout=60)[0]
    for word in words:
        assert word in output, output
