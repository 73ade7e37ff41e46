#!/usr/bin/env python3
"""Names colours. An external tool provider that is spoken to by HTTP: a POST for each
message of JSON-RPC. Its argument is a file into which it writes its address. It lists
another tool once the first was called."""

import json
import os
import signal
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

COLOURS = {"red": "#ff0000", "green": "#00ff00", "blue": "#0000ff"}
ONE = {"name": "colour", "description": "The code of a colour.", "parameters": {
    "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}
ALL = {"name": "colours", "description": "The names of all colours."}
tools = [ONE]


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": "1.0"}
    if method == "tools/list":
        return {"tools": tools}
    if params["name"] == "colours":
        return {"result": sorted(COLOURS)}
    if ALL not in tools:
        tools.append(ALL)
    return {"result": COLOURS[params["arguments"]["name"]]}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        if self.headers["X-Colour-Key"] != "a-key-for-colours":
            self.send_error(403)
            return
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = {"jsonrpc": "2.0", "id": request["id"]}
        try:
            reply["result"] = answer(request["method"], request["params"])
        except Exception as error:
            reply["error"] = {"code": -32000, "message": repr(error)}
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
with open(sys.argv[1] + ".new", "w") as file:
    file.write("http://127.0.0.1:%d/" % server.server_port)
os.rename(sys.argv[1] + ".new", sys.argv[1])
signal.signal(signal.SIGINT, lambda *_: os._exit(0))
server.serve_forever()
