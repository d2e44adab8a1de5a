"""A server of the official Python SDK whose tool asks a model, in either generation of the protocol, on stdio and over http."""

import os
from typing import Annotated

from mcp.server.mcpserver import MCPServer, Resolve, Sample
from mcp_types import CreateMessageResult, SamplingMessage, TextContent

server = MCPServer("asks")


def first(question: str) -> Sample:
    message = SamplingMessage(role="user", content=TextContent(type="text", text=question))
    return Sample([message], max_tokens=20, system_prompt="Be brief.")


def second(earlier: Annotated[CreateMessageResult, Resolve(first)]) -> Sample:
    message = SamplingMessage(role="user", content=TextContent(type="text", text=f"Why {earlier.content.text}?"))
    return Sample([message], max_tokens=20)


@server.tool(name="asks_twice")
def twice(
    question: str,
    what: Annotated[CreateMessageResult, Resolve(first)],
    why: Annotated[CreateMessageResult, Resolve(second)],
) -> str:
    return f"{what.model}: {what.content.text}, {why.content.text} ({why.stop_reason})"


port = os.environ.get("FASTMCP_PORT")
if port:
    server.run("streamable-http", port=int(port))
else:
    server.run()
