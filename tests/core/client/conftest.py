"""Cores that misbehave: real processes that speak the protocol and do as a test says."""

import sys
from collections.abc import Callable

import pytest

PREAMBLE = r"""
import json, os, signal, sys, time

def read():
    line = sys.stdin.buffer.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)

def write(message):
    sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
    sys.stdout.buffer.flush()

def answer(request, result):
    write({"jsonrpc": "2.0", "id": request["id"], "result": result})

def refuse(request, kind, message, action):
    data = {"kind": kind, "message": message, "action": action}
    write({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32000, "message": message, "data": data}})

def event(name, **params):
    write({"jsonrpc": "2.0", "method": name, "params": params})

def buffers():
    return {"buffers": []}

HELLO = {"protocol": 1, "version": "1", "instance": "i", "capabilities": {}, "approve": True, "newer": 1}

def greet():
    request = read()
    answer(request, HELLO)
    return request

def serve_out():
    "Answer what a client's close asks, and end."
    while True:
        request = read()
        if request["method"] == "core.shutdown":
            answer(request, {})
            sys.exit(0)
        answer(request, {"buffers": []})
"""


@pytest.fixture
def core() -> Callable[[str], list[str]]:
    """The command of a core that runs this body."""
    return lambda body: [sys.executable, "-P", "-c", PREAMBLE + body]
