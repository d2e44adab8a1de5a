"""Makes the calls of the list with a client of some library, and prints what came back, as one line of JSON per protocol.

Standard input has the list and the servers: {"cases": [...], "servers": {"android": {"address": ..., "key": ...}, ...}}.
"""

import json
import sys


class Refused(Exception):
    """A call that was answered with an error."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code
        self.message = message


def run(protocols):
    """`protocols` maps a name to a function that makes a client from the servers.

    A client has `unary(case)`, which returns the answer as JSON, and `stream(case)`, which returns an iterator of answers
    that can be closed. Both raise `Refused`.
    """
    task = json.load(sys.stdin)
    for name, connect in protocols.items():
        # Texts with the name of the protocol are found again in the events of the session, which all protocols share.
        cases = json.loads(json.dumps(task["cases"]).replace("PROTOCOL", name))
        client = connect(task["servers"])
        results = [result(client, case) for case in cases]
        print(json.dumps({"protocol": name, "results": results}), flush=True)


def result(client, case):
    try:
        if "take" in case or "until" in case:
            return {"answers": follow(client, case)}
        return {"answer": client.unary(case)}
    except Refused as refused:
        return {"error": {"code": refused.code, "message": refused.message}}


def follow(client, case):
    stream = client.stream(case)
    try:
        if "take" in case:
            return [next(stream) for _ in range(case["take"])]
        first = next(stream)
        client.unary({**case["during"], "on": case["on"]})
        return [first, next(answer for answer in stream if case["until"] in answer["json"])]
    finally:
        stream.close()


def headers(server, case):
    key = case.get("key", server["key"])
    return {"authorization": f"Bearer {key}"} if key else {}
