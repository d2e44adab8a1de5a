"""The server that Trailblaze starts. The tools are in other files, so that tests can load them without starting it."""

from fastmcp import FastMCP
from trailblaze import failure_middleware

import NAME_OF_TOOL_tool

server = FastMCP("tools", middleware=[failure_middleware()])
server.mount(NAME_OF_TOOL_tool.tools)

if __name__ == "__main__":
    server.run(show_banner=False)
