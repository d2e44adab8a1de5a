"""A server with one tool, which makes test data. Add more tools to this file."""

import secrets
from typing import Annotated

from fastmcp import FastMCP
from fastmcp.tools import ToolResult
from trailblaze import failure_middleware

server = FastMCP("NAME_OF_TOOL", middleware=[failure_middleware()])


@server.tool(name="NAME_OF_TOOL")
def new_email(name: Annotated[str, "Who it is for, such as ada"]) -> ToolResult:
    """Make a new email address, and remember it as `email`."""
    email = f"{name}+{secrets.token_hex(4)}@example.com"
    return ToolResult(content=email, meta={"trailblaze": {"memoryDelta": {"email": email}}})


if __name__ == "__main__":
    server.run(show_banner=False)
