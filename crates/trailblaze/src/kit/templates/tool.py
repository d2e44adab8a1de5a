"""A tool that makes test data, and types it. `tool_server.py` serves it."""

import secrets
from typing import Annotated

from fastmcp import Context, FastMCP
from fastmcp.tools import ToolResult
from trailblaze import TrailblazeClient

tools = FastMCP("NAME_OF_TOOL")


@tools.tool(name="NAME_OF_TOOL")
async def new_email(
    context: Context,
    name: Annotated[str, "Who it is for, such as ada"],
    field: Annotated[str, "The text of a field to type it into"] = "",
) -> ToolResult:
    """Make a new email address, remember it as `email`, and type it into a field."""
    email = f"{name}+{secrets.token_hex(4)}@example.com"
    if field:
        device = TrailblazeClient.from_context(context)
        await device.tap(text=field)
        await device.input_text(email)
    return ToolResult(content=email, meta={"trailblaze": {"memoryDelta": {"email": email}}})
