"""What is raised, and what is not."""

from __future__ import annotations

import pickle
import socket

import pytest
from conftest import Style
from fake import FakeServer, Request, refuse, respond

from trailblaze import (
    ActionFailed,
    ApiError,
    AssertionFailed,
    ConnectionFailed,
    DeadlineExceeded,
    TrailblazeError,
)
from trailblaze.errors import CODES


def failed(message: str, variant: str) -> bytes:
    return respond({"success": False, "message": message, "variant": variant})


def test_an_action_that_failed_raises_its_message_and_variant(style: Style, server: FakeServer) -> None:
    server.answer = lambda request, connection: failed("no element `Pay`", "ExceptionThrown")
    tb = style.client(server.address, key="k")
    with pytest.raises(ActionFailed, match="no element `Pay`") as raised:
        style.run(tb.tap(text="Pay"))
    assert raised.value.variant == "ExceptionThrown"
    assert isinstance(raised.value, TrailblazeError) and not isinstance(raised.value, AssertionError)


def test_an_assertion_that_failed_is_an_assertion_error(style: Style, server: FakeServer) -> None:
    server.answer = lambda request, connection: failed("`Pay` is not visible", "AssertionFailed")
    tb = style.client(server.address, key="k")
    with pytest.raises(AssertionError, match="`Pay` is not visible"):
        style.run(tb.assert_visible(text="Pay"))
    with pytest.raises(AssertionFailed) as raised:
        style.run(tb.wait_until_visible("Pay", 1))
    assert isinstance(raised.value, AssertionError) and isinstance(raised.value, TrailblazeError)
    assert raised.value.variant == "AssertionFailed"


def test_a_tool_that_asserts_raises_as_an_assertion_does(style: Style, server: FakeServer) -> None:
    server.answer = lambda request, connection: failed("the total is wrong", "AssertionFailed")
    with pytest.raises(AssertionFailed, match="the total is wrong"):
        style.run(style.client(server.address, key="k").call_tool("acme_checkTotal"))


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_code_arrives_with_its_message(style: Style, server: FakeServer, code: str) -> None:
    server.answer = lambda request, connection: refuse(code, "the field `text` is missing", 418)
    tb = style.client(server.address, key="k")
    for call in (lambda: tb.tap(text=""), lambda: tb.is_visible("x"), lambda: tb.capture_screen()):
        with pytest.raises(ApiError) as raised:
            style.run(call())
        assert raised.value.code == code
        assert raised.value.message == "the field `text` is missing"
        assert str(raised.value) == f"the field `text` is missing ({code})"
        assert isinstance(raised.value, DeadlineExceeded) == (code == "deadline_exceeded")


def test_the_connection_stays_open_after_an_error(style: Style, server: FakeServer) -> None:
    server.answer = lambda request, connection: refuse("not_found", "unknown", 404)
    tb = style.client(server.address, key="k")
    for _ in range(3):
        with pytest.raises(ApiError):
            style.run(tb.tap(1, 2))
    assert server.connections == 1


def test_no_model_is_a_clear_error(style: Style, server: FakeServer) -> None:
    server.answer = lambda request, connection: refuse("failed_precondition", "no model is configured")
    tb = style.client(server.address, invocation_id="c-1")
    with pytest.raises(ApiError, match="no model is configured") as raised:
        style.run(tb.ask_llm("Is it green?", True))
    assert raised.value.code == "failed_precondition"


@pytest.mark.parametrize(
    ("status", "body", "code", "words"),
    [
        (404, b"<html>nothing here</html>", "unimplemented", "HTTP status 404: '<html>nothing here</html>'"),
        (403, b"", "permission_denied", "HTTP status 403: empty"),
        (502, b"\xff\xfe", "unavailable", "HTTP status 502"),
        (500, b'{"message": "no code"}', "unknown", "HTTP status 500"),
        (500, b'{"code": "odd", "message": "said"}', "unknown", "said"),
        (500, b'{"code": ["odd"]}', "unknown", "odd"),
        (400, b"[1]", "internal", "HTTP status 400"),
        (301, b"", "unknown", "HTTP status 301"),
    ],
)
def test_a_status_without_an_error_of_ours_is_explained(
    style: Style, server: FakeServer, status: int, body: bytes, code: str, words: str
) -> None:
    server.answer = lambda request, connection: respond(body, status, content_type="text/html")
    with pytest.raises(ApiError) as raised:
        style.run(style.client(server.address, key="k").tap(1, 2))
    assert raised.value.code == code and words in str(raised.value)


@pytest.mark.parametrize("body", [b"", b"ok", b"<html>", b"[1]", b'{"success":', b"\xff", b"[" * 100_000, b"1" * 5000])
def test_a_success_that_is_not_a_json_object_is_an_error(style: Style, server: FakeServer, body: bytes) -> None:
    server.answer = lambda request, connection: respond(body)
    with pytest.raises(ApiError, match="not JSON|not a JSON object|nested too deeply"):
        style.run(style.client(server.address, key="k").tap(1, 2))


def test_a_message_of_the_wrong_shape_is_an_error(style: Style, server: FakeServer) -> None:
    tb = style.client(server.address, key="k")
    for wrong in ({"root": 5}, {"root": {"children": 7}}, {"picture": {"data": "a"}}, {"root": {"bounds": []}}):
        server.answer = lambda request, connection, wrong=wrong: respond(wrong)
        with pytest.raises(ApiError, match="the response is not a valid ScreenState"):
            style.run(tb.capture_screen())


def test_an_action_without_success_has_failed(style: Style, server: FakeServer) -> None:
    server.answer = lambda request, connection: respond({})
    with pytest.raises(ActionFailed, match="it failed"):
        style.run(style.client(server.address, key="k").tap(1, 2))


def test_unknown_fields_are_ignored(style: Style, server: FakeServer) -> None:
    server.answer = lambda request, connection: respond({"success": True, "message": "done", "since": 2027})
    assert style.run(style.client(server.address, key="k").tap(1, 2)).message == "done"


def test_an_address_where_nothing_listens_is_an_error_that_names_it(style: Style) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(ConnectionFailed, match=f"cannot be reached at http://127.0.0.1:{port}") as raised:
        style.run(style.client(f"localhost:{port}").tap(1, 2))
    assert raised.value.code == "unavailable" and isinstance(raised.value, ConnectionError)


def test_a_peer_that_does_not_speak_http_is_an_error(style: Style, server: FakeServer) -> None:
    def banner(request: Request, connection: socket.socket) -> bytes:
        return b"SSH-2.0-OpenSSH_9.6\r\n\r\n"

    server.answer = banner
    with pytest.raises(ApiError, match="the response is not HTTP"):
        style.run(style.client(server.address, key="k").tap(1, 2))


@pytest.mark.parametrize(
    "error",
    [
        ActionFailed("a", "b"),
        AssertionFailed("a", "b"),
        ApiError("not_found", "a"),
        DeadlineExceeded("deadline_exceeded", "a"),
    ],
)
def test_errors_can_cross_processes(error: TrailblazeError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and vars(again) == vars(error) and str(again) == str(error)
