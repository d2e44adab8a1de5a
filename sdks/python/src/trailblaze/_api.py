"""What the generated classes have in common."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._async_calls import AsyncCalls
    from ._blocking_calls import BlockingCalls


class AsyncApi:
    """Methods for asynchronous callers."""

    __slots__ = ("_calls",)

    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls


class BlockingApi:
    """Methods for blocking callers."""

    __slots__ = ("_calls",)

    def __init__(self, calls: BlockingCalls) -> None:
        self._calls = calls
