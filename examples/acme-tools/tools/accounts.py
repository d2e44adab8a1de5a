"""A server with FastMCP. Metadata of its tools for Trailblaze is in the resource `trailblaze://registry`."""

import json
from typing import Annotated

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.tools import ToolResult

VERSION = "1.0.0"

ACCOUNTS = {
    "ada": {"email": "ada@example.com", "pin": "1234"},
    "mallory": {"email": "mallory@example.com", "pin": "9999"},
}

REGISTRY = {
    "tools": {
        "acme_signInAs": {"groups": ["accounts"], "isDelegating": True},
        "acme_listAccounts": {"groups": ["accounts"], "isRecordable": False},
    },
    "groups": {"accounts": {"description": "Test accounts.", "defaultEnabled": True}},
    "serverInfo": {"name": "acme-accounts", "version": VERSION},
}

server = FastMCP("acme-accounts", version=VERSION)


@server.resource("trailblaze://registry", mime_type="application/json")
def registry() -> str:
    return json.dumps(REGISTRY)


@server.tool(name="acme_listAccounts", annotations={"readOnlyHint": True})
def list_accounts() -> str:
    """List the names of the test accounts."""
    return ", ".join(ACCOUNTS)


@server.tool(name="acme_signInAs")
def sign_in_as(account: Annotated[str, "The account's name, such as ada"]) -> ToolResult:
    """Sign in with a test account, from the first screen. Does not wait for the next screen."""
    found = ACCOUNTS.get(account)
    if found is None:
        raise ToolError(f"no account `{account}`; known accounts: {', '.join(ACCOUNTS)}")
    # It does not touch the device: Trailblaze makes these calls, and records them instead of this one.
    delegates = [*fill("email", found["email"]), *fill("pin", found["pin"]), {"tool": "tap", "args": {"id": "submit"}}]
    return ToolResult(
        content=f"signing in as {found['email']}",
        structured_content={"_trailblaze_delegates": delegates},
    )


def fill(field: str, text: str) -> list[dict]:
    return [
        {"tool": "tap", "args": {"id": field}},
        {"tool": "eraseText", "args": {}},
        {"tool": "inputText", "args": {"text": text}},
    ]


if __name__ == "__main__":
    server.run(show_banner=False)
