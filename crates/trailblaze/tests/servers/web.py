"""FastMCP as a team would serve it, on stdio or, when it is told to, over http. Several devices may meet in it."""

import asyncio
import json
import os
import urllib.request

from fastmcp import Context, FastMCP
from fastmcp.server.dependencies import get_http_headers

server = FastMCP("web")
present = set()


def ours(ctx: Context) -> dict:
    own = ctx.request_context.meta or {}
    return own if isinstance(own, dict) else own.model_dump(by_alias=True)


@server.tool(name="py_meta")
async def meta(ctx: Context) -> dict:
    own = ours(ctx)
    return {"device": own["trailblaze"]["device"], "invocation": own["trailblazeInvocationId"]}


@server.tool(name="py_talk")
async def talk(ctx: Context) -> str:
    await ctx.warning("a word of warning")
    await ctx.report_progress(1, 2, "halfway")
    return "talked"


@server.tool(name="py_back")
async def back(ctx: Context) -> str:
    own = ours(ctx)["trailblaze"]
    action = {"type": "call_tool", "tool_name": "tap", "arguments_json": json.dumps({"id": "add"})}
    body = {"session_id": own["sessionId"], "invocation_id": own["invocationId"], "action": action}
    request = urllib.request.Request(
        own["baseUrl"] + "/scripting/callback", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    answer = await asyncio.to_thread(lambda: json.load(urllib.request.urlopen(request)))
    return json.dumps(answer["result"]["success"])


@server.tool(name="py_who")
async def who() -> str:
    return get_http_headers(include_all=True).get("x-team-token", "nobody")


@server.tool(name="py_meet")
async def meet(ctx: Context, n: int) -> dict:
    """Answers when so many devices are here at once."""
    present.add(ours(ctx)["trailblaze"]["device"]["id"])
    while len(present) < n:
        await asyncio.sleep(0.01)
    return {"process": os.getpid(), "transport": os.environ.get("FASTMCP_TRANSPORT", "stdio")}


@server.tool(name="py_end")
async def end() -> None:
    print("goodbye", flush=True)
    os._exit(3)


if __name__ == "__main__":
    folder = os.environ.get("WEB_CERTIFICATE")
    if folder:
        tls = {"ssl_keyfile": f"{folder}/key.pem", "ssl_certfile": f"{folder}/certificate.pem"}
        server.run(show_banner=False, transport="http", port=int(os.environ["FASTMCP_PORT"]), uvicorn_config=tls)
    else:
        server.run(show_banner=False)
