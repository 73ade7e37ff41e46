#!/usr/bin/env python3
"""Converts lengths. An external tool provider that is spoken to over its standard streams:
one message of JSON-RPC a line."""

import json
import sys

TOOLS = [
    {
        "name": "feetOf",
        "description": "Convert metres to feet.",
        "inputSchema": {
            "type": "object",
            "properties": {"metres": {"type": "number", "description": "The length."}},
            "required": ["metres"],
        },
    }
]


def initialize(params):
    return {"protocolVersion": "1.0"}


def list_tools(params):
    return {"tools": TOOLS}


def execute(params):
    if params["name"] != "feetOf":
        raise ValueError("there is no tool " + params["name"])
    metres = params["arguments"]["metres"]
    if metres < 0:
        raise ValueError("a length is not negative")
    return {"result": {"feet": round(metres / 0.3048, 2)}}


METHODS = {"initialize": initialize, "tools/list": list_tools, "tools/execute": execute}

for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    try:
        reply["result"] = METHODS[request["method"]](request["params"])
    except Exception as error:
        reply["error"] = {"code": -32000, "message": str(error)}
    print(json.dumps(reply), flush=True)
