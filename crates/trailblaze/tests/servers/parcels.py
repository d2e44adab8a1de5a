"""A tool server for recordings: arguments of any shape, and a tool that delegates."""

import json
import sys

STORE = {
    "name": "parcel_store",
    "description": "Answers with its arguments.",
    "inputSchema": {
        "type": "object",
        "$defs": {
            "Count": {"type": "integer"},
            "Point": {"type": "object", "properties": {"x": {"$ref": "#/$defs/Count"}, "label": {"type": "string"}}},
        },
        "properties": {
            "data": {"type": "object"},
            "any": {},
            "count": {"$ref": "#/$defs/Count"},
            "point": {"$ref": "#/$defs/Point"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
    },
}
TAP = {
    "name": "parcel_tap",
    "description": "Taps what has this id.",
    "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
    "_meta": {"trailblaze/isDelegating": True, "trailblaze/isRecordable": False},
}


def call(name, arguments):
    arguments.pop("_trailblazeContext", None)
    if name == "parcel_tap":
        delegates = [{"tool": "tap", "args": {"id": arguments["id"]}}]
        return {"content": [], "structuredContent": {"_trailblaze_delegates": delegates}}
    return {"content": [{"type": "text", "text": json.dumps(arguments, sort_keys=True)}]}


def answer(message):
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        info = {"name": "parcels", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [STORE, TAP]}
    if method == "tools/call":
        return call(params["name"], params.get("arguments") or {})
    return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        continue
    result = answer(message)
    reply = {"error": {"code": -32601, "message": "Method not found"}} if result is None else {"result": result}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}), flush=True)
