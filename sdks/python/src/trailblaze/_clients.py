"""What both clients have in common."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ._generated.types import Device, ScreenState
    from ._target import Target


class Described:
    """What a client knows without asking Trailblaze."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def _target(self) -> Target: ...

    @property
    def platform(self) -> str | None:
        """The device's platform: android, ios, web or desktop. None if it is not known; `get_session()` tells it."""
        return self._target.platform

    @property
    def device_id(self) -> str | None:
        """The id of the device, such as android/sim-1."""
        return self._target.ids.get("deviceId")

    @property
    def session_id(self) -> str | None:
        """The id of the session."""
        return self._target.ids.get("sessionId")

    @property
    def invocation_id(self) -> str | None:
        """The id of the tool call on whose behalf this client acts."""
        return self._target.ids.get("invocationId")

    @property
    def memory(self) -> Mapping[str, Any]:
        """What Trailblaze remembered when it called the tool, without secrets. `dump_memory()` asks for it now."""
        return self._target.memory

    @property
    def device(self) -> Device | None:
        """The device as it was when Trailblaze called the tool. None outside of a tool."""
        about = self._target.device
        if not about:
            return None
        from ._generated.types import Device

        return Device(
            id=self.device_id or "",
            platform=self.platform or "",
            driver=about.get("driverType", ""),
            width=about.get("widthPixels", 0),
            height=about.get("heightPixels", 0),
        )

    def __repr__(self) -> str:
        address = f"'http://{self._target.name}'" if self._target.is_found else ""
        return f"{type(self).__name__}({address})"


def is_for(platforms: frozenset[str], platform: str | None) -> bool:
    """Whether a device may have a group of commands."""
    return platform is None or platform in platforms


def with_screen(screen: ScreenState | bool | None) -> bool:
    """Whether the model gets a screenshot. It is taken when the model is asked, whichever screen is passed."""
    return screen is not None and screen is not False


def prompt_of(messages: Sequence[Mapping[str, Any]] | str) -> str:
    """The text of the messages of a conversation."""
    if isinstance(messages, str):
        return messages
    texts = [(str(message.get("role") or "user"), _text_of(message.get("content"))) for message in messages]
    if len(texts) == 1:
        return texts[0][1]
    return "\n\n".join(f"{role}: {text}" for role, text in texts)


def _text_of(content: Any) -> str:
    # A text, or one or more blocks of MCP.
    if isinstance(content, str):
        return content
    blocks: Any = [content] if hasattr(content, "get") else content or ()
    texts: list[Any] = [block if isinstance(block, str) else block.get("text") for block in blocks]
    if not texts or None in texts:
        raise TypeError("the `content` of a message must be text; `include_screenshot=True` sends the screen")
    return "\n".join(texts)
