"""A tool that makes test data. `tool_server.py` serves it."""

import secrets
from typing import Annotated

from fastmcp import FastMCP
from fastmcp.tools import ToolResult

tools = FastMCP("NAME_OF_TOOL")


@tools.tool(name="NAME_OF_TOOL")
def new_email(name: Annotated[str, "Who it is for, such as ada"]) -> ToolResult:
    """Make a new email address, and remember it as `email`."""
    email = f"{name}+{secrets.token_hex(4)}@example.com"
    return ToolResult(content=email, meta={"trailblaze": {"memoryDelta": {"email": email}}})
