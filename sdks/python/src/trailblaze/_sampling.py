"""What `sampling.create_message` returns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingReply:
    """What a model answered."""

    content: str
    """Its text."""
    model: str
    """The model that answered."""
    role: str = "assistant"
