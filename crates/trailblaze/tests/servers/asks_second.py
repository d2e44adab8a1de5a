"""FastMCP 2: tools that ask a model with `ctx.sample`, on stdio or, when it is told to, over http."""

import asyncio
import os

from fastmcp import Context, FastMCP
from mcp.types import ImageContent, SamplingMessage, TextContent

server = FastMCP("asks")
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
present = set()


@server.tool(name="asks_sample")
async def sample(question: str, ctx: Context) -> str:
    reply = await ctx.sample(question, system_prompt="Be brief.", temperature=0.5, max_tokens=50)
    return reply.text


@server.tool(name="asks_about_a_picture")
async def about_a_picture(ctx: Context) -> str:
    picture = ImageContent(type="image", mimeType="image/png", data=PIXEL)
    question = TextContent(type="text", text="What colour is it?")
    messages = [SamplingMessage(role="user", content=content) for content in (question, picture)]
    return (await ctx.sample(messages)).text


@server.tool(name="asks_together")
async def together(ctx: Context) -> str:
    """Asks when two devices are here at once."""
    own = ctx.request_context.meta.model_dump(by_alias=True)["trailblaze"]["device"]["id"]
    present.add(own)
    while len(present) < 2:
        await asyncio.sleep(0.01)
    return (await ctx.sample(f"Who is {own}?")).text


port = os.environ.get("FASTMCP_PORT")
if port:
    server.run(show_banner=False, transport="http", port=int(port))
else:
    server.run(show_banner=False)
