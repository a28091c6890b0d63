"""A server process that keeps the rules of the Messages API, and answers as it is told.

`POST /_answer` queues an answer: `blocks` and `stop` (null for a stream that breaks off there), where thinking gets its
signature when it is played; without one it says that it is done. `GET /_refused` gives the reasons of all refusals and
forgets them, `POST /_reset` forgets all. The port is the first line of its standard output; it ends with its standard
input.
"""

import json
import os
import sys
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from claude import strict_rules as rules

ANSWERS: deque[dict[str, Any]] = deque()
REFUSED: list[str] = []
DONE: dict[str, Any] = {"blocks": [{"type": "text", "text": "Done."}], "stop": "end_turn"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None: ...

    def reply(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.send_header("request-id", "req_strict")
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status: int, kind: str, reason: str) -> None:
        REFUSED.append(reason)
        error = {"type": "error", "error": {"type": kind, "message": reason}}
        self.reply(status, json.dumps(error).encode())

    def do_GET(self) -> None:
        if self.path == "/_refused":
            self.reply(200, json.dumps(REFUSED).encode())
            REFUSED.clear()
        else:  # a model that nobody lists
            self.reply(404, b'{"type":"error","error":{"type":"not_found_error","message":"no such model"}}')

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/_reset":
            ANSWERS.clear()
            REFUSED.clear()
            self.reply(200, b"{}")
            return
        if self.path == "/_answer":
            ANSWERS.append(json.loads(data))
            self.reply(200, b"{}")
            return
        try:
            body = json.loads(data.decode("utf-8"), parse_constant=lambda name: rules.need(False, name))
            reason = rules.refused(body, self.headers.items()) if self.path == "/v1/messages" else "path"
        except Exception as error:  # noqa: BLE001  whatever is wrong with a request is its sender's fault
            body, reason = {}, f"cannot be read: {error!r}"
        if reason:
            self.refuse(400, "invalid_request_error", reason)
            return
        self.reply(200, played(body, ANSWERS.popleft() if ANSWERS else DONE), "text/event-stream")


def played(body: dict[str, Any], answer: dict[str, Any]) -> bytes:
    usage = {"input_tokens": 10, "output_tokens": 1}
    start = {"id": "msg_strict", "role": "assistant", "model": body["model"], "content": [], "usage": usage}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    whole: list[dict[str, Any]] = []
    for index, given in enumerate(answer["blocks"]):
        block, kind = given, given["type"]
        deltas: list[dict[str, Any]] = []
        opening = block
        if kind == "thinking":
            block = {**block, "signature": rules.sign(body, whole)}
            opening = {**block, "thinking": "", "signature": ""}
            if block["thinking"]:
                deltas.append({"type": "thinking_delta", "thinking": block["thinking"]})
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        elif kind == "redacted_thinking":
            opening = block = {**block, "data": rules.sign(body, whole)}
        elif kind == "text":
            opening = {**block, "text": ""}
            deltas = [{"type": "text_delta", "text": char} for char in block["text"]]
        elif kind in ("tool_use", "server_tool_use"):
            opening = {**block, "input": {}}
            raw = block["input"] if isinstance(block["input"], str) else json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": raw[at : at + 3]} for at in range(0, len(raw), 3)]
            block = {**block, "input": block["input"] or {}}
        whole.append(block)
        events.append({"type": "content_block_start", "index": index, "content_block": opening})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    if answer["stop"] is None:
        return encoded(events)
    events.append({"type": "message_delta", "delta": {"stop_reason": answer["stop"]}, "usage": {"output_tokens": 7}})
    events.append({"type": "message_stop"})
    return encoded(events)


def encoded(events: list[dict[str, Any]]) -> bytes:
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
