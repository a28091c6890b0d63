"""The channel to the core: calls, events, a core that is slow, silent, dead or mad."""

import os
import signal
import sys
import time

import msgspec
import pytest
from PySide6.QtWidgets import QApplication

from gui.harness import FAKE, Hand, call, open_file, running_core, wait
from rio_core.protocol import PROTOCOL, RioError
from rio_core.protocol.events import BufferChanged
from rio_core.protocol.ops import Nothing
from rio_core.protocol.ops.buffer import EditParams, LinesParams, NewParams, OpenParams
from rio_core.protocol.ops.core import HelloParams, StatusResult
from rio_core.protocol.ops.project import ListResult
from rio_core.protocol.ops.project import OpenParams as ProjectParams
from rio_core.protocol.values import Edit
from rio_gui._ui.link import child, early
from rio_gui._ui.link.link import Link
from rio_gui._ui.link.messages import read, read_as
from rio_gui._ui.link.pipe import Pipe


def test_answers_are_typed_and_errors_say_what_to_do(core, tmp_path):
    assert isinstance(call(core, "core.status", Nothing()), StatusResult)
    with pytest.raises(RioError) as refused:
        call(core, "buffer.open", OpenParams(str(tmp_path / "missing")))
    assert refused.value.kind == "not_found"
    assert refused.value.action


def test_an_event_names_the_call_that_caused_it(core):
    events = []
    core.happened.connect(events.append)
    buffer = call(core, "buffer.new", NewParams("")).buffer
    revision = 0
    done = []
    ident = core.call(
        "buffer.edit", EditParams(buffer, revision, [Edit((0, 0), (0, 0), "a")]), done.append, pytest.fail
    )
    wait(lambda: done, "the answer")
    changes = [event for event in events if isinstance(event, BufferChanged) and event.request == ident]
    assert [change.edits[0].text for change in changes] == ["a"]


def test_many_calls_at_once_are_answered_each_by_its_own(core):
    buffer = call(core, "buffer.new", NewParams("x\n" * 500)).buffer
    answers = {}
    for first in range(500):
        core.call(
            "buffer.lines", LinesParams(buffer, first, 1), lambda r, at=first: answers.update({at: r}), pytest.fail
        )
    assert not answers
    wait(lambda: len(answers) == 500, "all answers")
    assert all(result.first == first for first, result in answers.items())


def test_a_message_larger_than_the_pipe_goes_through(core):
    text = "é\n" * 700_000
    buffer = call(core, "buffer.new", NewParams(text))
    assert buffer.lines == 700_001


def test_a_dead_core_is_noticed_and_said(qapp):
    with running_core(FAKE) as link:
        lost = []
        failed = []
        link.lost.connect(lost.append)
        link.pipe.send(b'{"jsonrpc":"2.0","method":"test.die","params":{"complaint":"no more"}}\n')
        link.call("core.status", Nothing(), pytest.fail, failed.append)
        wait(lambda: lost, "the end")
        assert lost == ["no more"]
        assert [error.kind for error in failed] == ["io"]
        assert not link.alive
        link.call("core.status", Nothing(), pytest.fail, failed.append)
        assert len(failed) == 1
        wait(lambda: len(failed) == 2, "the failure of a later call")


def test_a_silent_core_is_said_to_be_not_answering_and_then_to_answer_again(qapp):
    with running_core(FAKE, patience=0.2) as link:
        said = []
        link.answering.connect(said.append)
        link.pipe.send(b'{"jsonrpc":"2.0","method":"test.hang","params":{"seconds":0.8}}\n')
        done = []
        link.call("buffer.open", OpenParams("x"), done.append, pytest.fail)
        wait(lambda: said == [False], "that it does not answer")
        assert link.alive
        wait(lambda: done, "the answer after all")
        assert said == [False, True]


def test_a_stopped_core_blocks_no_key_and_loses_none(qapp, tmp_path):
    with running_core() as link:
        path = tmp_path / "file.txt"
        path.write_text("one\ntwo\n")
        hand = Hand(link, open_file(link, path), path)
        pid = link.pipe._pid
        os.kill(pid, signal.SIGSTOP)
        try:
            slowest = 0.0
            for _ in range(300):
                begun = time.monotonic()
                hand.editor.type_text("abcdefghij" * 100)
                QApplication.processEvents()
                slowest = max(slowest, time.monotonic() - begun)
            assert hand.document.lines.get(0).length == 300_003
        finally:
            os.kill(pid, signal.SIGCONT)
        assert hand.text() == "abcdefghij" * 30_000 + "one\ntwo\n"
        hand.close()


def test_text_in_view_stays_readable_when_the_core_dies(qapp, tmp_path):
    with running_core() as link:
        path = tmp_path / "file.txt"
        path.write_text("".join(f"line {n}\n" for n in range(300)))
        hand = Hand(link, open_file(link, path), path)
        lost = []
        link.lost.connect(lost.append)
        os.kill(link.pipe._pid, signal.SIGKILL)
        wait(lambda: lost, "the end")
        hand.editor.type_text("typed ")
        assert hand.document.shown(0).text == "typed line 0"
        assert all(line.shape for line in hand.editor.visible_lines())
        hand.editor.scroll_pixels(100)
        assert all(line.shape for line in hand.editor.visible_lines())
        hand.close()


@pytest.mark.parametrize("output", ["not json", '{"id": "x"}', "[]", '{"method": "buffer.changed", "params": {}}'])
def test_nonsense_from_the_core_ends_the_link_with_a_message(qapp, output):
    program = f"import sys,time; sys.stdin.readline(); print({output!r}, flush=True); time.sleep(60)"
    pipe = Pipe(child.start((sys.executable, "-c", program)))
    link = Link(pipe)
    lost, gone = [], []
    link.lost.connect(lost.append)
    pipe.gone.connect(lambda: gone.append(True))
    link.greet("tests")
    wait(lambda: lost, "the message")
    assert "cannot read" in lost[0]
    os.kill(pipe._pid, signal.SIGKILL)
    wait(lambda: gone, "the end")
    link.deleteLater()
    pipe.deleteLater()


def test_what_is_sent_early_is_what_would_be_sent_later(qapp, tmp_path):
    (tmp_path / "a").write_text("a\nb\n")
    for (op, given), params in (
        (early.hello("rio"), HelloParams(PROTOCOL, "rio", approve=True)),
        (early.open_project("/p"), ProjectParams("/p")),
        (early.open_file("/p/f"), OpenParams("/p/f")),
    ):
        assert given == msgspec.to_builtins(params), op
    process = child.start()
    sent = early.send(process.send, [early.hello("rio"), early.open_file(str(tmp_path / "a"))])
    assert [request.id for request in sent] == [1, 2]
    pipe = Pipe(process)
    link = Link(pipe, early=sent)
    gone, greeted = [], []
    pipe.gone.connect(lambda: gone.append(True))
    link.greeted.connect(greeted.append)
    link.greet("rio")
    info = call(link, "buffer.open", OpenParams(str(tmp_path / "a")))
    assert greeted
    assert info.lines == 3
    assert call(link, "buffer.lines", LinesParams(info.buffer, 0, 9)).lines == ["a", "b", ""]
    link.close()
    wait(lambda: gone, "the end")
    link.deleteLater()
    pipe.deleteLater()


def test_a_program_that_is_not_there_is_said(qapp):
    with pytest.raises(FileNotFoundError):
        child.start(("/nowhere/at/all",))


def test_a_file_name_that_is_not_utf8_arrives():
    line = rb'{"id":1,"result":{"entries":[{"name":"a\udc80","kind":"file","size":1,"ignored":false}],"total":1}}'
    assert read_as(read(line).result, ListResult).entries[0].name == "a\udc80"


def test_what_is_in_view_can_be_copied_when_the_core_is_dead(qapp, tmp_path):
    with running_core() as link:
        path = tmp_path / "file.txt"
        path.write_text("one\ntwo\n")
        hand = Hand(link, open_file(link, path), path)
        lost = []
        link.lost.connect(lost.append)
        os.kill(link.pipe._pid, signal.SIGKILL)
        wait(lambda: lost, "the end")
        hand.editor.type_text("typed ")
        hand.editor.do("select_all")
        hand.editor.do("copy")
        assert hand.clipboard() == "typed one\ntwo\n"
        hand.close()
