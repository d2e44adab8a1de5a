from fastmcp import FastMCP as Server
from trailblaze import TrailblazeClient

server = Server()

def find_element_at(screen, x, y):
    return screen.element_at(x, y)

@server.tool("acme_driver_login")
async def login(email: str, password: str, _trailblaze: dict) -> dict:
    # Client initialized with device context
    tb = TrailblazeClient(context=_trailblaze)

    # All RPC calls automatically include deviceId
    await tb.clear_app_data("com.acme.driver")  # → routed to emulator-5554
    await tb.launch_app("com.acme.driver")      # → routed to emulator-5554
    await tb.tap(text="Sign in")                   # → routed to emulator-5554

    return {"success": True}

@server.tool("acme_tap_by_coords")
async def tap_by_coords(x: int, y: int, _trailblaze: dict) -> dict:
    tb = TrailblazeClient(context=_trailblaze)

    # Read-only queries are allowed (not recorded)
    screen = await tb.capture_screen()
    element = find_element_at(screen, x, y)

    # Return delegate list - TRAILBLAZE will execute and record these
    return {
        "success": True,
        "_trailblaze_delegates": [
            {"tool": "tap", "args": {"text": element.text}}
        ]
    }

@server.tool("acme_smart_tap")
async def smart_tap(description: str, _trailblaze: dict) -> dict:
    tb = TrailblazeClient(context=_trailblaze)

    # ═══════════════════════════════════════════════════════════════
    # READ-ONLY QUERIES (allowed, not recorded)
    # ═══════════════════════════════════════════════════════════════
    screen = await tb.capture_screen()
    visible = await tb.is_visible(text="Login")
    count = await tb.get_element_count(id="list_item")

    # ═══════════════════════════════════════════════════════════════
    # COMPUTE WHAT TO DELEGATE
    # ═══════════════════════════════════════════════════════════════
    if visible:
        delegates = [{"tool": "tap", "args": {"text": "Login"}}]
    else:
        delegates = [
            {"tool": "scroll", "args": {"direction": "down"}},
            {"tool": "tap", "args": {"text": "Login"}},
        ]

    # ═══════════════════════════════════════════════════════════════
    # RETURN DELEGATES - Trailblaze executes and records these
    # ═══════════════════════════════════════════════════════════════
    return {
        "success": True,
        "_trailblaze_delegates": delegates
    }

@server.resource("trailblaze://registry")
async def get_registry():
    return {
        "tools": {
            # Standard recordable tool
            "acme_driver_login": {
                "exposedToLlm": True,
                "isRecordable": True,
                "isDelegating": False,
            },
            # Delegating tool (converts to recordable primitives)
            "acme_tap_by_screen_coords": {
                "exposedToLlm": True,
                "isRecordable": False,  # Don't record coords-based tap
                "isDelegating": True,   # Converts to stable tap
            },
        }
    }

if __name__ == "__main__":
    server.run()
