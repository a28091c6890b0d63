"""Whole windows, worked as a person does."""

from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtGui import QFont, QFontDatabase, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox

from gui.harness import wait
from rio_gui._ui.window.main_window import MainWindow


def new_window(link):
    font = QFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
    font.setPointSizeF(10)
    window = MainWindow(link, font)
    window.show()
    window.activateWindow()
    return window


def shut(window):
    """Close a window without a question."""
    for editor in window.tabs.editors():
        editor.document._dirty_in_core = editor.document.dirty = False
    window.close()
    wait(lambda: not window.isVisible(), "the end of the window")
    window.deleteLater()
    QApplication.processEvents()


def opened(window, path, *where):
    window.tabs.open(str(path), *where)

    def shown():
        editor = window.tabs.current()
        return editor is not None and (editor.document.info.path or "").endswith(Path(path).name)

    wait(shown, "the tab")
    editor = window.tabs.current()
    wait(lambda: all(line.shape for line in editor.visible_lines()), "its lines")
    return editor


def key(widget, name):
    # No window manager gives the window back its focus when a dialog closes.
    widget.window().activateWindow()
    QApplication.processEvents()
    combination = QKeySequence(name)[0]
    QTest.keyClick(widget, combination.key(), combination.keyboardModifiers())


def press(title, seen):
    """Press the button of the dialog that is about to be shown."""

    def do():
        box = QApplication.activeModalWidget()
        if not isinstance(box, QMessageBox):
            QTimer.singleShot(20, do)
            return
        seen.append(box.text())
        next(button for button in box.buttons() if button.text().replace("&", "") == title).click()

    QTimer.singleShot(20, do)
