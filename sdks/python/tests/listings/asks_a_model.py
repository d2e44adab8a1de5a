from fastmcp import FastMCP as Server, Context
from trailblaze import TrailblazeClient

server = mcp = Server()

@server.tool("analyze_screen")
async def analyze(prompt: str, ctx: Context) -> dict:
    # Multiple devices calling this concurrently!
    # Invocation ID tells us which device context to use
    tb = TrailblazeClient.from_context(ctx)

    screen = await tb.capture_screen()  # Routes to correct device
    return await tb.ask_llm(prompt, screen)

@mcp.tool()
async def verify_screen_color(expected_color: str, ctx: Context) -> dict:
    tb = TrailblazeClient.from_context(ctx)

    # Request LLM completion via MCP Sampling
    result = await tb.sampling.create_message(
        messages=[{"role": "user", "content": f"Is the button {expected_color}?"}],
        include_screenshot=True,
    )

    return {"matches": "yes" in result.content.lower()}

if __name__ == "__main__":
    server.run()
