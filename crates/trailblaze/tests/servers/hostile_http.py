"""An HTTP server that misbehaves in one way, given by the first argument. It prints its port."""

import json
import queue
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BEHAVIOUR = sys.argv[1]
TOOLS = [{"name": "far_act", "inputSchema": {"type": "object", "properties": {}}}]
ANSWERS = queue.Queue()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    n_calls = 0

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", kind="application/json", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if kind:
            self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def result(self, id, result, **headers):
        self.reply(200, json.dumps({"jsonrpc": "2.0", "id": id, "result": result}).encode(), **headers)

    def stream(self):
        """The beginning of a stream that ends when its connection does."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, message, id=None):
        lines = [f"id: {id}"] if id else []
        lines += ["retry: 10", "data: " + (json.dumps(message) if message else "")]
        self.wfile.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.wfile.flush()

    def do_DELETE(self):
        self.reply(200)

    def do_GET(self):
        if BEHAVIOUR == "breaks_off_and_goes_on" and self.headers.get("last-event-id") == "first":
            self.stream()
            answer = {"content": [{"type": "text", "text": "did it in two pieces"}]}
            return self.event({"jsonrpc": "2.0", "id": Handler.open_call, "result": answer})
        self.reply(405)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        method, id = message.get("method"), message.get("id")
        early = EARLY.get(BEHAVIOUR)
        if early:
            return early(self, message)
        if id is None or method is None:
            if method is None:
                ANSWERS.put(message)
            return self.reply(202, kind=None)
        if method == "initialize":
            version = message["params"]["protocolVersion"]
            opened = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "far", "version": "1"}}
            return self.result(id, opened, mcp_session_id="one")
        if method == "tools/list":
            return self.result(id, {"tools": TOOLS})
        Handler.n_calls += 1
        LATE.get(BEHAVIOUR, Handler.act)(self, message)

    def act(self, message):
        self.result(message["id"], {"content": [{"type": "text", "text": "did it"}]})

    def hang(self, message):
        while True:
            time.sleep(1)

    def break_off(self, message):
        self.stream()
        self.event({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "about to"}})

    def break_off_and_go_on(self, message):
        Handler.open_call = message["id"]
        self.stream()
        self.event(None, "first")

    def cut_short(self, message):
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", "1000")
        self.end_headers()
        self.wfile.write(b'{"jsonrpc": "2.0", ')
        self.close_connection = True

    def flood(self, message):
        self.stream()
        try:
            self.wfile.write(b"data: ")
            for _ in range(100):
                self.wfile.write(b"x" * (1 << 20))
        except OSError:
            pass

    def forget(self, message):
        """The first call finds no session; the one after it is answered."""
        if Handler.n_calls == 1:
            return self.reply(404, b"no such session", "text/plain")
        self.act(message)

    def forget_always(self, message):
        self.reply(404)

    def ask_in_return(self, message):
        self.stream()
        self.event({"jsonrpc": "2.0", "id": "mine", "method": "ping"})
        heard = json.dumps(ANSWERS.get(timeout=60))
        self.event({"jsonrpc": "2.0", "id": message["id"], "result": {"content": [{"type": "text", "text": heard}]}})


def status(code, body=b"", kind="text/plain", **headers):
    return lambda handler, message: handler.reply(code, body, kind, **headers)


EARLY = {
    "wants_to_know_who": status(401, b"token required"),
    "repeats_the_token": lambda handler, message: handler.reply(401, f"who is {handler.headers['x-token']}?".encode(), "text/plain"),
    "lets_nobody_in": status(403, b"not you"),
    "is_elsewhere": status(404, b"Not Found"),
    "is_older": status(405, b"Method Not Allowed"),
    "is_broken": status(500, b"Internal Server Error\x1b[31m\n"),
    "has_moved": status(307, location="http://elsewhere.example/mcp"),
    "is_a_web_page": status(200, b"<!doctype html><title>Welcome</title>", "text/html; charset=utf-8"),
    "speaks_no_json": status(200, b"hello", "application/json"),
    "speaks_other_json": status(200, b'{"hello": 1}', "application/json"),
    "says_nothing": status(202, kind=None),
    "refuses_in_words": status(400, b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "not today"}}', "application/json"),
    "hangs": Handler.hang,
}
LATE = {
    "fails_calls": status(503, b"overloaded"),
    "breaks_off": Handler.break_off,
    "breaks_off_and_goes_on": Handler.break_off_and_go_on,
    "cuts_short": Handler.cut_short,
    "floods": Handler.flood,
    "forgets": Handler.forget,
    "forgets_always": Handler.forget_always,
    "asks_in_return": Handler.ask_in_return,
    "answers_another": lambda handler, message: handler.result(4711, {"content": []}),
    "never_answers": Handler.hang,
}

server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_address[1], flush=True)
server.serve_forever()
