"""Clients that find the session of this user's daemon by themselves."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Style
from fake import FakeServer, Request, refuse, respond

from trailblaze import ApiError, ConnectionFailed

NO_SESSION = {"message": "no session is open", "hint": "`trailblaze device connect` opens one", "exit": "invalid", "isNoSession": True}  # fmt: skip


class FakeDaemon:
    """A daemon with sessions, and their typed API."""

    def __init__(self, program: str, *sessions: str) -> None:
        self.sessions = list(sessions)
        self.server = FakeServer(lambda request, _: self.answer(request))
        self.folder = Path(os.environ["XDG_RUNTIME_DIR"]) / "trailblaze"
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self.path = self.folder / f"{program}.daemon.json"
        about = {"version": "1", "pid": os.getpid(), "address": self.server.address, "key": f"key-of-{program}"}
        self.path.write_text(json.dumps(about))
        self.path.chmod(0o600)
        self.lock = self.path.open()
        fcntl.flock(self.lock, fcntl.LOCK_EX)

    def answer(self, request: Request) -> bytes:
        if request.path != "/daemon":
            is_known = request.headers.get("authorization", "")[len("Bearer key-of-") :] in self.sessions
            return respond({"success": True}) if is_known else refuse("unauthenticated", "unknown session key", 401)
        name = request.json["access"]["session"].get("name")
        fitting = [session for session in self.sessions if name in (None, session)]
        line: dict[str, Any] = {"error": NO_SESSION}
        if len(fitting) == 1:
            access = {"name": fitting[0], "address": self.server.address, "key": f"key-of-{fitting[0]}"}
            line = {"answer": {"access": {**access, "session": "s-1", "device": "android/sim-1"}}}
        elif fitting:
            names = ", ".join(f"`{name}`" for name in fitting)
            line = {"error": {"message": f"{len(fitting)} sessions are open: {names}", "hint": None, "exit": "invalid"}}
        lines = [json.dumps(line) for line in ({"progress": "opening"}, "alive", line)]
        return respond("\n".join([*lines, ""]).encode(), content_type="application/x-ndjson")

    def kill(self) -> None:
        self.lock.close()
        self.server.close()


@pytest.fixture
def daemon() -> Iterator[FakeDaemon]:
    daemon = FakeDaemon("trailblaze", "wallet")
    yield daemon
    daemon.kill()


def refused(style: Style, client: Any = None) -> ApiError:
    with pytest.raises(ApiError) as raised:
        style.run((client or style.client()).tap(1, 2))
    return raised.value


def test_the_only_session_is_used_and_looked_for_once(style: Style, daemon: FakeDaemon) -> None:
    tb = style.client()
    assert repr(tb) == f"{style.client_type.__name__}()"
    assert not daemon.server.requests
    for _ in range(2):
        style.run(tb.tap(1, 2))
    assert [request.path for request in daemon.server.requests] == ["/daemon"] + ["/trailblaze.v1.TrailblazeCommands/Tap"] * 2  # fmt: skip
    assert daemon.server.requests[0].headers["authorization"] == "Bearer key-of-trailblaze"
    assert daemon.server.last.headers["authorization"] == "Bearer key-of-wallet"
    assert repr(tb) == f"{style.client_type.__name__}('{daemon.server.address}')"


@pytest.mark.parametrize("context", [{}, {"_meta": {"progressToken": 1}}])
def test_a_tool_that_another_program_calls_uses_it_too(style: Style, daemon: FakeDaemon, context: Any) -> None:
    style.run(style.client_type.from_context(context).tap(1, 2))
    style.run(style.client(context={}).tap(1, 2))
    assert [request.headers["authorization"] for request in daemon.server.requests[1::2]] == ["Bearer key-of-wallet"] * 2


def test_of_several_sessions_the_variable_names_one(
    style: Style, daemon: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon.sessions.append("shop")
    problem = refused(style)
    assert problem.code == "failed_precondition"
    assert problem.message == "2 sessions are open: `wallet`, `shop`; set TRAILBLAZE_SESSION to the name of one"
    monkeypatch.setenv("TRAILBLAZE_SESSION", "shop")
    style.run(style.client().tap(1, 2))
    assert daemon.server.last.headers["authorization"] == "Bearer key-of-shop"
    monkeypatch.setenv("TRAILBLAZE_SESSION", "nothing")
    assert refused(style).message == "no session is open; `trailblaze device connect` opens one"


def test_the_daemons_of_other_programs_have_sessions_too(
    style: Style, daemon: FakeDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = FakeDaemon("acme", "driver")
    problem = refused(style).message
    assert problem == "session `driver` is open; session `wallet` is open; set TRAILBLAZE_SESSION to the name of one"
    monkeypatch.setenv("TRAILBLAZE_SESSION", "driver")
    style.run(style.client().tap(1, 2))
    assert other.server.last.headers["authorization"] == "Bearer key-of-driver"
    monkeypatch.delenv("TRAILBLAZE_SESSION")
    other.kill()
    style.run(style.client().tap(1, 2))
    assert daemon.server.last.headers["authorization"] == "Bearer key-of-wallet"


def test_without_a_daemon_a_call_says_how_to_open_a_session(style: Style) -> None:
    text = "no Trailblaze session is open; `trailblaze device connect` opens one"
    assert (refused(style).message, refused(style).code) == (text, "failed_precondition")
    daemon = FakeDaemon("trailblaze", "wallet")
    daemon.server.close()
    assert refused(style).message == text, "it has just ended"
    daemon.lock.close()
    assert refused(style).message == text, "it was killed"


def test_a_killed_daemon_is_not_asked(style: Style, daemon: FakeDaemon) -> None:
    daemon.lock.close()
    assert "no Trailblaze session is open" in refused(style).message
    assert daemon.server.connections == 0


def test_what_other_users_could_have_written_is_not_used(style: Style, daemon: FakeDaemon) -> None:
    def check(path: Path) -> None:
        problem = refused(style)
        assert problem.code == "permission_denied"
        assert problem.message.startswith(f"`{path}` is not used: it belongs to another user, or other users may use it")

    daemon.path.chmod(0o644)
    check(daemon.path)
    daemon.path.chmod(0o600)
    daemon.folder.chmod(0o755)
    check(daemon.folder)
    daemon.folder.chmod(0o700)
    (daemon.folder / "link.daemon.json").symlink_to(daemon.path)
    check(daemon.folder / "link.daemon.json")
    assert daemon.server.connections == 0
    if os.geteuid() == 0:
        (daemon.folder / "link.daemon.json").unlink()
        os.chown(daemon.path, 65534, 65534)
        check(daemon.path)


def test_a_session_that_has_ended_is_named(style: Style, daemon: FakeDaemon) -> None:
    tb = style.client()
    style.run(tb.tap(1, 2))
    daemon.sessions[:] = []
    problem = refused(style, tb)
    assert problem.code == "unauthenticated"
    assert problem.message.startswith("session `wallet` has ended, or its daemon has: unknown session key; ")
    daemon.kill()
    problem = refused(style, tb)
    assert isinstance(problem, ConnectionFailed) and problem.message.startswith("session `wallet` has ended")


@pytest.mark.parametrize("body", [b"", b"nonsense", b"[]", b'{"answer": {"access": {"name": 1}}}', b'{"answer": "stopped"}'])
def test_an_answer_that_is_not_understood_is_an_error(style: Style, daemon: FakeDaemon, body: bytes) -> None:
    daemon.server.answer = lambda *_: respond(body)
    assert "does not understand" in refused(style).message


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"address": 5, "key": "x"}', '{"address": "http://127.0.0.1:1", "key": "\\u00e9"}'])
def test_a_file_that_is_not_understood_is_an_error(style: Style, daemon: FakeDaemon, text: str) -> None:
    daemon.path.write_text(text)
    assert "is not the file of a daemon" in refused(style).message
