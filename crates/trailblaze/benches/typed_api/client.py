"""Makes calls of the typed API with one client, and prints how long they took. What a client imports is part of its time."""

import sys
import time

WARM_UP, CALLS = 200, 1000


def client(way, address, key):
    """When the client was imported, and calls as functions without arguments."""
    if way.startswith("sdk"):
        import trailblaze

        cls = trailblaze.TrailblazeClient if way == "sdk-async" else trailblaze.SyncTrailblazeClient
        imported = time.perf_counter()
        tb = cls(address, key=key)
        return imported, [lambda: tb.has_text("Sign in"), lambda: tb.tap(id="email"), tb.capture_screen]
    import grpc as library

    if way == "grpcio-async":
        import grpc.aio as library
    from trailblaze.v1 import commands_pb2 as pb
    from trailblaze.v1.commands_pb2_grpc import TrailblazeCommandsStub

    imported = time.perf_counter()
    stub = TrailblazeCommandsStub(library.insecure_channel(address.removeprefix("http://")))
    metadata = (("authorization", f"Bearer {key}"),)
    return imported, [
        lambda: stub.HasText(pb.HasTextRequest(text="Sign in"), metadata=metadata),
        lambda: stub.Tap(pb.TapRequest(id="email"), metadata=metadata),
        lambda: stub.CaptureScreen(pb.CaptureScreenRequest(), metadata=metadata),
    ]


async def measure(way, *server):
    imported, calls = client(way, *server)
    result, begin = {"importMs": (imported - BEGIN) * 1e3}, imported
    for name, call in zip(["hasTextMs", "tapMs", "screenMs"], calls):
        times = []
        for _ in range(WARM_UP + CALLS):
            answer = call()
            if is_async:
                await answer
            end = time.perf_counter()
            times.append(end - begin)
            begin = end
        # The very first includes what it takes to create a client and to connect.
        result.setdefault("firstMs", times[0] * 1e3)
        result[name] = sorted(times[WARM_UP:])[CALLS // 2] * 1e3
    return result


BEGIN = time.perf_counter()
if is_async := sys.argv[1].endswith("-async"):
    import asyncio

    result = asyncio.run(measure(*sys.argv[1:]))
else:
    # It awaits nothing, so it needs no loop.
    try:
        measure(*sys.argv[1:]).send(None)
    except StopIteration as done:
        result = done.value
import json

print(json.dumps(result))
