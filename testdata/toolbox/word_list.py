#!/usr/bin/env python3
"""Lists the most frequent words of a text. A script of a toolbox that describes itself
in JSON: its arguments come as JSON, too. Only subagents of the types explore and
librarian are told of it, beside the main agent."""

import collections
import json
import os
import sys

DESCRIPTION = {
    "name": "word-list",
    "description": "List the most frequent words of a text, with their counts.",
    "args": {
        "text": ["string", "the text"],
        "most": ["integer?", "how many words; 3 if left out"],
    },
    "subagentTypes": ["explore", "librarian"],
}


def execute(arguments):
    most = arguments.get("most", 3)
    if not isinstance(most, int) or most < 1:
        return {"success": False, "error": {"message": "most must be 1 or more", "type": "ValueError"}}
    if not isinstance(arguments.get("text"), str):
        return {"success": False, "error": {"message": "text is required", "type": "ValueError"}}
    print("counting", file=sys.stderr)
    words = collections.Counter(arguments["text"].lower().split())
    ranked = sorted(words.items(), key=lambda pair: (-pair[1], pair[0]))
    return {"success": True, "output": {"words": [[word, n] for word, n in ranked[:most]]}}


if os.environ.get("TOOLBOX_ACTION") == "describe":
    json.dump(DESCRIPTION, sys.stdout)
else:
    json.dump(execute(json.load(sys.stdin)), sys.stdout)
