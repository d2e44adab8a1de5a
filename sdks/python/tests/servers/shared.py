"""What the servers of these tests have in common."""

from typing import Any

from trailblaze import GroupInfo, ServerInfo, ToolMetadata, TrailblazeToolRegistry, result

NAMES = ["acme_tap", "acme_tapBlocking", "acme_answer", "acme_progress"]

# Of two modules that the server is composed of.
REGISTRY = (
    TrailblazeToolRegistry(tools={"acme_tap": ToolMetadata(platforms=("android", "ios"), groups=("auth",))}),
    TrailblazeToolRegistry(
        tools={"acme_answer": ToolMetadata(exposed_to_llm=False, is_delegating=True)},
        groups={"auth": GroupInfo(description="Signing in.", default_enabled=True)},
        server_info=ServerInfo(name="acme", version="1.0.0"),
    ),
)


def answer(kind: str) -> Any:
    """A result of each kind."""
    if kind == "success":
        return result.success("paid", {"total": 4}, remember={"total": 4}, forget=["cart"])
    if kind == "empty":
        return result.success()
    if kind == "error":
        return result.error("no network")
    if kind == "fatal":
        return result.fatal_error("no account")
    if kind == "assertion":
        return result.assertion_failed("the total is wrong")
    if kind == "unsupported":
        return result.unsupported("no camera")
    if kind == "missing":
        return result.missing_required_args(["email", "pin"])
    return result.delegates([result.delegate("tap", text="Pay"), {"tool": "pressBack"}])
