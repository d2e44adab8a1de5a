# acme_tools_server.py
from fastmcp import FastMCP as Server
from trailblaze import TrailblazeClient  # Generated from proto

tb = TrailblazeClient("localhost:52525")
server = Server()

@server.tool("acme_driver_login")
async def login(email: str, password: str) -> dict:
    """Log in to Acme Driver app with credentials."""
    await tb.clear_app_data(package_id="com.acme.driver")
    await tb.launch_app(package_id="com.acme.driver")
    await tb.tap(text="Sign in")
    await tb.input_text(text=email)
    await tb.input_text(text=password)
    await tb.tap(text="Submit")
    await tb.wait_until_visible(text="Go Online", timeout_ms=10000)
    return {"success": True}

@server.tool("acme_handle_onboarding")
async def handle_onboarding() -> dict:
    # Check if cookie consent dialog is shown
    if await tb.is_visible(text="Accept Cookies"):
        await tb.tap(text="Accept")

    # Check if we need to dismiss a tutorial
    if await tb.is_visible(text="Skip Tutorial"):
        await tb.tap(text="Skip")

    # Check which screen we're on
    if await tb.has_text("Welcome back"):
        return {"screen": "returning_user"}
    elif await tb.has_text("Create Account"):
        return {"screen": "new_user"}
    else:
        return {"screen": "unknown"}

@server.tool("acme_login_with_retry")
async def login_with_retry(email: str, password: str, max_attempts: int = 3) -> dict:
    for attempt in range(max_attempts):
        await tb.tap(text="Sign In")
        await tb.input_text(email)
        await tb.input_text(password)
        await tb.tap(text="Submit")

        # Check outcome without throwing
        if await tb.is_visible(text="Dashboard", timeout_ms=5000):
            return {"success": True, "attempts": attempt + 1}

        if await tb.is_visible(text="Invalid credentials"):
            # Wrong password, no point retrying
            return {"success": False, "error": "invalid_credentials"}

        # Network error or slow response, try again

    return {"success": False, "error": "max_attempts_exceeded"}

@server.tool("acme_query_and_assert")
async def query_and_assert() -> dict:
    # QUERY - returns False, doesn't throw
    visible = await tb.is_visible(text="Login Button")  # → False

    # ASSERTION - throws/fails if not visible
    await tb.assert_visible(text="Login Button")  # → raises AssertionError

if __name__ == "__main__":
    server.run()
