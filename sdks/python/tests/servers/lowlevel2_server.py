"""A server with the low-level API of the official SDK, version 2."""

import asyncio
from typing import Any

from mcp import types
from mcp.server import Server
from mcp.server.stdio import stdio_server
from shared import NAMES, REGISTRY, answer

from trailblaze import SyncTrailblazeClient, TrailblazeClient, registry, report_progress


async def list_tools(ctx: Any, params: Any) -> Any:
    return types.ListToolsResult(tools=[types.Tool(name=name, input_schema={"type": "object"}) for name in NAMES])


async def call_tool(ctx: Any, params: Any) -> Any:
    if params.name == "acme_tap":
        tb = TrailblazeClient.from_context(ctx)
        await tb.tap(100, 200)
        text = f"{tb.device}"
    elif params.name == "acme_tapBlocking":
        client = SyncTrailblazeClient.from_context(ctx)
        await asyncio.to_thread(client.tap, 100, 200)
        text = f"{client.device}"
    elif params.name == "acme_progress":
        await report_progress(ctx, 1, 2, "half")
        text = "done"
    else:
        return answer(params.arguments["kind"])
    return types.CallToolResult(content=[types.TextContent(text=text)])


async def list_resources(ctx: Any, params: Any) -> Any:
    return types.ListResourcesResult(resources=[types.Resource(uri="trailblaze://registry", name="registry")])


async def read_resource(ctx: Any, params: Any) -> Any:
    contents = types.TextResourceContents(uri=params.uri, text=registry(*REGISTRY))
    return types.ReadResourceResult(contents=[contents])


server: Server[Any] = Server(
    "lowlevel",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_list_resources=list_resources,
    on_read_resource=read_resource,
)


async def main() -> None:
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


asyncio.run(main())
