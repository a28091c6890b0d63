"""No reference to None is lost in Qt calls: a PySide6 release that loses them dies within seconds of editing."""

import sys

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None is immortal")
def test_calls_of_qt_lose_no_reference_to_none(opened):
    hand = opened("text\n" * 50)
    view = hand.editor.viewport()

    def key(kind):
        QApplication.sendEvent(hand.editor, QKeyEvent(kind, Qt.Key.Key_Right, Qt.KeyboardModifier.NoModifier))

    calls = [
        lambda: key(QEvent.Type.KeyPress),
        lambda: key(QEvent.Type.KeyRelease),
        view.repaint,
        view.update,
        QApplication.processEvents,
        lambda: hand.editor.resize(600, 300),
        lambda: hand.editor.verticalScrollBar().setValue(3),
    ]
    for call in calls:
        call()
        before = sys.getrefcount(None)
        for _ in range(300):
            call()
        assert abs(sys.getrefcount(None) - before) < 100
