"""Which keys do what in an editor, beside the keys that the window's commands have."""

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

from rio_gui._ui.text.columns import from_units

MOTION_KEYS: Final = {
    "Left": "left",
    "Right": "right",
    "Ctrl+Left": "word_left",
    "Ctrl+Right": "word_right",
    "Up": "up",
    "Down": "down",
    "PgUp": "page_up",
    "PgDown": "page_down",
    "Home": "home",
    "End": "end",
    "Ctrl+Home": "document_start",
    "Ctrl+End": "document_end",
}
"""With Shift they extend the selection."""

COMMAND_KEYS: Final = {
    "Return": "newline",
    "Enter": "newline",
    "Shift+Return": "newline",
    "Shift+Enter": "newline",
    "Backspace": "backspace",
    "Shift+Backspace": "backspace",
    "Del": "delete",
    "Ctrl+Backspace": "delete_word_left",
    "Ctrl+Del": "delete_word_right",
    "Tab": "tab",
    "Shift+Tab": "outdent",
    "Backtab": "outdent",
    "Shift+Backtab": "outdent",
    "Ins": "toggle_overwrite",
    "Ctrl+Ins": "copy",
    "Shift+Ins": "paste",
    "Shift+Del": "cut",
    "Ctrl+Up": "scroll_up",
    "Ctrl+Down": "scroll_down",
    "Ctrl+=": "zoom_in",
    "Esc": "escape",
}

_CONTROL: Final = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.MetaModifier
_ALT_GR: Final = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier


def name_of(event: QKeyEvent) -> str:
    """A key with its modifiers, as the tables above write it."""
    modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier & ~Qt.KeyboardModifier.GroupSwitchModifier
    return QKeySequence(event.key() | modifiers.value).toString(QKeySequence.SequenceFormat.PortableText)


def typed(event: QKeyEvent) -> str:
    """The text that a key types; empty when it is a command.

    AltGr reaches some systems as Ctrl+Alt: a key that carries text with both is typed.
    """
    text = from_units(event.text())
    if not text or not all(char.isprintable() for char in text):
        return ""
    modifiers = event.modifiers()
    if modifiers & _CONTROL and modifiers & _ALT_GR != _ALT_GR:
        return ""
    if modifiers & Qt.KeyboardModifier.AltModifier and not modifiers & Qt.KeyboardModifier.ControlModifier:
        return ""  # access letters of menus
    return text
