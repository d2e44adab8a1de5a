"""The official Python client. The program and its arguments are our arguments."""

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main() -> None:
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:], env=dict(os.environ))
    async with stdio_client(server) as (reader, writer), ClientSession(reader, writer) as session:
        hello = await session.initialize()

        async def call(name, **args):
            result = await session.call_tool(name, args)
            texts = [getattr(block, "text", block.type) for block in result.content]
            return result, "\n".join(texts)

        tools = await session.list_tools()
        _, opened = await call("session", action="open", device="android/sim-1", url="com.example.counter")
        _, acted = await call("act", step="Add one", calls=[{"tool": "tap", "args": {"id": "add"}}])
        wrong, _ = await call("act", calls=[{"tool": "tap", "args": {"id": "nothing", "timeoutMs": 100}}])
        picture, _ = await call("screenshot")
        resources = await session.list_resources()
        registry = await session.read_resource("trailblaze://registry")
        await call("session", action="close")
        is_error = getattr(wrong, "is_error", getattr(wrong, "isError", None))
        info = getattr(hello, "server_info", getattr(hello, "serverInfo", None))
        mime = [getattr(block, "mime_type", getattr(block, "mimeType", block.type)) for block in picture.content]
        print(json.dumps({
            "server": info.name,
            "tools": [tool.name for tool in tools.tools],
            "opened": opened,
            "acted": acted,
            "wrong": is_error,
            "picture": mime,
            "resources": [str(resource.uri) for resource in resources.resources],
            "registry": len(json.loads(registry.contents[0].text)["tools"]) > 10,
        }))


asyncio.run(main())
