"""Uses a server in Rust as another MCP client does, over stdio or at an address, and prints what it got as JSON."""

import asyncio
import json
import os
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport


async def main(server: str) -> None:
    stdio = StdioTransport(command=server, args=["serve-tools"], env={"TEAM_TOOLSETS": "team", "XDG_RUNTIME_DIR": os.environ["XDG_RUNTIME_DIR"]})
    said: list[str] = []

    async def log(message) -> None:
        said.append(str(message.data))

    transport = server if server.startswith("http") else stdio
    async with Client(transport, log_handler=log) as client:
        tools = await client.list_tools()
        registry = json.loads((await client.read_resource("trailblaze://registry"))[0].text)
        several = await asyncio.gather(*[client.call_tool("team_delegate", {}) for _ in range(20)])
        remembered = await client.call_tool("team_remember", {"user": "ada"})
        without_device = await client.call_tool("team_count", {}, raise_on_error=False)
        flooded = await client.call_tool("team_fail", {"how": "flood"}, raise_on_error=False)
        try:
            await client.call_tool("team_none", {})
            unknown = ""
        except Exception as error:
            unknown = str(error)
    print(
        json.dumps(
            {
                "tools": [tool.name for tool in tools],
                "registry": registry["tools"]["team_launch"],
                "delegates": [answer.structured_content["_trailblaze_delegates"][0] for answer in several],
                "remembered": remembered.meta["trailblaze"],
                "withoutDevice": [without_device.is_error, without_device.content[0].text],
                "flooded": flooded.content[0].text,
                "said": len(said),
                "unknown": unknown,
            }
        )
    )


asyncio.run(main(sys.argv[1]))
