"""A server with the high-level API of the official SDK: `FastMCP` of version 1, `MCPServer` of version 2."""

from mcp.types import CallToolResult
from shared import REGISTRY, answer

from trailblaze import SyncTrailblazeClient, TrailblazeClient, registry, report_progress

try:
    from mcp.server.mcpserver import Context
    from mcp.server.mcpserver import MCPServer as Server
except ImportError:
    from mcp.server.fastmcp import Context
    from mcp.server.fastmcp import FastMCP as Server

server = Server("mcp")


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
def answers(kind: str) -> CallToolResult:
    return answer(kind)


@server.tool(name="acme_progress")
async def progress(ctx: Context) -> str:
    await report_progress(ctx, 1, 2, "half")
    return "done"


@server.resource("trailblaze://registry")
def get_registry() -> str:
    return registry(*REGISTRY)


if __name__ == "__main__":
    server.run("stdio")
