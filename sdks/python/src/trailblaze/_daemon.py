"""Finds the session of a client that was told nothing: in this user's daemon, by the file that has its address and key.

Without input from the network: requests to bytes, and responses to what was found.
"""

from __future__ import annotations

import os
from json import dumps, loads
from stat import S_ISLNK

from ._target import is_object, parse_address
from .errors import ApiError, ConnectionFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ._http import Response
    from ._target import Target

SESSION = "TRAILBLAZE_SESSION"
"""The variable that names the session, if several are open."""

TIMEOUT = 30
"""How long the daemon may take, in seconds. It answers at once, unless the session is being opened."""


class Daemon:
    """A daemon, as its file describes it. It has the attributes of a target that connections need."""

    __slots__ = ("hosts", "name", "path", "port", "request")

    def __init__(self, address: str, key: str) -> None:
        self.hosts, self.port, self.path = parse_address(address)
        self.name = f"{self.hosts[0]}:{self.port}"
        session = os.environ.get(SESSION)
        body = dumps({"access": {"session": {"name": session} if session else {}}})
        self.request = (
            f"POST {self.path}/daemon HTTP/1.1\r\nHost: {self.name}\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {key}\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        ).encode("ascii")


def daemons() -> list[Daemon]:
    """The daemons of this user that live. A program that a team built with tools of its own has its own daemon."""
    folder = _folder()
    if folder is None:
        return []
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".daemon.json"))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise ApiError("permission_denied", f"`{folder}` cannot be read: {error.strerror}") from None
    if not names:
        return []
    # Before anything in it is believed: it may be in a folder that all users share.
    _check(folder, os.lstat(folder))
    found = [_read(os.path.join(folder, name)) for name in names]
    return [daemon for daemon in found if daemon is not None]


def _folder() -> str | None:
    if not hasattr(os, "geteuid"):
        return None
    user = os.geteuid()
    # Agents start servers without most variables.
    for runtime in (os.environ.get("XDG_RUNTIME_DIR"), f"/run/user/{user}"):
        if runtime and os.path.isdir(runtime):
            return os.path.join(runtime, "trailblaze")
    return os.path.join(os.environ.get("TMPDIR") or "/tmp", f"trailblaze-{user}")


def _check(path: str, facts: os.stat_result) -> None:
    """Raises unless a file or folder belongs to this user, and no other user may use it."""
    if S_ISLNK(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_mode & 0o077:
        text = f"`{path}` is not used: it belongs to another user, or other users may use it; `chmod go= {path}` changes that"
        raise ApiError("permission_denied", text)


def _read(path: str) -> Daemon | None:
    from fcntl import LOCK_NB, LOCK_SH, flock

    try:
        file = open(path, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NOFOLLOW))
    except OSError:
        # It has ended, or is a link; then the check says so.
        if os.path.islink(path):
            _check(path, os.lstat(path))
        return None
    with file:
        _check(path, os.fstat(file.fileno()))
        try:
            flock(file, LOCK_SH | LOCK_NB)
            # Without the lock of a daemon that lives: it was killed.
            return None
        except OSError:
            pass
        try:
            text: Any = loads(file.read())
            return Daemon(text["address"], text["key"])
        except (KeyError, TypeError, ValueError, AttributeError):
            raise ApiError("internal", f"`{path}` is not the file of a daemon that this version understands") from None


def choose(target: Target, answers: Sequence[Response]) -> None:
    """Lets a client use the session that the daemons name, if it is clear which."""
    sessions: list[Any] = []
    problems: list[Any] = []
    missing: list[Any] = []
    for response in answers:
        answer, error = _answer_of(response)
        if answer is not None:
            sessions.append(answer)
        else:
            (missing if error.get("isNoSession") else problems).append(error)
    if len(sessions) == 1 and not problems:
        target.found(sessions[0]["name"], sessions[0]["address"], sessions[0]["key"])
        return
    if sessions or len(problems) > 1 or (problems and problems[0].get("exit") == "invalid"):
        texts = [str(error.get("message")) for error in problems]
        texts += [f"session `{session['name']}` is open" for session in sessions]
        raise ApiError("failed_precondition", f"{'; '.join(texts)}; set {SESSION} to the name of one")
    if problems or missing:
        error = (problems or missing)[0]
        hint = f"; {error['hint']}" if error.get("hint") else ""
        raise ApiError("unavailable" if problems else "failed_precondition", f"{error.get('message')}{hint}")
    raise ApiError("failed_precondition", "no Trailblaze session is open; `trailblaze device connect` opens one")


def _answer_of(response: Response) -> tuple[Any, Any]:
    """The session, or the error. Lines before the last one are progress."""
    try:
        line: Any = loads(bytes(response.body).strip().rpartition(b"\n")[2])
        if is_object(line) and is_object(line.get("error")):
            return None, line["error"]
        access: Any = line["answer"]["access"]
        for name in ("name", "address", "key"):
            if not isinstance(access[name], str):
                raise TypeError(name)
        return access, None
    except (KeyError, TypeError, ValueError, AttributeError):
        text = "the daemon answers in a way that this version of the client does not understand"
        return None, {"message": text, "hint": "use the version of `trailblaze` and of this package that belong together"}


def ended(session: str, error: ApiError) -> ApiError:
    """The error of a call to a session that was found in a daemon, and that is gone."""
    if error.code != "unauthenticated" and not isinstance(error, ConnectionFailed):
        return error
    text = f"session `{session}` has ended, or its daemon has: {error.message}"
    return type(error)(error.code, f"{text}; `trailblaze device connect` opens one, and a new client uses it")
