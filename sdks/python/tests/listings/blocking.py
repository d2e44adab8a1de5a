from trailblaze import TrailblazeClient
from fastmcp import Context, FastMCP

mcp = FastMCP()

@mcp.tool()
def my_tool(param: str, ctx: Context) -> str:
    # from_context extracts _meta.trailblaze from the request
    tb = TrailblazeClient.from_context(ctx)
    tb.tap(100, 200)  # Invocation ID flows automatically

if __name__ == "__main__":
    mcp.run()
