"""FastMCP 2: it refuses undeclared arguments although its schemas allow them."""

import os
import sys

from fastmcp import Context, FastMCP

server = FastMCP("second")


def ran(name: str) -> None:
    print(f"{name} ran", file=sys.stderr, flush=True)


@server.tool(name="second_echo")
def echo(word: str) -> str:
    ran("echo")
    return word


@server.tool(name="second_where")
async def where(ctx: Context) -> str:
    ran("where")
    own = ctx.request_context.meta.model_dump(by_alias=True)
    return own["trailblaze"]["device"]["id"]


@server.tool(name="second_declared")
def declared(_trailblazeContext: dict) -> str:
    ran("declared")
    return _trailblazeContext["device"]["platform"]


@server.tool(name="second_fails")
def fails(word: str) -> str:
    ran("fails")
    raise ValueError(f"{word}: Unexpected keyword argument `_trailblazeContext`")


@server.resource("other://thing")
def other() -> str:
    return "a resource, and no registry"


if os.environ.get("SECOND_REGISTRY"):

    @server.resource("trailblaze://registry")
    def registry() -> str:
        raise KeyError("shelf")


if __name__ == "__main__":
    server.run(show_banner=False)
