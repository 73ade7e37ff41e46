#!/usr/bin/env python3
"""Counts words. A tool that describes itself and answers in Amplifier's shape."""

import json
import os
import sys


def describe():
    return {
        "name": "word-count",
        "description": "Count the words of a text.",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string", "description": "The text."}},
            "required": ["text"],
        },
    }


def execute(arguments):
    text = arguments.get("text")
    if not isinstance(text, str):
        return {"success": False, "error": {"message": "text is required", "type": "ValueError"}}
    config = json.loads(os.environ.get("TOOLBOX_CONFIG", "{}"))
    return {"success": True, "output": {"words": len(text.split()), "unit": config.get("unit", "words")}}


if os.environ.get("TOOLBOX_ACTION") == "describe":
    json.dump(describe(), sys.stdout)
else:
    json.dump(execute(json.load(sys.stdin)), sys.stdout)
