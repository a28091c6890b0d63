"""A plain model of the part of a core that an editor needs: one string, offsets, no cleverness.

It is written apart from the core and the window, so that the three can be compared. `answer` takes a request and
returns the messages that a core would send for it, in order.
"""

import re
from dataclasses import dataclass, field

_END = re.compile("\r\n|\n|\r")


class RefusedError(Exception):
    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


def lines_of(text):
    return _END.split(text)


def offset(text, position):
    line, column = position
    starts = [0, *(found.end() for found in _END.finditer(text))]
    ends = [*(found.start() for found in _END.finditer(text)), len(text)]
    if not 0 <= line < len(starts) or not 0 <= column <= ends[line] - starts[line]:
        raise RefusedError("bad_message", f"no such place: {position}")
    return starts[line] + column


def position(text, place):
    lines = lines_of(text[:place])
    return [len(lines) - 1, len(lines[-1])]


def applied(text, edits):
    for edit in edits:
        start, end = offset(text, edit["start"]), offset(text, edit["end"])
        text = text[:start] + edit["text"] + text[end:]
    return text


def to_offsets(text, edits):
    """Edits as (start, end, text) in offsets, each in the text that the one before left."""
    found = []
    for edit in edits:
        start, end = offset(text, edit["start"]), offset(text, edit["end"])
        found.append((start, end, edit["text"]))
        text = text[:start] + edit["text"] + text[end:]
    return found


def to_positions(text, edits):
    found = []
    for start, end, new in edits:
        found.append({"start": position(text, start), "end": position(text, end), "text": new})
        text = text[:start] + new + text[end:]
    return found


def carry(ours, theirs):
    """Ours behind theirs, in offsets."""
    theirs = list(theirs)
    moved = []
    for edit in ours:
        start, end, text = edit
        for index, (their_start, their_end, their_text) in enumerate(theirs):
            if start >= their_end:
                by = len(their_text) - (their_end - their_start)
                start, end = start + by, end + by
            elif end <= their_start:
                by = len(text) - (end - start)
                theirs[index] = their_start + by, their_end + by, their_text
            else:
                raise RefusedError("stale", "the text has changed there")
        moved.append((start, end, text))
    return moved


@dataclass
class PlainCore:
    text: str = ""
    revision: int = 0
    texts: dict = field(default_factory=dict)  # revision -> text before the change that made it
    changes: dict = field(default_factory=dict)  # revision -> that change, in offsets
    undo: list = field(default_factory=list)
    redo: list = field(default_factory=list)
    saved: str | None = None
    path: str = "file.txt"

    def __post_init__(self):
        self.saved = self.text

    def info(self):
        return {
            "buffer": "b1", "revision": self.revision, "path": self.path, "lines": len(lines_of(self.text)),
            "encoding": "utf-8", "bom": False, "clean": True, "line_ending": "lf", "dirty": self.text != self.saved,
            "read_only": False,
        }  # fmt: skip

    def change(self, edits, origin, request=None):
        """Apply edits given in offsets, as one revision; the event for it."""
        before = self.text
        wire = to_positions(before, edits)
        self.text = applied(before, wire)
        self.revision += 1
        self.texts[self.revision] = before
        self.changes[self.revision] = edits
        params = {
            "buffer": "b1", "revision": self.revision, "edits": wire, "origin": origin,
            "dirty": self.text != self.saved,
        }  # fmt: skip
        if request is not None:
            params["request"] = request
        return {"jsonrpc": "2.0", "method": "buffer.changed", "params": params}

    def foreign(self, edits, origin="agent"):
        self.undo.append((self.text, None))
        self.redo.clear()
        return self.change(edits, origin)

    def answer(self, request):
        name, params, ident = request["method"], request.get("params", {}), request["id"]
        try:
            events, result = getattr(self, name.replace(".", "_"))(params, ident)
        except RefusedError as error:
            data = {"kind": error.kind, "message": str(error), "action": "Look again."}
            return [{"jsonrpc": "2.0", "id": ident, "error": {"code": -32000, "message": str(error), "data": data}}]
        return [*events, {"jsonrpc": "2.0", "id": ident, "result": result}]

    def core_hello(self, params, _):
        return [], {
            "protocol": params["protocol"], "version": "0", "instance": "plain", "capabilities": {}, "approve": False,
        }  # fmt: skip

    def buffer_open(self, _params, _):
        return [], self.info()

    buffer_new = buffer_open

    def buffer_lines(self, params, _):
        lines = lines_of(self.text)
        first = min(params["first"], len(lines))
        chosen = lines[first : first + params["count"]]
        low, high = params.get("columns") or (0, None)
        return [], {
            "revision": self.revision, "first": first, "lines": [line[low:high] for line in chosen],
            "lengths": [len(line) for line in chosen], "total": len(lines),
        }  # fmt: skip

    def buffer_edit(self, params, ident):
        base = params["revision"]
        text = self.texts[base + 1] if base < self.revision else self.text
        edits = to_offsets(text, params["edits"])
        for revision in range(base + 1, self.revision + 1):
            # Each of theirs in turn, and what is left of ours is then behind it.
            edits = carry(edits, self.changes[revision])
        self.undo.append((self.text, params.get("selection")))
        self.redo.clear()
        event = self.change(edits, "client", ident)
        return [event], {"revision": self.revision, "edits": event["params"]["edits"]}

    def _step(self, source, target, origin, ident):
        if not source:
            return [], {
                "revision": self.revision,
                "changed": False,
                "dirty": self.text != self.saved,
                "selection": None,
            }
        text, selection = source.pop()
        target.append((self.text, None))
        event = self.change(
            [(0, len(self.text), text)] if origin == "whole" else _difference(self.text, text), origin, ident
        )
        dirty = self.text != self.saved
        return [event], {"revision": self.revision, "changed": True, "dirty": dirty, "selection": selection}

    def buffer_undo(self, _params, ident):
        return self._step(self.undo, self.redo, "undo", ident)

    def buffer_redo(self, _params, ident):
        return self._step(self.redo, self.undo, "redo", ident)

    def buffer_save(self, _params, _):
        self.saved = self.text
        params = {"buffer": "b1", "revision": self.revision, "path": self.path, "dirty": False}
        event = {"jsonrpc": "2.0", "method": "buffer.saved", "params": params}
        return [event], {"revision": self.revision, "bytes": len(self.text.encode())}

    def buffer_close(self, _params, _):
        return [{"jsonrpc": "2.0", "method": "buffer.closed", "params": {"buffer": "b1"}}], {}

    def core_shutdown(self, _params, _):
        return [], {}


def _difference(old, new):
    low = 0
    while low < min(len(old), len(new)) and old[low] == new[low]:
        low += 1
    high = 0
    while high < min(len(old), len(new)) - low and old[-1 - high] == new[-1 - high]:
        high += 1
    return [(low, len(old) - high, new[low : len(new) - high])]
