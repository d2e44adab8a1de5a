"""The asynchronous client."""

from __future__ import annotations

from ._async_calls import AsyncCalls, pool_of
from ._clients import Described, is_for, prompt_of, with_screen
from ._context import context_of
from ._generated.commands import (
    DesktopCommands,
    MaestroCommands,
    PlaywrightCommands,
    TrailblazeCommands,
    TrailblazeMemory,
    TrailblazeSession,
)
from ._target import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping, Sequence
    from typing import Any

    from typing_extensions import Self

    from ._generated.types import ModelReply, ScreenState
    from ._sampling import SamplingReply


class TrailblazeClient(Described, TrailblazeCommands, TrailblazeMemory, TrailblazeSession):
    """Calls Trailblaze from asynchronous code.

    Actions and assertions raise if they fail; queries return what they found. Await every call: one that a tool never
    awaits fails the tool. In a tool that is a plain function, called by an MCP library, calls return their result. In other
    code that is not asynchronous, use `SyncTrailblazeClient`, which has the same methods.
    """

    __slots__ = ("desktop", "maestro", "playwright", "sampling")

    maestro: MaestroCommands | None
    """The commands of phones and tablets. None if the device is known not to be one."""
    playwright: PlaywrightCommands | None
    """The commands of browsers. None if the device is known not to be one."""
    desktop: DesktopCommands | None
    """The commands of desktops. None if the device is known not to be one."""
    sampling: Sampling
    """Asks the model that Trailblaze uses."""

    def __init__(
        self,
        address: str | None = None,
        *,
        invocation_id: str | None = None,
        key: str | None = None,
        session_id: str | None = None,
        device_id: str | None = None,
        platform: str | None = None,
        context: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> None:
        """Creates a client. Without an address, id or key, it uses the session of this user's daemon that
        TRAILBLAZE_SESSION names, or the only one that is open. In a tool, prefer `TrailblazeClient.from_context(ctx)`.

        Args:
            address: Where Trailblaze listens, such as `localhost:52525`. In a tool server that Trailblaze started, a
                client without `invocation_id` or `key` always uses the address in TRAILBLAZE_BASE_URL.
            invocation_id: The tool call on whose behalf the client acts.
            key: The key of a session, as in the key file of `trailblaze serve`.
            session_id: The session.
            device_id: The device.
            platform: The device's platform, if known.
            context: The value of the tool's argument `_trailblaze`, instead of all of these.
            timeout: How long a call may take, in seconds (default: 630; Trailblaze answers within 600).
        """
        target = Target(
            address,
            invocation_id=invocation_id,
            key=key,
            session_id=session_id,
            device_id=device_id,
            platform=platform,
            context=context,
            timeout=timeout,
        )
        calls = AsyncCalls(target)
        super().__init__(calls)
        self.maestro = MaestroCommands(calls) if is_for(MaestroCommands.PLATFORMS, target.platform) else None
        self.playwright = PlaywrightCommands(calls) if is_for(PlaywrightCommands.PLATFORMS, target.platform) else None
        self.desktop = DesktopCommands(calls) if is_for(DesktopCommands.PLATFORMS, target.platform) else None
        self.sampling = Sampling(self)

    @classmethod
    def from_context(cls, context: object, *, timeout: float | None = None) -> Self:
        """Creates the client of a tool call: it acts on the device that the tool was called for. If an agent started
        the tool server by itself, that is the device of the session of this user's daemon, as for a client without
        arguments.

        Args:
            context: What the MCP library hands to a tool: the `Context` of FastMCP or of the official SDK, or the
                request context of its low-level server.
            timeout: How long a call may take, in seconds (default: 630).
        """
        return cls(context=context_of(context), timeout=timeout)

    @property
    def _target(self) -> Target:
        return self._calls.target

    def ask_llm(
        self,
        prompt: str,
        screen: ScreenState | bool | None = None,
        *,
        max_tokens: int | None = None,
        system: str | None = None,
        timeout: float | None = None,
    ) -> Coroutine[Any, Any, ModelReply]:
        """Ask the model that Trailblaze uses. Raises `ApiError` if there is none, or the server may not use it.

        Args:
            prompt: The question.
            screen: True, or any captured screen, to send the current screenshot too.
            max_tokens: At most this many tokens.
            system: What the model is told first.
            timeout: How long the whole call may take, in seconds (default: the client's timeout).
        """
        return self.ask_model(
            prompt, screen=with_screen(screen), max_tokens=max_tokens, system=system, timeout=timeout
        )

    async def aclose(self) -> None:
        """Closes the connections that are not in use. The client can still be used, and opens new ones."""
        pool_of(self._target).close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.aclose()


class Sampling:
    """Asks the model that Trailblaze uses, in the words of MCP."""

    __slots__ = ("_client",)

    def __init__(self, client: TrailblazeClient) -> None:
        self._client = client

    def create_message(
        self,
        messages: Sequence[Mapping[str, Any]] | str,
        *,
        include_screenshot: bool = False,
        max_tokens: int | None = None,
        system_prompt: str | None = None,
        timeout: float | None = None,
    ) -> Coroutine[Any, Any, SamplingReply]:
        """Ask the model. Raises `ApiError` if there is none, or the server may not use it.

        Args:
            messages: The conversation, as `{"role": "user", "content": "…"}`.
            include_screenshot: Also send the current screenshot.
            max_tokens: At most this many tokens.
            system_prompt: What the model is told first.
            timeout: How long the whole call may take, in seconds (default: the client's timeout).
        """
        from ._sampling import sampled, sampling_reply

        # In a tool that is not asynchronous, the call has been made.
        asked: Any = self._client.ask_model(
            prompt_of(messages), screen=include_screenshot, max_tokens=max_tokens, system=system_prompt, timeout=timeout
        )
        reply: Any = sampled(asked) if hasattr(asked, "__await__") else sampling_reply(asked)
        return reply
