"""A tool server that misbehaves as its first argument says. `good` is well-behaved; the others modify it.

Its tools are named after its second argument, so that two of them can serve one session.
"""

import http.client
import json
import os
import queue
import signal
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}
BEHAVIOURS = {}
# The project folder, through which a test and its server exchange files.
PLACE = Path(os.environ.get("HOSTILE_PLACE", "."))


def behaviour(bend):
    """Registers a function that modifies a server before it starts."""
    BEHAVIOURS[bend.__name__] = bend
    return bend


def complain(words):
    os.write(2, (words + "\n").encode())


def text(words):
    return {"content": [{"type": "text", "text": words}]}


def forever():
    while True:
        time.sleep(60)


# Held by the call that kills the server. Earlier calls get no further.
DYING = threading.Lock()


class Server:
    """Implements the protocol correctly. Behaviours replace its methods."""

    def __init__(self, prefix):
        self.prefix = prefix
        self.capabilities = {"tools": {}}
        self.writing = threading.Lock()
        self.asked = {}
        self.cancelled = threading.Event()
        self.last_invocation = None

    def serve(self):
        for line in sys.stdin.buffer:
            self.take(json.loads(line))
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()

    def take(self, message):
        method = message.get("method")
        if method is None:
            waiting = self.asked.get(str(message["id"]))
            if waiting:
                waiting.put(message)
        elif "id" not in message:
            self.notified(method, message.get("params") or {})
        elif method == "tools/call":
            # Calls run concurrently: a tool that calls back may be called again before it has answered.
            threading.Thread(target=self.called, args=(message,)).start()
        else:
            handler = {
                "initialize": self.initialize,
                "tools/list": self.list,
                "resources/read": self.read,
                "resources/list": self.resources,
                "ping": lambda message: self.answer(message, {}),
            }.get(method, self.unknown)
            handler(message)

    def initialize(self, message):
        version = message["params"]["protocolVersion"]
        info = {"name": self.prefix, "version": "1"}
        self.answer(message, {"protocolVersion": version, "capabilities": self.capabilities, "serverInfo": info})

    def unknown(self, message):
        self.refuse(message, -32601, "Method not found")

    def tools(self):
        return [{"name": self.named("act"), "inputSchema": SCHEMA}, {"name": self.named("rest"), "inputSchema": SCHEMA}]

    def list(self, message):
        self.answer(message, {"tools": self.tools()})

    def read(self, message):
        self.refuse(message, -32002, "Resource not found")

    def resources(self, message):
        self.unknown(message)

    def notified(self, method, params):
        if method == "notifications/cancelled":
            complain(f"cancelled: {params.get('reason')}")
            self.cancelled.set()

    def called(self, message):
        params = message["params"]
        arguments = params["arguments"]
        try:
            if params["name"] == self.named("act"):
                self.act(message, arguments, params["_meta"])
            else:
                self.other(message, params["name"], arguments, params["_meta"])
        except BrokenPipeError:
            pass

    def act(self, message, arguments, meta):
        self.answer(message, text(f"did {arguments.get('text', 'nothing')}"))

    def other(self, message, name, arguments, meta):
        self.answer(message, text("rested"))

    def named(self, name):
        return f"{self.prefix}_{name}"

    def answer(self, message, result):
        self.send({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def refuse(self, message, code, words):
        self.send({"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": words}})

    def send(self, message):
        self.write(json.dumps(message) + "\n")

    def write(self, line):
        with self.writing:
            data = line.encode()
            while data:
                data = data[os.write(1, data):]

    def ask(self, method, params):
        """Sends a request to the client, and returns the answer."""
        number = f"own-{len(self.asked) + 1}"
        self.asked[number] = queue.Queue()
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return self.asked[number].get(timeout=60)

    def call_back(self, meta, tool, arguments="{}", **changes):
        """Calls a tool through the callback. Returns the answer, without the ids."""
        own = meta["trailblaze"]
        action = {"type": "call_tool", "tool_name": tool, "arguments_json": arguments}
        request = {"session_id": own["sessionId"], "invocation_id": own["invocationId"], "action": action}
        request.update(changes)
        connection = http.client.HTTPConnection(urlsplit(own["baseUrl"]).netloc, timeout=60)
        connection.request("POST", "/scripting/callback", json.dumps(request), {"Content-Type": "application/json"})
        answer = connection.getresponse().read().decode()
        for name in ["invocation_id", "session_id"]:
            answer = answer.replace(str(request[name]), f"[{name}]")
        result = json.loads(answer)["result"]
        if result["type"] == "error":
            return f"refused: {result['message']}"
        return f"done: {result['textContent']}" if result["success"] else f"failed: {result['errorMessage']}"


@behaviour
def good(server):
    pass


# Starting.


@behaviour
def exits_at_once(server):
    complain("reading its settings\ncannot read settings.toml: no such file")
    sys.exit(3)


@behaviour
def never_runs(server):
    sys.exit(0)


@behaviour
def prints_and_exits(server):
    server.write("Rogue 1.0 needs a licence\n")
    sys.exit(1)


@behaviour
def exits_after_the_handshake(server):
    def list(message):
        complain("no tools today")
        os._exit(4)

    server.list = list


@behaviour
def prints_a_banner(server):
    server.write("Rogue 1.0 is ready\n\nlistening on stdio\n")


@behaviour
def logs_to_stdout(server):
    send = server.send

    def noisy(message):
        server.write(json.dumps({"level": 30, "msg": "about to answer", "method": {"id": 7}}) + "\n")
        send(message)

    server.send = noisy


@behaviour
def never_opens(server):
    server.initialize = lambda message: complain("still loading a large model")


@behaviour
def refuses_to_open(server):
    server.initialize = lambda message: server.refuse(message, -32600, "not today")


@behaviour
def speaks_another_version(server):
    server.initialize = lambda message: server.answer(message, {"protocolVersion": "1999-12-31", "capabilities": {}})


@behaviour
def opens_without_a_version(server):
    server.initialize = lambda message: server.answer(message, {"hello": "world"})


@behaviour
def opens_with_broken_json(server):
    server.initialize = lambda message: server.write("{'protocolVersion': '2025-11-25'}\n")


# Listing.


@behaviour
def never_lists(server):
    server.list = lambda message: None


@behaviour
def refuses_to_list(server):
    server.list = lambda message: server.refuse(message, -32603, "the catalogue is locked")


@behaviour
def lists_no_list(server):
    server.list = lambda message: server.answer(message, {"tools": {"rogue_act": SCHEMA}})


def lists(n):
    def bend(server):
        more = [{"name": server.named(f"tool{i}"), "inputSchema": SCHEMA} for i in range(n - 2)]
        tools = server.tools() + more
        server.tools = lambda: tools

    return bend


BEHAVIOURS["lists_ten_thousand"] = lists(10_000)
BEHAVIOURS["lists_too_many"] = lists(20_001)


@behaviour
def lists_one_name_twice(server):
    server.tools = lambda: [{"name": "rogue_act", "inputSchema": SCHEMA}] * 2


@behaviour
def lists_the_name_of_another(server):
    server.tools = lambda: [{"name": "good_act", "inputSchema": SCHEMA}]


@behaviour
def lists_a_dot(server):
    tools = server.tools()
    server.tools = lambda: tools + [{"name": "rogue.act", "inputSchema": SCHEMA}]


@behaviour
def lists_an_unspeakable_name(server):
    tools = server.tools()
    server.tools = lambda: tools + [{"name": "rogue\n\x1b[31m" + "x" * 5000, "inputSchema": SCHEMA}]


@behaviour
def lists_schemas_that_are_none(server):
    schemas = {
        "text": "string",
        "number": 5,
        "list": [],
        "array": {"type": "array"},
        "shape": {"type": "object", "properties": 5},
        "kind": {"type": "object", "properties": {"x": {"type": "strnig"}}},
        "nowhere": {"type": "object", "properties": {"x": {"$ref": "#/nowhere"}}},
        "elsewhere": {"type": "object", "properties": {"x": {"$ref": "http://127.0.0.1:9/schema.json"}}},
        "circle": {"type": "object", "$ref": "#"},
        "pattern": {"type": "object", "properties": {"x": {"type": "string", "pattern": "("}}},
        "flood": {"type": "object", "properties": ["x" * 5000]},
    }
    tools = [{"name": server.named(name), "inputSchema": schema} for name, schema in schemas.items()]
    listed = server.tools() + tools + [{"name": server.named("none")}]
    server.tools = lambda: listed


@behaviour
def lists_the_nameless(server):
    odd = [{}, 5, None, {"name": 7, "inputSchema": SCHEMA}, {"title": "x" * 5000}]
    listed = server.tools() + odd
    server.tools = lambda: listed


@behaviour
def pages_without_end(server):
    def list(message):
        page = int(message["params"].get("cursor", "0")) + 1
        server.answer(message, {"tools": [], "nextCursor": str(page)})

    server.list = list


@behaviour
def pages_in_a_circle(server):
    server.list = lambda message: server.answer(message, {"tools": server.tools()[:1], "nextCursor": "again"})


@behaviour
def changes_without_end(server):
    server.capabilities = {"tools": {"listChanged": True}}

    def list(message):
        server.answer(message, {"tools": server.tools()})
        server.send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})

    server.list = list


def registers(registry):
    def bend(server):
        server.capabilities = {"tools": {}, "resources": {}}
        contents = [{"uri": "trailblaze://registry", "text": registry}]
        server.read = lambda message: server.answer(message, {"contents": contents})

    return bend


WRONG_SHAPES = {
    "tools": {
        "rogue_act": {"isRecordable": "yes", "platforms": "all", "groups": [1], "toolset": {}, "somebody": "else's"},
        "rogue_rest": ["x" * 5000],
        "rogue_gone": {},
    },
    "groups": {"extra": {"defaultEnabled": "no"}, "odd": 5},
}
BEHAVIOURS["registers_no_json"] = registers("tools: rogue_act")
BEHAVIOURS["registers_a_list"] = registers("[1, 2]")
BEHAVIOURS["registers_wrong_shapes"] = registers(json.dumps(WRONG_SHAPES))
BEHAVIOURS["registers_parts_that_are_none"] = registers(json.dumps({"tools": 5, "groups": "all"}))


def fails_to_read(code, resources=None):
    """Returns an error for its registry, and optionally lists its resources."""

    def bend(server):
        server.capabilities = {"tools": {}, "resources": {}}
        server.read = lambda message: server.refuse(message, code, "KeyError: 'shelf'")
        if resources is not None:
            server.resources = lambda message: server.answer(message, {"resources": [{"uri": uri} for uri in resources]})

    return bend


BEHAVIOURS["fails_to_read_its_registry"] = fails_to_read(-32603)
BEHAVIOURS["fails_to_read_a_registry_that_it_lists"] = fails_to_read(0, ["other://thing", "trailblaze://registry"])
BEHAVIOURS["has_no_registry_in_the_older_way"] = fails_to_read(-32002)
BEHAVIOURS["has_no_registry_in_the_newer_way"] = fails_to_read(-32602)
# Python libraries of the older generation use one error code for everything.
BEHAVIOURS["has_no_registry_among_its_resources"] = fails_to_read(0, ["other://thing"])


@behaviour
def registers_bytes(server):
    server.capabilities = {"tools": {}, "resources": {}}
    contents = [{"uri": "trailblaze://registry", "blob": "e30="}]
    server.read = lambda message: server.answer(message, {"contents": contents})


@behaviour
def never_shows_its_registry(server):
    server.capabilities = {"tools": {}, "resources": {}}
    server.read = lambda message: None


# Calling.


def acts(act):
    """A behaviour that takes effect when a tool is called."""

    def bend(server):
        server.act = lambda message, arguments, meta: act(server, message, arguments, meta)

    BEHAVIOURS[act.__name__] = bend
    return act


@acts
def exits_mid_call(server, message, arguments, meta):
    DYING.acquire()
    complain("out of memory")
    os._exit(9)


@acts
def exits_between_calls(server, message, arguments, meta):
    DYING.acquire()
    server.answer(message, text("did it"))
    complain("that was all")
    os._exit(0)


@acts
def is_killed_mid_call(server, message, arguments, meta):
    os.kill(os.getpid(), signal.SIGKILL)


@acts
def leaves_an_heir(server, message, arguments, meta):
    # The child holds the pipes open, so that their end does not reveal the death.
    if os.fork() == 0:
        forever()
    os._exit(9)


@acts
def exits_in_its_first_call(server, message, arguments, meta):
    if not (PLACE / "first").exists():
        (PLACE / "first").touch()
        complain("out of memory")
        os._exit(9)
    server.answer(message, text("did it"))


@acts
def exits_after_its_first_call(server, message, arguments, meta):
    is_first = not (PLACE / "first").exists()
    (PLACE / "first").touch()
    server.answer(message, text("did it"))
    if is_first:
        os._exit(9)


@acts
def exits_in_its_second_call(server, message, arguments, meta):
    if (PLACE / "first").exists():
        (PLACE / "first").unlink()
        complain("about this call")
        os._exit(9)
    (PLACE / "first").touch()
    complain("about an earlier call")
    server.answer(message, text("did it"))


@acts
def prints_in_its_first_life(server, message, arguments, meta):
    if not (PLACE / "first").exists():
        (PLACE / "first").touch()
        print("noise of an earlier process", flush=True)
    os._exit(9)


@behaviour
def hangs_in_its_first_call(server):
    take = server.take

    def take_one_at_a_time(message):
        if message.get("method") != "tools/call":
            return take(message)
        is_first = not (PLACE / "first").exists()
        (PLACE / "first").touch()
        if is_first:
            forever()
        server.called(message)

    server.take = take_one_at_a_time


@behaviour
def exits_then_hangs(server):
    take = server.take

    def take_one_at_a_time(message):
        if message.get("method") != "tools/call":
            return take(message)
        n_calls = len(list(PLACE.glob("call-*")))
        (PLACE / f"call-{n_calls}").touch()
        if n_calls == 0:
            os._exit(9)
        if n_calls == 1:
            forever()
        server.called(message)

    server.take = take_one_at_a_time


@behaviour
def exits_when_told(server):
    if (PLACE / "told").exists():
        complain("told to exit")
        os._exit(3)


@acts
def answers_broken_json(server, message, arguments, meta):
    server.write('{"jsonrpc": "2.0", "id": 3, "result": {"content": [}\n')


@acts
def answers_no_object(server, message, arguments, meta):
    server.answer(message, "did it")


@acts
def answers_nothing(server, message, arguments, meta):
    server.send({"jsonrpc": "2.0", "id": message["id"]})


@acts
def answers_odd_fields(server, message, arguments, meta):
    server.answer(message, {"content": "did it", "isError": "no"})


@acts
def answers_another_id(server, message, arguments, meta):
    server.answer({"id": 4711}, text("did something"))


@acts
def answers_twice(server, message, arguments, meta):
    server.answer(message, text("did it"))
    server.answer(message, text("did it again"))


@acts
def never_answers(server, message, arguments, meta):
    (PLACE / "called").touch()
    server.cancelled.wait(60)


@acts
def answers_too_late(server, message, arguments, meta):
    server.cancelled.wait(60)
    server.answer(message, text("did it at last"))


@acts
def babbles(server, message, arguments, meta):
    progress = {"progressToken": "nobody's", "progress": "much"}
    server.send({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress})
    server.send({"jsonrpc": "2.0", "method": "notifications/message", "params": [1, 2]})
    server.send({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "loud", "data": {"a": 1}}})
    server.send({"jsonrpc": "2.0", "method": "notifications/unheard_of"})
    server.send({"jsonrpc": "2.0", "id": {"odd": 1}, "method": "no/such"})
    server.send([{"jsonrpc": "2.0", "method": "notifications/unheard_of"}])
    for line in ["[]", "[7]", "null", "7", '"words"', "{}", '{"jsonrpc": "2.0"}', "", "\x00"]:
        server.write(line + "\n")
    os.write(1, b"\xff\xfe\n")
    server.answer(message, text("did it"))


@acts
def answers_without_end(server, message, arguments, meta):
    server.write('{"jsonrpc": "2.0", "id": ' + str(message["id"]) + ', "result": "')
    for _ in range(100):
        server.write("x" * (1 << 20))
    server.write('"}\n')


@acts
def errs_without_an_id(server, message, arguments, meta):
    server.send({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}})


@acts
def errs_at_length(server, message, arguments, meta):
    server.refuse(message, -32603, "Internal error")


@acts
def answers_in_pieces(server, message, arguments, meta):
    server.answer(message, {"content": [{"type": "text", "text": str(number)} for number in range(10_000)]})


@acts
def chatters(server, message, arguments, meta):
    for number in range(1_500):
        params = {"progressToken": meta["progressToken"], "progress": number}
        server.send({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        server.send({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "debug", "data": "hm"}})
    server.answer(message, text("did it"))


@acts
def closes_its_stdout(server, message, arguments, meta):
    complain("I have nothing more to say")
    os.close(1)


@acts
def says_that_it_failed(server, message, arguments, meta):
    said = {"success": False, "error": "invalid_credentials"}
    if arguments.get("text") == "as text":
        server.answer(message, text(json.dumps(said)))
    else:
        server.answer(message, {"content": [], "structuredContent": said})


@acts
def fails_without_a_reason(server, message, arguments, meta):
    server.answer(message, {"content": [], "isError": True})


@acts
def answers_half_an_emoji(server, message, arguments, meta):
    server.answer(message, text("cut \ud83d"))


@acts
def answers_in_another_encoding(server, message, arguments, meta):
    line = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": text("a café")}, ensure_ascii=False) + "\n"
    with server.writing:
        os.write(1, line.encode("latin-1"))


# The error text of FastMCP 2.
UNEXPECTED = """1 validation error for call[act]
_trailblazeContext
  Unexpected keyword argument [type=unexpected_keyword_argument, input_value={'memory': {}}, input_type=dict]
    For further information visit https://errors.pydantic.dev/2.14/v/unexpected_keyword_argument"""


@acts
def refuses_the_context(server, message, arguments, meta):
    if "_trailblazeContext" in arguments:
        return server.answer(message, {**text(UNEXPECTED), "isError": True})
    complain(f"ran with {sorted(arguments)}, told of {meta['trailblaze']['device']['id']}")
    server.answer(message, text("did it"))


@acts
def refuses_the_context_as_a_parameter(server, message, arguments, meta):
    if "_trailblazeContext" in arguments:
        return server.refuse(message, -32602, "Invalid params: unknown field `_trailblazeContext`")
    complain("ran")
    server.answer(message, text("did it"))


@acts
def runs_and_mentions_the_context(server, message, arguments, meta):
    complain("ran")
    words = "paid, and then: Unexpected keyword argument `_trailblazeContext` [type=unexpected_keyword_argument, x]"
    server.answer(message, {**text(words), "isError": True})


@acts
def refuses_everything(server, message, arguments, meta):
    complain("asked")
    server.answer(message, {**text(UNEXPECTED), "isError": True})


@acts
def floods_stderr(server, message, arguments, meta):
    for number in range(300):
        complain(f"{number} " + "\x1b[31mx" * 20_000)
    os._exit(5)


@acts
def asks_in_return(server, message, arguments, meta):
    heard = [server.ask(method, {}) for method in ["ping", "sampling/createMessage", "roots/list"]]
    server.answer(message, text(json.dumps([answer.get("result", answer.get("error")) for answer in heard])))


def asking(**more):
    return {"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}], "maxTokens": 5, **more}


@acts
def asks_a_model_badly(server, message, arguments, meta):
    heard = []
    for params in [
        {},
        asking(maxTokens=-1),
        asking(messages=[{"role": "user", "content": {"type": "image", "mimeType": "image/png", "data": "%"}}]),
        asking(tools=[{"name": "x"}]),
        asking(_meta={"trailblazeInvocationId": "c-nothing"}),
        asking(messages=[{"role": "user", "content": "x" * (9 << 20)}]),
        asking(_meta={"trailblazeInvocationId": meta["trailblazeInvocationId"]}),
    ]:
        answer = server.ask("sampling/createMessage", params)
        heard.append(answer["error"]["message"] if "error" in answer else answer["result"]["content"]["text"])
    server.answer(message, text(json.dumps(heard)))


@behaviour
def requires_input_of_all_kinds(server):
    """Speaks the newer generation, and asks for what it was not offered."""
    version = "2026-07-28"
    sampling = {"method": "sampling/createMessage", "params": asking()}
    results = {
        "person": {"inputRequests": {"who": {"method": "elicitation/create", "params": {"message": "Who?"}}}},
        "roots": {"inputRequests": {"what": sampling, "roots": {"method": "roots/list"}}},
        "sampling": {"inputRequests": {"what": sampling}},
        "bad": {"inputRequests": {"what": {**sampling, "params": {"messages": 5}}}},
        "list": {"inputRequests": [1]},
        "nothing": {},
    }

    def unknown(message):
        if message["method"] == "server/discover":
            found = {"supportedVersions": [version], "capabilities": server.capabilities, "resultType": "complete"}
            return server.answer(message, found)
        server.refuse(message, -32601, "Method not found")

    def called(message):
        asked = results[message["params"]["arguments"]["text"]]
        server.answer(message, {"resultType": "input_required", **asked})

    server.unknown, server.called = unknown, called
    server.initialize = lambda message: server.refuse(message, -32601, "Method not found")


@acts
def works_long_and_says_so(server, message, arguments, meta):
    for number in range(8):
        params = {"progressToken": meta["progressToken"], "progress": number + 1, "total": 8, "message": "counting"}
        server.send({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        time.sleep(float(arguments["text"]))
    server.answer(message, text("counted"))


@behaviour
def closes_its_stdin(server):
    take = server.take

    def take_and_close(message):
        is_call = message.get("method") == "tools/call"
        if is_call:
            os.close(0)
        take(message)
        if is_call:
            forever()

    server.take = take_and_close


@behaviour
def reads_nothing(server):
    """Once it has listed its tools. When it is started again, it is well-behaved."""
    if (PLACE / "first").exists():
        return
    (PLACE / "first").touch()
    take = server.take

    def take_and_stop(message):
        take(message)
        if message.get("method") == "tools/list":
            forever()

    server.take = take_and_stop


# Delegating.


def delegates(asked):
    def bend(server):
        answer = {"content": [], "structuredContent": {"_trailblaze_delegates": asked}}
        server.act = lambda message, arguments, meta: server.answer(message, answer)

    return bend


BEHAVIOURS["delegates_to_itself"] = delegates([{"tool": "rogue_act", "args": {}}])
BEHAVIOURS["delegates_to_the_unknown"] = delegates([{"tool": "tapp", "args": {}}])
BEHAVIOURS["delegates_with_wrong_arguments"] = delegates([{"tool": "inputText", "args": {"text": 5}}])
BEHAVIOURS["delegates_ten_thousand"] = delegates([{"tool": "rogue_rest"}] * 10_000)
BEHAVIOURS["delegates_no_list"] = delegates({"tool": "x" * 5000})
BEHAVIOURS["delegates_the_nameless"] = delegates([{"tool": "rogue_rest"}, {"args": {}}])
BEHAVIOURS["delegates_odd_arguments"] = delegates([{"tool": "rogue_rest", "args": "text: x"}])


@acts
def delegates_ever_deeper(server, message, arguments, meta):
    deeper = {"tool": "rogue_act", "args": {"text": arguments.get("text", "") + "x"}}
    server.answer(message, {"content": [], "structuredContent": {"_trailblaze_delegates": [deeper]}})


@behaviour
def acts_though_it_delegates(server):
    schema = {"inputSchema": SCHEMA, "_meta": {"trailblaze/isDelegating": True}}
    server.tools = lambda: [{"name": "rogue_act", **schema}]

    def act(message, arguments, meta):
        looked = server.call_back(meta, "hasText", '{"text": "Counter"}')
        acted = server.call_back(meta, "tap", '{"id": "add"}')
        server.answer(message, text(f"{looked}\n{acted}"))

    server.act = act


# Calling back.


@acts
def calls_back_for_another_session(server, message, arguments, meta):
    server.answer(message, text(server.call_back(meta, "tap", '{"id": "add"}', session_id="s-elsewhere")))


@acts
def calls_back_for_an_earlier_call(server, message, arguments, meta):
    earlier, server.last_invocation = server.last_invocation, meta["trailblaze"]["invocationId"]
    if earlier is None:
        return server.answer(message, text("nothing yet"))
    server.answer(message, text(server.call_back(meta, "tap", '{"id": "add"}', invocation_id=earlier)))


@acts
def fails_after_its_call(server, message, arguments, meta):
    earlier, server.last_invocation = server.last_invocation, meta["trailblaze"]["invocationId"]
    if earlier is not None:
        about = {"level": "error", "data": "not paid (orders.go:42)", "_meta": {"trailblazeFailedCall": earlier}}
        server.send({"jsonrpc": "2.0", "method": "notifications/message", "params": about})
    server.answer(message, text("paid"))


@acts
def fails_when_told(server, message, arguments, meta):
    about = {"level": "error", "data": "not paid (orders.go:42)"}
    about["_meta"] = {"trailblazeFailedCall": meta["trailblaze"]["invocationId"]}

    def fail():
        while not (PLACE / "told").exists():
            time.sleep(0.02)
        server.send({"jsonrpc": "2.0", "method": "notifications/message", "params": about})

    threading.Thread(target=fail, daemon=True).start()
    server.answer(message, text("paid"))


@acts
def calls_itself(server, message, arguments, meta):
    server.answer(message, text(server.call_back(meta, "rogue_act")))


@behaviour
def calls_in_a_circle(server):
    def act(message, arguments, meta):
        server.answer(message, text(server.call_back(meta, "rogue_rest")))

    server.act = act
    server.other = lambda message, name, arguments, meta: act(message, arguments, meta)


refused = threading.Event()


@acts
def calls_back_too_late(server, message, arguments, meta):
    """The second call is answered when what the first one left behind was refused."""
    is_first, server.last_invocation = server.last_invocation is None, meta["trailblaze"]["invocationId"]
    if not is_first:
        refused.wait()
        return server.answer(message, text("did it"))
    server.answer(message, text("did it"))
    heard = server.call_back(meta, "hasText", '{"text": "Counter"}')
    while heard.startswith("done"):
        heard = server.call_back(meta, "hasText", '{"text": "Counter"}')
    complain(heard)
    refused.set()


@acts
def leaves_a_callback_open(server, message, arguments, meta):
    def wait():
        complain(server.call_back(meta, "waitUntilVisible", '{"text": "Nowhere", "timeoutMs": 300000}'))

    threading.Thread(target=wait).start()
    while not any("waitUntilVisible" in path.read_text() for path in PLACE.glob("logs/*/events.jsonl")):
        time.sleep(0.01)
    server.answer(message, text("did it"))


@acts
def calls_back_badly(server, message, arguments, meta):
    fly = {"type": "fly", "tool_name": "tap", "arguments_json": "{}"}
    heard = [
        server.call_back(meta, "tap", "id=add"),
        server.call_back(meta, "tap", '["add"]'),
        server.call_back(meta, "tapp"),
        server.call_back(meta, "inputText", '{"text": 5}'),
        server.call_back(meta, "assertVisible", '{"text": "Nowhere", "timeoutMs": 1}'),
        server.call_back(meta, "tap", action=fly),
        server.call_back(meta, "tap", version=2),
        server.call_back(meta, "launchApp", '{"packageId": "com.example.counter"}'),
    ]
    server.answer(message, text("\n".join(heard)))


@acts
def stays_in_its_call(server, message, arguments, meta):
    # Renamed into place, so that a reader never sees a partial file.
    device = meta["trailblaze"]["device"]["id"].replace("/", "-")
    part = PLACE / f"{device}.part"
    part.write_text(json.dumps(meta["trailblaze"]))
    part.rename(PLACE / f"{device}.json")
    own = meta["trailblaze"]["invocationId"] + ".enough"
    while not (PLACE / "enough").exists() and not (PLACE / own).exists():
        time.sleep(0.02)
    server.answer(message, text("stayed"))


# Ending.


@behaviour
def ignores_every_hint(server):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    serve = server.serve

    def serve_on():
        serve()
        forever()

    server.serve = serve_on


@behaviour
def forks(server):
    if os.fork() == 0:
        forever()


@behaviour
def daemonises(server):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            forever()
        os._exit(0)


@behaviour
def daemonises_in_its_call(server):
    """Its daemon leaves the session, and is reparented to the nearest subreaper."""

    def act(message, arguments, meta):
        if os.fork() == 0:
            os.setsid()
            middle = os.getpid()
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                while os.getppid() == middle:
                    time.sleep(0.001)
                (PLACE / "daemon.part").write_text(str(os.getpid()))
                os.rename(PLACE / "daemon.part", PLACE / "daemon.pid")
                forever()
            os._exit(0)

    server.act = act


def main():
    name, prefix = sys.argv[1:3]
    server = Server(prefix)
    BEHAVIOURS[name](server)
    server.serve()


if __name__ == "__main__":
    main()
