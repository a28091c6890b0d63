"""A hand that works an editor as a person does: keys, mouse, looking at the text."""

import sys
import time
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFont, QFontDatabase, QInputMethodEvent, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gui.plain_core import lines_of
from rio_core.protocol.ops.buffer import BufferParams, CloseParams, OpenParams, TextParams
from rio_gui._ui.document.document import Document
from rio_gui._ui.editor.editor import Editor
from rio_gui._ui.link import child
from rio_gui._ui.link.link import Link
from rio_gui._ui.link.pipe import Pipe

LIMIT = 10.0
FAKE = (sys.executable, str(Path(__file__).with_name("fake_core.py")))


def wait(condition, what="what was waited for"):
    deadline = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not come")
        QApplication.processEvents()
        time.sleep(0.0005)


@contextmanager
def running_core(command=child.COMMAND, patience=LIMIT):
    pipe = Pipe(child.start(command))
    link = Link(pipe, patience=patience)
    link.pipe = pipe
    gone = []
    greeted = []
    pipe.gone.connect(lambda: gone.append(True))
    link.greeted.connect(greeted.append)
    link.greet("tests")
    wait(lambda: greeted or gone, "hello")
    yield link
    link.close()
    wait(lambda: gone, "the end of the core")
    link.deleteLater()
    pipe.deleteLater()
    QApplication.processEvents()


def call(link, op, params):
    answer = []
    link.call(op, params, lambda result: answer.append((result, None)), lambda error: answer.append((None, error)))
    wait(lambda: answer, f"the answer to {op}")
    result, error = answer[0]
    if error is not None:
        raise error
    return result


def open_file(link, path):
    return call(link, "buffer.open", OpenParams(str(path)))


class Hand:
    def __init__(self, link, info, path, size=(700, 400)):
        self.link = link
        self.path = path
        self.document = Document(link, info)
        link.happened.connect(self._event)
        font = QFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        font.setPointSizeF(10)
        self.editor = Editor(link, self.document, font)
        self.failures = []
        self.refusals = []
        self.editor.failed.connect(self.failures.append)
        self.editor.refused.connect(lambda texts, error: self.refusals.append((texts, error)))
        self.editor.resize(*size)
        self.editor.show()
        self.editor.activateWindow()
        self.editor.setFocus()
        self.settle()

    def _event(self, event):
        if getattr(event, "buffer", None) == self.document.buffer:
            self.document.on_event(event)

    def close(self):
        self.editor.close()
        self.editor.deleteLater()
        if self.link.alive:
            call(self.link, "buffer.close", CloseParams(self.document.buffer, discard=True))
        QApplication.processEvents()

    def settle(self):
        view = self.editor

        def settled():
            shown = list(view.visible_lines())
            return (
                self.document.settled
                and self.document.ready
                and view.queue.empty
                and shown
                and all(line.shape for line in shown)
            )

        wait(settled, "the end of what was done")

    def type(self, text):
        for char in text:
            if char == "\n":
                QTest.keyClick(self.editor, Qt.Key.Key_Return)
            else:
                QTest.sendKeyEvent(
                    QTest.KeyAction.Click, self.editor, Qt.Key.Key_unknown, char, Qt.KeyboardModifier.NoModifier
                )
        self.settle()

    def keys(self, *names):
        for name in names:
            combination = QKeySequence(name)[0]
            QTest.keyClick(self.editor, combination.key(), combination.keyboardModifiers())
        self.settle()

    def do(self, *names):
        for name in names:
            self.editor.do(name)
        self.settle()

    def select(self, start, end):
        self.editor.go_to(*start)
        self.editor.go_to(*end)
        self.settle()
        anchor, caret = (type(self.editor.selection[0])(*place) for place in (start, end))
        self.editor.queue.run(lambda: self.editor.select((anchor, caret)))
        self.settle()

    def compose(self, preedit="", commit=""):
        event = QInputMethodEvent(preedit, [])
        if commit:
            event.setCommitString(commit)
        QApplication.sendEvent(self.editor, event)
        self.settle()

    def click(self, place, modifiers=Qt.KeyboardModifier.NoModifier):
        QTest.mouseClick(self.editor.viewport(), Qt.MouseButton.LeftButton, modifiers, self.point(place))
        self.settle()

    def point(self, place):
        rect = self.editor.caret_rect(self.editor.selection[1].__class__(*place))
        return QPoint(rect.left(), rect.center().y())

    @property
    def caret(self):
        return tuple(self.editor.selection[1])

    @property
    def selection(self):
        return tuple(map(tuple, self.editor.selection))

    def text(self):
        """The text in the core, after comparing what the window knows with it."""
        self.settle()
        parts = []
        first = 0
        while True:
            page = call(self.link, "buffer.text", TextParams(self.document.buffer, first))
            parts.append(page.text)
            if not isinstance(page.next, int):
                break
            first = page.next
        text = "".join(parts)
        lines = lines_of(text)
        assert self.document.total == len(lines)
        for number in self.document.lines.numbers():
            line = self.document.lines.get(number)
            assert line.length == len(lines[number])
            assert line.text == lines[number][line.first : line.last]
        return text

    def save(self):
        call(self.link, "buffer.save", BufferParams(self.document.buffer))
        return self.path.read_bytes()

    def clipboard(self):
        return QApplication.clipboard().text()
