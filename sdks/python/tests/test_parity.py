"""The cases of tests/parity against the real program: from outside of a tool, and inside one."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import PARTS, REPOSITORY, Style, need
from parity_cases import PARITY, answer, call, cases_on, failure, is_possible

from trailblaze import SyncTrailblazeClient
from trailblaze._serve import Server

DEVICES = ["android/sim-1", "ios/sim-1", "web/sim-1", "desktop/sim-1"]

SERVER = '''
from fastmcp import Context, FastMCP
from parity_cases import answer, call, cases_on, failure, is_possible
from trailblaze import TrailblazeClient
import json

server = FastMCP("parity")


@server.tool
async def parity_answers(ctx: Context) -> str:
    tb = TrailblazeClient.from_context(ctx)
    wrong = []
    for case in filter(is_possible, cases_on(tb.device_id)):
        try:
            got = answer(case, await call(tb, case))
        except Exception as error:
            got = failure(error)
        if got != case["answer"]:
            wrong.append({"name": case["name"], "got": got, "expected": case["answer"]})
    return json.dumps(wrong)


server.run(show_banner=False)
'''


@pytest.mark.parametrize("device", DEVICES)
def test_a_session_with_its_key_answers_as_every_client_does(
    style: Style, device: str, program: Path, tmp_path: Path
) -> None:
    project = shutil.copytree(PARITY / "project", tmp_path / "project")
    with Server(device, project, str(program)) as server:
        tb = again(style, server.client)
        for case in filter(is_possible, cases_on(device)):
            try:
                got = answer(case, style.run(call(tb, case)))
            except Exception as error:
                got = failure(error)
            assert got == case["answer"], case["name"]


def again(style: Style, client: SyncTrailblazeClient) -> object:
    target = client._target  # pyright: ignore[reportPrivateUsage]
    # Without its platform, a client has all groups.
    return style.client(target.name, key=target.authorization.split()[-1])


@pytest.mark.parametrize("device", DEVICES)
def test_a_tool_answers_as_every_client_does(device: str, program: Path, tmp_path: Path) -> None:
    python = need(PARTS / "python/bin/python")
    project = shutil.copytree(PARITY / "project", tmp_path / "project")
    (project / "server.py").write_text(SERVER)
    path = f"{REPOSITORY / 'sdks/python/src'}:{REPOSITORY / 'sdks/python/tests'}"
    entry = {"name": "parity", "command": str(python), "args": ["server.py"], "env": {"PYTHONPATH": path}}
    with (project / "trailblaze.yaml").open("a") as file:
        file.write(f"mcpServers: {json.dumps([entry])}\n")
    command = [str(program), "tool", "parity_answers", "-d", device]
    ran = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == [], ran.stdout
