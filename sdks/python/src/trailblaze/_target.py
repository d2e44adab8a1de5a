"""Which Trailblaze a client calls, and on whose behalf."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

DEFAULT_ADDRESS = "http://localhost:52525"

DEFAULT_TIMEOUT = 10 * 60 + 30
"""In seconds. Trailblaze answers within ten minutes."""

BASE_URL = "TRAILBLAZE_BASE_URL"
"""The variable that a tool server finds the address of its Trailblaze in."""

_said: set[str] = set()


class Target:
    """Address, credentials and ids of a client."""

    __slots__ = ("authorization", "device", "hosts", "ids", "is_found", "memory", "name", "path", "platform", "port",
                 "session_name", "timeout")  # fmt: skip

    def __init__(
        self,
        address: str | None,
        *,
        invocation_id: str | None,
        key: str | None,
        session_id: str | None,
        device_id: str | None,
        platform: str | None,
        context: Mapping[str, Any] | None,
        timeout: float | None,
    ) -> None:
        self.device: Mapping[str, Any] = {}
        """What the request said about the device."""
        self.memory: Mapping[str, Any] = {}
        """What Trailblaze remembered when it made the request."""
        if context is not None:
            about = read_context(context)
            self.device, self.memory = about.device, about.memory
            address = address or about.base_url
            invocation_id = invocation_id or about.invocation_id
            session_id = session_id or about.session_id
            device_id = device_id or about.device_id
            platform = platform or about.platform
        # A key file ends with a line break.
        key = None if key is None else key.strip()
        if key is not None and not (key and key.isascii() and key.isprintable()):
            raise ValueError("`key` is not a session key; `trailblaze serve` prints the path of the file that has it")
        ids = {"deviceId": device_id, "sessionId": session_id, "invocationId": invocation_id}
        self.ids = {name: value for name, value in ids.items() if value}
        self.platform = platform.lower() if platform else None
        self.authorization = f"Authorization: Bearer {key}\r\n" if key is not None else ""
        self.timeout = check_timeout(timeout) if timeout is not None else None
        self.session_name: str | None = None
        """The name of the session, if it was found in a daemon."""
        self.is_found = bool(address or invocation_id or key or os.environ.get(BASE_URL))
        """Whether the address is known. Otherwise the first call looks for a session of this user's daemon."""
        self.hosts: tuple[str, ...] = ()
        self.port = 0
        self.path = ""
        self.name = ""
        """The address for the Host header and for messages."""
        if self.is_found:
            self._use(choose_address(address, bool(invocation_id or key)))

    def _use(self, address: str) -> None:
        self.hosts, self.port, self.path = parse_address(address)
        name = f"[{self.hosts[0]}]" if ":" in self.hosts[0] else self.hosts[0]
        self.name = f"{name}:{self.port}"

    def found(self, session: str, address: str, key: str) -> None:
        """A daemon has the session. Threads that look for it at the same time find the same."""
        self._use(address)
        self.authorization = f"Authorization: Bearer {key}\r\n"
        self.session_name = session
        self.is_found = True

    def head(self, path: str, content_type: str, timeout: float | None, further: str = "") -> str:
        """The headers of a request, up to the value of Content-Length."""
        limit = "" if timeout is None else f"Connect-Timeout-Ms: {min(max(1, int(timeout * 1000)), 9_999_999_999)}\r\n"
        return (
            f"POST {self.path}{path} HTTP/1.1\r\nHost: {self.name}\r\nContent-Type: {content_type}\r\n"
            f"Connect-Protocol-Version: 1\r\n{self.authorization}{limit}{further}Content-Length: "
        )


class Context:
    """What a request of Trailblaze says about itself."""

    __slots__ = ("base_url", "device", "device_id", "invocation_id", "memory", "platform", "session_id")

    def __init__(self, context: Mapping[str, Any]) -> None:
        def text(name: str) -> str | None:
            value = context.get(name)
            if value is not None and not isinstance(value, str):
                raise TypeError(f"`{name}` of the context must be a text, got {type(value).__name__}")
            return value or None

        device: Any = context.get("device")
        self.device: Mapping[str, Any] = device if is_object(device) else {}
        memory: Any = context.get("memory")
        self.memory: Mapping[str, Any] = memory if is_object(memory) else {}
        self.base_url = text("baseUrl")
        self.session_id = text("sessionId")
        self.invocation_id = text("invocationId")
        self.device_id = text("deviceId") or self._of_device("id")
        self.platform = text("platform") or self._of_device("platform")

    def _of_device(self, name: str) -> str | None:
        value = self.device.get(name)
        return value if isinstance(value, str) and value else None


def is_object(value: object) -> bool:
    """Whether a value is a JSON object. A type checker learns nothing from it, so that the value stays `Any`."""
    return isinstance(value, dict)


def read_context(context: Mapping[str, Any]) -> Context:
    """Reads the argument `_trailblaze`, or `_meta.trailblaze`."""
    # Not a protocol check, so that `collections.abc` need not be imported.
    if not hasattr(context, "get"):
        raise TypeError(f"`context` must be the argument `_trailblaze` of the tool, got {type(context).__name__}")
    return Context(context)


def check_timeout(timeout: float) -> float:
    if not timeout > 0:
        raise ValueError(f"`timeout` must be more than 0 seconds, got {timeout}")
    return timeout


def choose_address(address: str | None, has_id: bool) -> str:
    """The address to use. Inside a tool server, a client without an id reaches the Trailblaze that started the server,
    so that it cannot act on the devices of another run.
    """
    own = os.environ.get(BASE_URL)
    if not own or (address and has_id):
        return address or DEFAULT_ADDRESS
    if address and parse_address(address)[1:] != parse_address(own)[1:] and address not in _said:
        _said.add(address)
        print(
            f"trailblaze: using {own}, which started this server, instead of {address}; "
            "`TrailblazeClient.from_context(ctx)` needs no address",
            file=sys.stderr,
        )
    return own


def parse_address(address: str) -> tuple[tuple[str, ...], int, str]:
    """The hosts to try, the port, and what the path begins with."""
    wrong = f"`{address}` is not an address such as http://127.0.0.1:52525"
    scheme, separator, rest = address.rpartition("://")
    if separator and scheme.lower() != "http":
        raise ValueError(f"{wrong}: only http is supported")
    if not rest.isascii() or not rest.isprintable() or " " in rest or "@" in rest or "?" in rest or "#" in rest:
        raise ValueError(wrong)
    authority, _, path = rest.partition("/")
    host, colon, port = authority.rpartition(":")
    if not colon or "]" in port:
        host, port = authority, "52525" if not separator else "80"
    host = host.removeprefix("[").removesuffix("]").lower()
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise ValueError(wrong)
    path = path.rstrip("/")
    hosts = ("127.0.0.1", "::1") if host == "localhost" else (host,)
    return hosts, int(port), f"/{path}" if path else ""
