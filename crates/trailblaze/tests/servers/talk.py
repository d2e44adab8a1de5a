"""FastMCP with a tool that talks while it works, and one that adds a tool."""

from fastmcp import Context, FastMCP

server = FastMCP("talk")


@server.tool(name="talk_work")
async def work(ctx: Context) -> str:
    await ctx.warning("a word of warning")
    await ctx.report_progress(1, 2, "halfway")
    return "worked"


@server.tool(name="talk_meta")
async def meta(ctx: Context) -> dict:
    own = ctx.request_context.meta or {}
    own = own if isinstance(own, dict) else own.model_dump(by_alias=True)
    return {"device": own["trailblaze"]["device"], "invocation": own["trailblazeInvocationId"]}


if __name__ == "__main__":
    server.run(show_banner=False)
