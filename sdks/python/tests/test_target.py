"""Which address a client uses, and what it says about itself."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import Style
from fake import FakeServer

from trailblaze import ContextError, Device
from trailblaze import _target as target

CONTEXT = {
    "deviceId": "emulator-5554",
    "sessionId": "abc123",
    "platform": "ANDROID",
    "invocationId": "inv-1",
}


@pytest.mark.parametrize(
    ("address", "parsed"),
    [
        ("localhost:52525", (("127.0.0.1", "::1"), 52525, "")),
        ("http://LOCALHOST:1/", (("127.0.0.1", "::1"), 1, "")),
        ("127.0.0.1:8080", (("127.0.0.1",), 8080, "")),
        ("http://127.0.0.1:8080/tb/", (("127.0.0.1",), 8080, "/tb")),
        ("localhost", (("127.0.0.1", "::1"), 52525, "")),
        ("http://box", (("box",), 80, "")),
        ("[::1]:9", (("::1",), 9, "")),
        ("http://[::1]", (("::1",), 80, "")),
    ],
)
def test_addresses_are_understood(address: str, parsed: Any) -> None:
    assert target.parse_address(address) == parsed


@pytest.mark.parametrize(
    "address",
    ["https://localhost:1", "localhost:0", "localhost:x", "localhost:99999", "", "http://", "a b:1", "a\r\nb:1", "u@h:1", "h:1?x"],  # fmt: skip
)
def test_other_addresses_are_refused(style: Style, address: str) -> None:
    with pytest.raises(ValueError, match="is not an address such as"):
        target.parse_address(address)


def test_a_key_that_could_not_be_sent_is_refused(style: Style) -> None:
    for key in ("", " ", "a\r\nb", "ä"):
        with pytest.raises(ValueError, match="is not a session key"):
            style.client("localhost:1", key=key)


def test_the_argument_of_older_tools_says_everything(style: Style, server: FakeServer) -> None:
    tb = style.client(context={**CONTEXT, "baseUrl": server.address})
    assert (tb.device_id, tb.session_id, tb.invocation_id, tb.platform) == (
        "emulator-5554",
        "abc123",
        "inv-1",
        "android",
    )
    assert tb.playwright is None and tb.device is None
    style.run(tb.tap(text="Sign in"))
    ids = {"deviceId": "emulator-5554", "sessionId": "abc123", "invocationId": "inv-1"}
    assert server.last.json == {**ids, "text": "Sign in"}


def test_what_is_given_besides_a_context_wins(style: Style, server: FakeServer) -> None:
    tb = style.client(server.address, context={**CONTEXT, "baseUrl": "http://127.0.0.1:9"}, invocation_id="inv-2")
    style.run(tb.tap(1, 2))
    assert server.last.json["invocationId"] == "inv-2"


@pytest.mark.parametrize("context", ["text", 5, [1]])
def test_a_context_of_another_type_is_refused(style: Style, context: Any) -> None:
    with pytest.raises(TypeError, match="`context` must be the argument `_trailblaze`"):
        style.client(context=context)
    with pytest.raises(TypeError, match="`sessionId` of the context must be a text"):
        style.client(context={"sessionId": 5})


def test_the_meta_of_a_request_is_a_context_too(style: Style, server: FakeServer) -> None:
    device = {"id": "ios/sim-1", "platform": "ios", "widthPixels": 1, "heightPixels": 2, "driverType": "ios-host"}
    about = {"baseUrl": server.address, "sessionId": "s", "device": device, "memory": {"user": "ada"}}
    meta = {"trailblaze": about, "trailblazeInvocationId": "c-9"}
    for context in (meta, {"_meta": meta, "name": "acme_tap"}):
        tb = style.client_type.from_context(context, timeout=5)
        assert tb.device == Device(id="ios/sim-1", platform="ios", driver="ios-host", width=1, height=2)
        assert tb.memory == {"user": "ada"}
        style.run(tb.tap(1, 2))
        assert server.last.json["invocationId"] == "c-9"
        assert server.last.headers["connect-timeout-ms"] == "5000"


def test_what_is_not_a_context_is_refused(style: Style, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAILBLAZE_BASE_URL", "http://127.0.0.1:9")
    with pytest.raises(ContextError, match="was not made by Trailblaze"):
        style.client_type.from_context({})
    with pytest.raises(TypeError, match="a str is not the context of a tool"):
        style.client_type.from_context("text")

    class Outside:
        @property
        def request_context(self) -> None:
            raise ValueError("Context is not available outside of a request")

    with pytest.raises(ContextError, match="outside of a request"):
        style.client_type.from_context(Outside())


def test_inside_a_tool_server_a_client_without_an_id_reaches_its_own_trailblaze(
    style: Style, server: FakeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(target, "_said", set())
    monkeypatch.setenv("TRAILBLAZE_BASE_URL", server.address)
    for _ in range(2):
        style.run(style.client("localhost:9").tap(1, 2))
    style.run(style.client("localhost:9", session_id="s").tap(1, 2))
    style.run(style.client().tap(1, 2))
    style.run(style.client(server.address).tap(1, 2))
    assert len(server.requests) == 5
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [
        f"trailblaze: using {server.address}, which started this server, instead of localhost:9; "
        "`TrailblazeClient.from_context(ctx)` needs no address"
    ]


def test_inside_a_tool_server_a_client_with_an_id_or_a_key_uses_its_address(
    style: Style, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAILBLAZE_BASE_URL", "http://127.0.0.1:9")
    style.run(style.client(server.address, invocation_id="c-1").tap(1, 2))
    style.run(style.client(server.address, key="k").tap(1, 2))
    style.run(style.client(context={**CONTEXT, "baseUrl": server.address}).tap(1, 2))
    assert len(server.requests) == 3


def test_a_client_says_where_it_is(style: Style) -> None:
    assert repr(style.client("localhost:9")) == f"{style.client_type.__name__}('http://127.0.0.1:9')"
