"""What `sampling.create_message` returns."""

from __future__ import annotations

from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable

    from ._generated.types import ModelReply


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingReply:
    """What a model answered."""

    content: str
    """Its text."""
    model: str
    """The model that answered."""
    role: str = "assistant"


def sampling_reply(reply: ModelReply) -> SamplingReply:
    """The reply in the words of MCP."""
    return SamplingReply(content=reply.text, model=reply.model)


async def sampled(asked: Awaitable[ModelReply]) -> SamplingReply:
    """The same, for a reply that is yet to come."""
    return sampling_reply(await asked)
