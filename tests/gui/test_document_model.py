"""The window's document, a core and a plain text stay equal, whatever is typed, delayed, refused or done elsewhere."""

from collections import deque

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from gui.plain_core import PlainCore, applied, lines_of
from rio_core._engine.documents import edits as core_edits
from rio_core._engine.documents.buffer import Buffer
from rio_core._engine.documents.text import Text
from rio_core._engine.serving.on_buffer import _undone
from rio_core.protocol import EVENTS, OPS, RioError, encode
from rio_core.protocol.events import BufferChanged, BufferSaved
from rio_core.protocol.messages import failure, result_of
from rio_core.protocol.ops.buffer import BufferResult
from rio_core.protocol.values import Edit as Wire
from rio_gui._ui.document.document import Document
from rio_gui._ui.document.edits import Edit, Position
from support.profiles import examples


class Channel:
    """A core behind a channel on which every message waits until it is let through."""

    def __init__(self, core):
        self.core = core
        self.there = deque()
        self.back = deque()
        self.calls = {}
        self.terse = False

    def call(self, op, params, done, failed):
        ident = len(self.calls) + 1
        self.calls[ident] = OPS[op], done, failed
        message = {"jsonrpc": "2.0", "id": ident, "method": op, "params": params}
        self.there.append(msgspec.json.decode(encode(message)))
        return ident

    def let_there(self):
        if self.there:
            self.back += self.core.answer(self.there.popleft())

    def let_back(self, document):
        if not self.back:
            return
        message = self.back.popleft()
        told = message.get("params" if "method" in message else "result") or {}
        if self.terse and "edits" in told and ("request" in told or "method" not in message):
            told.update(edits=[], reset=True)
        if "method" in message:
            event = msgspec.convert(message["params"], EVENTS[message["method"]])
            document.on_event(event)
            return
        op, done, failed = self.calls[message["id"]]
        try:
            result = result_of(message)
        except RioError as error:
            failed(error)
        else:
            done(msgspec.convert(result, op.result))


class RealCore:
    """The core's own document behind the same door as the plain one."""

    def __init__(self, text):
        self.events = []
        self.buffer = Buffer("b1", Text([text]), changed=self._changed)
        self.saved = text
        self.texts = {}

    @property
    def text(self):
        return str(self.buffer.text)

    @property
    def revision(self):
        return self.buffer.revision

    def info(self):
        return {**PlainCore(self.text).info(), "revision": self.revision}

    def _changed(self, change):
        self.texts[change.revision] = self.text
        edits = [Wire(edit.start, edit.end, edit.text) for edit in change.edits]
        request = UNSET if change.request is None else change.request
        event = BufferChanged("b1", change.revision, edits, change.origin, change.dirty, request=request)
        message = {"jsonrpc": "2.0", "method": "buffer.changed", "params": event}
        self.events.append(msgspec.json.decode(encode(message)))

    def foreign(self, edits):
        ((start, end, text),) = edits
        edit = core_edits.Edit(self.buffer.text.position(start), self.buffer.text.position(end), text)
        self.buffer.edit(self.revision, [edit], origin="agent")
        return self.events.pop()

    def answer(self, request):
        params, ident = request["params"], request["id"]
        try:
            result = getattr(self, request["method"].replace(".", "_"))(params, ident)
        except RioError as error:
            answer = {"jsonrpc": "2.0", "id": ident, "error": failure(error)}
        else:
            answer = {"jsonrpc": "2.0", "id": ident, "result": result}
        messages, self.events = [*self.events, msgspec.json.decode(encode(answer))], []
        return messages

    def buffer_edit(self, params, ident):
        place = core_edits.Position
        edits = [core_edits.Edit(place(*e["start"]), place(*e["end"]), e["text"]) for e in params["edits"]]
        selection = params["selection"] and tuple(place(*at) for at in params["selection"])
        applied = self.buffer.edit(
            params["revision"], edits, origin="client", request=ident, group=params["group"], selection=selection
        )
        return {"revision": applied.revision, "edits": [Wire(e.start, e.end, e.text) for e in applied.edits]}

    def buffer_lines(self, params, ident):
        plain = PlainCore(self.text, revision=self.revision)
        return plain.buffer_lines(params, ident)[1]

    def buffer_undo(self, _params, ident):
        return msgspec.structs.asdict(_undone(self.buffer.undo(origin="undo", request=ident)))

    def buffer_redo(self, _params, ident):
        return msgspec.structs.asdict(_undone(self.buffer.redo(origin="redo", request=ident)))

    def buffer_save(self, _params, _ident):
        self.buffer.saved(self.buffer.version())
        self.saved = self.text
        event = BufferSaved("b1", self.revision, "file.txt", False)
        self.events.append(msgspec.json.decode(encode({"jsonrpc": "2.0", "method": event.NAME, "params": event})))
        return {"revision": self.revision, "bytes": 0}


class Follower:
    """A view that keeps the whole text by applying what it is told, as long as it is told everything."""

    def __init__(self, text):
        self.text = text
        self.aside = []

    def changed(self, edits, *, own):
        if self.text is not None:
            self.text = applied(self.text, [edit._asdict() for edit in edits])

    def arrived(self):
        pass

    state_changed = arrived

    def set_aside(self, texts, error):
        self.text = None
        self.aside += texts
        assert error.kind == "stale"
        assert error.message
        assert error.action


class Run:
    def __init__(self, text, core):
        self.core = core(text)
        self.channel = Channel(self.core)
        self.document = Document(self.channel, msgspec.convert(self.core.info(), BufferResult))
        self.view = Follower(text)
        self.document.views.append(self.view)
        self.next = 0x4E00
        self.typed = ""

    def fresh(self, count):
        text = "".join(map(chr, range(self.next, self.next + count)))
        self.next += count
        self.typed += text
        return text

    def place(self, where):
        """A valid place in the window's text, at the column 0 of a line that is not known."""
        line, column = where
        number = line % self.document.lines.total
        known = self.document.lines.get(number)
        return Position(number, column % (known.length + 1) if known else 0)

    def insert(self, where, count, line_ends, group):
        start = self.place(where)
        text = self.fresh(count)
        for where_to in line_ends:
            at = where_to % (len(text) + 1)
            text = text[:at] + "\n" + text[at:]
        if text:
            self.document.edit([Edit(start, start, text)], group=group, selection=(start, start))

    def remove(self, where, to, count):
        start, end = sorted((self.place(where), self.place(to)))
        self.document.edit([Edit(start, end, self.fresh(count))], selection=(start, end))

    def type_on(self, where, count):
        """Several keys in a row, as separate edits."""
        place = self.place(where)
        for char in self.fresh(count):
            self.document.edit([Edit(place, place, char)], group="typing", selection=(place, place))
            place = Position(place.line, place.column + 1)

    def indent(self, first, count):
        """One change of several places."""
        first %= self.document.lines.total
        last = min(first + count, self.document.lines.total)
        self.document.edit([Edit(Position(n, 0), Position(n, 0), self.fresh(2)) for n in range(first, last)])

    def elsewhere(self, start, size, text):
        length = len(self.core.text)
        start %= length + 1
        self.channel.back.append(self.core.foreign([(start, min(start + size, length), text)]))

    def untold(self, start, size, text):
        """A change elsewhere that counts as too long to be told."""
        self.elsewhere(start, size, text)
        self.channel.back[-1]["params"].update(edits=[], reset=True)
        self.view.text = None

    def terse(self, on):
        """The window's own changes count as too long to be told."""
        self.channel.terse = on
        self.view.text = None if on else self.view.text

    def step(self, op):
        self.document.call(f"buffer.{op}", lambda _: None, lambda _: None)

    def fetch(self, first, count):
        self.document.fetch(first % self.document.lines.total, count)

    def pass_on(self, there, back):
        for _ in range(there):
            self.channel.let_there()
        for _ in range(back):
            self.channel.let_back(self.document)

    def check(self):
        lines = self.document.lines
        if self.view.text is None:
            return
        expected = lines_of(self.view.text)
        assert lines.total == len(expected)
        for number in lines.numbers():
            assert lines.get(number).text == expected[number]
            assert lines.get(number).whole

    def settle(self):
        while self.channel.there or self.channel.back:
            self.pass_on(1, 1)
        assert self.document.settled
        for first in range(0, len(lines_of(self.core.text)), 7):
            self.document.fetch(first, 7)
            while self.channel.there or self.channel.back:
                self.pass_on(1, 1)


small = st.integers(0, 40)
wheres = st.tuples(small, small)
groups = [None, "typing"]
operations = st.one_of(
    st.tuples(st.just("insert"), wheres, st.integers(0, 4), st.lists(small, max_size=2), st.sampled_from(groups)),
    st.tuples(st.just("remove"), wheres, wheres, st.integers(0, 2)),
    st.tuples(st.just("type_on"), wheres, st.integers(1, 5)),
    st.tuples(st.just("indent"), small, st.integers(1, 4)),
    st.tuples(st.just("elsewhere"), st.integers(0, 300), st.integers(0, 9), st.text("xy\n", max_size=4)),
    st.tuples(st.just("untold"), st.integers(0, 300), st.integers(0, 9), st.text("xy\n", max_size=4)),
    st.tuples(st.just("terse"), st.booleans()),
    st.tuples(st.just("step"), st.sampled_from(["undo", "redo", "save"])),
    st.tuples(st.just("fetch"), small, st.integers(1, 9)),
    st.tuples(st.just("pass_on"), st.integers(0, 4), st.integers(0, 4)),
)  # fmt: skip


@pytest.mark.parametrize("core", [PlainCore, RealCore])
@examples(ci=300, deep=5000)
@given(text=st.text("ab \n", max_size=80), run=st.lists(operations, max_size=40))
def test_window_core_and_plain_text_stay_equal(core, text, run):
    it = Run(text, core)
    for name, *arguments in run:
        if it.document.ready or name in ("elsewhere", "untold", "terse", "fetch", "pass_on"):
            getattr(it, name)(*arguments)
        else:
            it.document.fetch(0, 1)  # as every command does
        it.check()
    it.settle()
    lines = it.document.lines
    expected = lines_of(it.core.text)
    assert it.document.revision == it.core.revision
    assert lines.total == len(expected)
    assert [lines.get(n).text for n in range(lines.total)] == expected
    assert it.document.dirty == (it.core.buffer.dirty if core is RealCore else it.core.text != it.core.saved)
    if it.view.text is not None:
        assert it.view.text == it.core.text
    seen = "".join([*it.core.texts.values(), it.core.text, *it.view.aside])
    assert set(it.typed) <= set(seen), "typed text is nowhere"
