"""A server with FastMCP 2 or newer."""

import asyncio
import logging
import sys
import threading
from dataclasses import dataclass
from typing import Any

from fastmcp import Context, FastMCP
from shared import REGISTRY, answer

from trailblaze import (
    ApiError,
    AssertionFailed,
    SyncTrailblazeClient,
    TrailblazeClient,
    failure_middleware,
    registry,
    report_progress,
    result,
)

try:
    from fastmcp.tools import ToolResult
except ImportError:
    # FastMCP 2.
    from fastmcp.tools.tool import ToolResult


@dataclass
class Order:
    number: int


server = FastMCP("fastmcp", middleware=[failure_middleware()])


@server.tool(name="acme_tap")
async def tap(ctx: Context) -> str:
    tb = TrailblazeClient.from_context(ctx)
    await tb.tap(100, 200)
    return f"{tb.device}"


@server.tool(name="acme_tapBlocking")
def tap_blocking(ctx: Context) -> str:
    tb = SyncTrailblazeClient.from_context(ctx)
    tb.tap(100, 200)
    return f"{tb.device}"


@server.tool(name="acme_raises")
def raises(kind: str) -> str:
    raise AssertionFailed("the total is wrong") if kind == "own" else ValueError("other")


@server.tool(name="acme_exits")
async def exits() -> str:
    sys.exit(3)


@server.tool(name="acme_task")
async def task(kind: str) -> str:
    async def work() -> None:
        raise ValueError("the task")

    created = asyncio.create_task(work())
    await asyncio.sleep(0)
    if kind == "awaited":
        try:
            await created
        except ValueError:
            return "caught"
    return "done"


released = threading.Event()


@server.tool(name="acme_late")
async def late(kind: str, ctx: Context) -> str:
    tb, blocking = TrailblazeClient.from_context(ctx), SyncTrailblazeClient.from_context(ctx)
    loop = asyncio.get_running_loop()

    def call() -> None:
        released.wait()
        try:
            blocking.input_text("in the thread")
        except ApiError as error:
            print(f"the author caught: {error}", file=sys.stderr)

    async def await_call() -> None:
        await loop.run_in_executor(None, released.wait)
        try:
            await tb.tap(1, 2)
        except ApiError as error:
            print(f"the author caught: {error}", file=sys.stderr)

    released.clear()
    if kind == "thread":
        threading.Thread(target=call).start()
    else:
        tasks.add(asyncio.create_task(await_call()))
    return "done"


tasks: set[asyncio.Task[None]] = set()


@server.tool(name="acme_release")
async def release() -> str:
    released.set()
    return "released"


@server.tool(name="acme_leaves")
async def leaves(kind: str) -> str:
    """Starts something that fails: at once, or when it is released."""
    loop = asyncio.get_running_loop()

    def fail() -> None:
        raise ValueError("in the thread")

    def fail_later() -> None:
        released.wait()
        raise ValueError("in the late thread")

    def call_back() -> None:
        raise ValueError("in the callback")

    async def fail_task() -> None:
        await loop.run_in_executor(None, released.wait)
        raise ValueError("in the late task")

    released.clear()
    if kind == "thread":
        thread = threading.Thread(target=fail)
        thread.start()
        thread.join()
    elif kind == "callback":
        loop.call_soon(call_back)
        await asyncio.sleep(0)
    elif kind == "late thread":
        threading.Thread(target=fail_later, daemon=True).start()
    elif kind == "late task":
        tasks.add(asyncio.create_task(fail_task()))
    return "done"


async def pay() -> None:
    raise ValueError("not paid")


@server.tool(name="acme_overlooks")
async def overlooks(kind: str, ctx: Context) -> str:
    if kind == "coroutine":
        pay()  # pyright: ignore[reportUnusedCoroutine]
    elif kind == "kept coroutine":
        paid = pay()
        return type(paid).__name__
    elif kind == "future":
        asyncio.get_running_loop().create_future().set_exception(ValueError("lost"))
    elif kind == "kept future":
        kept = asyncio.get_running_loop().create_future()
        kept.set_exception(ValueError("lost at the end"))
    elif kind == "attribute":
        tb: Any = TrailblazeClient.from_context(ctx)
        return str(tb.capture_screen().elements)
    elif kind == "caught attribute":
        tb: Any = TrailblazeClient.from_context(ctx)
        return str(getattr(tb.capture_screen(), "elements", None))
    return "done"


@server.tool(name="acme_overlooksBlocking")
def overlooks_blocking() -> str:
    pay()  # pyright: ignore[reportUnusedCoroutine]
    return "done"


@server.tool(name="acme_result")
def made(kind: str) -> ToolResult:
    if kind == "nan":
        return ToolResult(content="made", structured_content={"sizes": [1.0, float("nan")]})
    if kind == "memory":
        return ToolResult(content="made", meta={"trailblaze": {"memoryDelta": {"total": float("inf")}}})
    if kind == "misspelled":
        return ToolResult(content="made", meta={"trailblaze": {"memorydelta": {"total": 1}}})
    if kind == "misplaced":
        return ToolResult(content="made", meta={"memoryDelta": {"total": 1}})
    if kind == "reserved":
        return ToolResult(content="made", meta={"trailblaze": {"memoryDelta": {"target.appId": "x"}}})
    if kind == "helper":
        return result.success("made", remember={"args.x": 1})
    return result.success("made", {"when": {1, 2}})


@server.tool(name="acme_returns")
async def returns() -> ToolResult:
    returned: Any = object()
    return returned


@server.tool(name="acme_returnsAny")
def returns_any(kind: str) -> Any:
    infinite = {"sizes": [float("inf")]}
    cycle: dict[str, Any] = {}
    cycle["self"] = cycle
    return {
        "nested": {"when": [object()]},
        "set": {1},
        "nan": float("nan"),
        "infinite": infinite,
        "cycle": cycle,
        "none": None,
        "order": Order(number=7),
    }[kind]


@server.tool(name="acme_returnsCycle")
async def returns_cycle() -> dict[str, Any]:
    cycle: dict[str, Any] = {}
    cycle["orders"] = [cycle]
    return cycle


@server.tool(name="acme_warns")
async def warns(ctx: Context) -> str:
    logging.getLogger("acme").warning("a line of the log of the author")
    await ctx.warning("the shop is slow")
    raise ValueError("the shop is closed")


@server.tool(name="acme_hangs")
async def hangs() -> str:
    print("hanging", file=sys.stderr, flush=True)
    while True:
        pass


@server.tool(name="acme_prints")
def prints() -> str:
    print("noise of print")
    return "quiet"


@server.tool(name="acme_tapPlain")
def tap_plain(ctx: Context) -> str:
    tb = TrailblazeClient.from_context(ctx)
    tb.tap(100, 200)
    return f"{tb.device}"


@server.tool(name="acme_forgets")
async def forgets(ctx: Context) -> str:
    TrailblazeClient.from_context(ctx).input_text("x")
    return "done"


@server.tool(name="acme_asks")
async def asks(ctx: Context) -> str:
    return "yes" if TrailblazeClient.from_context(ctx).is_visible("x") else "no"


@server.tool(name="acme_answer")
def answers(kind: str) -> ToolResult:
    return answer(kind)


@server.tool(name="acme_progress")
async def progress(ctx: Context) -> str:
    await report_progress(ctx, 1, 2, "half")
    return "done"


@server.resource("trailblaze://registry")
def get_registry() -> str:
    return registry(*REGISTRY)


if __name__ == "__main__":
    server.run(show_banner=False)
