"""A server with the low-level API of the official SDK, version 1."""

import asyncio
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import Resource, TextContent, Tool
from shared import NAMES, REGISTRY, answer

from trailblaze import SyncTrailblazeClient, TrailblazeClient, registry, report_progress

server: Server[Any] = Server("lowlevel")


@server.list_tools()
async def list_tools() -> list[Tool]:
    return [Tool(name=name, inputSchema={"type": "object"}) for name in NAMES]


@server.call_tool()
async def call_tool(name: str, arguments: dict[str, Any]) -> Any:
    ctx = server.request_context
    if name == "acme_tap":
        tb = TrailblazeClient.from_context(ctx)
        await tb.tap(100, 200)
        text = f"{tb.device}"
    elif name == "acme_tapBlocking":
        client = SyncTrailblazeClient.from_context(ctx)
        await asyncio.to_thread(client.tap, 100, 200)
        text = f"{client.device}"
    elif name == "acme_progress":
        await report_progress(ctx, 1, 2, "half")
        text = "done"
    else:
        return answer(arguments["kind"])
    return [TextContent(type="text", text=text)]


@server.list_resources()
async def list_resources() -> list[Resource]:
    return [Resource(uri="trailblaze://registry", name="registry")]  # pyright: ignore


@server.read_resource()
async def read_resource(uri: Any) -> str:
    return registry(*REGISTRY)


async def main() -> None:
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


asyncio.run(main())
