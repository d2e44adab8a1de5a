# acme_tools.py
from fastmcp import FastMCP as Server, Context
from trailblaze import TrailblazeClient  # Light SDK wrapper

server = Server()

@server.tool("acme_driver_login")
async def login(email: str, password: str, ctx: Context) -> dict:
    """Log in to Acme Driver app."""
    # Context-aware client - supports multi-device automatically
    tb = TrailblazeClient.from_context(ctx)

    await tb.clear_app_data("com.acme.driver")
    await tb.launch_app("com.acme.driver")
    await tb.tap(text="Sign in")
    await tb.input_text(email)
    await tb.input_text(password)
    return {"success": True}

@server.resource("trailblaze://registry")
async def get_registry():
    return {
        "tools": {
            "acme_driver_login": {
                "platforms": ["android", "ios"],
                "groups": ["auth"],
                "exposedToLlm": True,
                "isRecordable": True,
            }
        }
    }

if __name__ == "__main__":
    server.run()
