"""FastMCP, with a detailed registry: some entries are duplicates, some are wrong."""

import json

from fastmcp import FastMCP

REGISTRY = {
    "tools": {
        "lib_both": {"isRecordable": False, "exposedToLlm": False, "platforms": ["ANDROID", "iOS"]},
        "lib_payments": {"groups": ["payments"]},
        "lib_admin": {"groups": ["admin"]},
        "lib_either": {"groups": ["payments", "admin"]},
        "lib_undeclared": {"groups": ["nobodyDeclared"]},
        "lib_wrong": {"isRecordable": "no", "platforms": ["toaster"]},
        "lib_gone": {"isRecordable": False},
    },
    "groups": {
        "payments": {"description": "Paying."},
        "admin": {"description": "Ruling.", "defaultEnabled": False},
    },
    "serverInfo": {"name": "registry", "version": "1.0.0"},
}

server = FastMCP("registry", list_page_size=3)


# Its MIME type is not JSON; it is read anyway.
@server.resource("trailblaze://registry", mime_type="text/plain")
def registry() -> str:
    return json.dumps(REGISTRY)


@server.tool(name="lib_both", meta={"trailblaze/isForLlm": True})
def both() -> str:
    """Its own word wins over the registry's; where it says nothing, the registry counts."""
    return "both"


@server.tool(name="lib_strict")
def strict(word: str) -> str:
    """FastMCP refuses what is not declared."""
    return word


def add(name: str) -> None:
    @server.tool(name=name)
    def tool() -> str:
        return name


for name in ["lib_payments", "lib_admin", "lib_either", "lib_undeclared", "lib_wrong", "lib_free"]:
    add(name)

if __name__ == "__main__":
    server.run(show_banner=False)
