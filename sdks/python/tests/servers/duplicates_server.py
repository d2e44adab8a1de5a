"""A server with FastMCP 2 or newer that has tools of the same name."""

import sys

from fastmcp import FastMCP

from trailblaze import failure_middleware

server = FastMCP("duplicates", middleware=[failure_middleware()])

if "overwritten" in sys.argv:

    @server.tool(name="acme_pay")
    def pay_once() -> str:
        return "once"

    @server.tool(name="acme_pay")
    def pay_twice() -> str:
        return "twice"


for name in ("card", "cash") if "mounted" in sys.argv else ("card",) if "alone" in sys.argv else ():
    mounted = FastMCP(name)

    @mounted.tool(name="acme_pay")
    def pay(kind: str = name) -> str:
        return kind

    server.mount(mounted)


if __name__ == "__main__":
    server.run(show_banner=False)
