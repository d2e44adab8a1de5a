"""Starts `trailblaze serve`, and stops it."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

from ._sync_client import SyncTrailblazeClient

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self

START_TIMEOUT = 120
"""How long it may take to start, in seconds. Tool servers of the project have 60 seconds to start."""

STOP_TIMEOUT = 30
"""How long it may take to stop, in seconds, before it is killed."""


class ServerError(Exception):
    """`trailblaze serve` could not be started."""


class Server:
    """A running `trailblaze serve`. It ends with this process, however that ends: its stdin closes."""

    def __init__(self, device: str, project: Path, program: str | None = None) -> None:
        path = shutil.which(program or "trailblaze")
        if path is None:
            raise ServerError(
                f"`{program or 'trailblaze'}` was not found; install Trailblaze, or set TRAILBLAZE_BIN to its path"
            )
        self.run_folder: str | None = None
        """The folder with the record of the session."""
        self._stderr = tempfile.TemporaryFile()
        try:
            self._process = subprocess.Popen(
                [path, "serve", "-d", device, "--json", "--until-stdin-closes"],
                cwd=project,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
            )
        except OSError as error:
            raise ServerError(f"`{path}` could not be started in {project}: {error}") from error
        try:
            self.client = self._connect(device)
        except BaseException:
            self.stop()
            raise

    def _connect(self, device: str) -> SyncTrailblazeClient:
        """Waits until it is ready."""
        ready: dict[str, Any] = {}
        try:
            ready = json.loads(self._first_line())
            self.run_folder = ready.get("runFolder")
            key = Path(ready["keyFile"]).read_text(encoding="utf-8").strip()
            client = SyncTrailblazeClient(
                ready["address"], key=key, session_id=ready.get("session"), device_id=ready.get("device")
            )
        except (ValueError, KeyError, TypeError, OSError) as error:
            raise ServerError(f"`trailblaze serve -d {device}` did not start{self._reason()}") from error
        return SyncTrailblazeClient(
            ready["address"],
            key=key,
            session_id=ready.get("session"),
            device_id=ready.get("device"),
            platform=client.get_session().device.platform,
        )

    def _first_line(self) -> bytes:
        lines: list[bytes] = []
        stdout = self._process.stdout
        assert stdout is not None
        # A thread, because pipes have no timeout.
        reader = threading.Thread(target=lambda: lines.append(stdout.readline()), daemon=True)
        reader.start()
        reader.join(START_TIMEOUT)
        return lines[0] if lines else b""

    def _reason(self) -> str:
        """What it wrote to stderr."""
        if self._process.poll() is None:
            self._process.kill()
        status = self._process.wait()
        self._stderr.seek(0)
        text = self._stderr.read().decode("utf-8", "replace").strip()
        return f" (exit status {status}){':' if text else ''}\n{text}".rstrip()

    def stop(self) -> None:
        """Stops it, and waits until it has ended."""
        process = self._process
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
        self._stderr.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.client.close()
        self.stop()
