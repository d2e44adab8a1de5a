"""Uses the API as a tool does. It must pass a strict type check, and must not if a command is renamed."""

from __future__ import annotations

from typing import Any

from trailblaze import (
    ActionFailed,
    ActionResult,
    ApiError,
    AssertionFailed,
    Direction,
    Element,
    GroupInfo,
    ServerInfo,
    SyncTrailblazeClient,
    ToolMetadata,
    TrailblazeClient,
    TrailblazeToolRegistry,
    registry,
    report_progress,
    result,
)

REGISTRY = TrailblazeToolRegistry(
    tools={"acme_login": ToolMetadata(platforms=("android", "ios"), groups=("auth",), exposed_to_llm=True)},
    groups={"auth": GroupInfo(description="Signing in.", default_enabled=True)},
    server_info=ServerInfo(name="acme", version="1.0.0"),
)


async def login(email: str, ctx: object) -> dict[str, Any]:
    tb = TrailblazeClient.from_context(ctx)
    await tb.clear_app_data(package_id="com.acme.driver")
    await tb.launch_app("com.acme.driver", launch_mode="force_restart")
    await tb.tap(100, 200)
    done: ActionResult = await tb.tap(text="Sign in", long_press=True, timeout=5)
    await tb.input_text(email)
    visible: bool = await tb.is_visible(text="Dashboard", timeout_ms=5000)
    text: str | None = await tb.get_element_text("total")
    count: int = await tb.get_element_count(id="row")
    direction: Direction = "down"
    if tb.maestro is not None:
        await tb.maestro.swipe(direction)
        shell = await tb.maestro.adb_shell("ls")
        print(shell.output, shell.exit_code)
    if tb.playwright is not None:
        value: Any = await tb.playwright.evaluate_js("1 + 1")
        print(value)
    async for event in tb.watch_events(after=3):
        print(event.number, event.type)
        break
    memory: dict[str, Any] = await tb.dump_memory()
    reply = await tb.ask_llm("Is it green?", await tb.capture_screen())
    message = await tb.sampling.create_message(messages=[{"role": "user", "content": "?"}], include_screenshot=True)
    await report_progress(ctx, 1, 2, "half")
    return {
        "done": done.message,
        "visible": visible,
        "text": text,
        "count": count,
        "memory": memory,
        "reply": reply.text + message.content,
    }


async def find(tb: TrailblazeClient) -> list[str]:
    screen = await tb.capture_screen(picture=True)
    found: Element | None = screen.find(text="Pay")
    size = len(screen.picture.data) if screen.picture is not None else 0
    return [f"{element.role} {element.text or ''} {size} {found}" for element in screen.elements]


def blocking(key: str) -> None:
    with SyncTrailblazeClient("localhost:52525", key=key) as tb:
        try:
            tb.assert_visible(text="Pay")
        except AssertionFailed as error:
            print(error.message, error.variant)
        except (ActionFailed, ApiError):
            raise
        for devices in tb.watch_devices():
            print([device.platform for device in devices.devices])


def answers() -> list[Any]:
    delegates = [result.delegate("tap", text="Pay"), {"tool": "pressBack"}]
    print(registry(REGISTRY, tools={"acme_pay": ToolMetadata()}))
    return [result.success("paid", {"total": 4}, remember={"total": 4}), result.error("no")] + [delegates]
