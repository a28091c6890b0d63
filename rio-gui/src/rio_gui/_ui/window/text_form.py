"""Menus on the status bar: how a file is encoded, and how its lines end."""

from collections.abc import Callable
from typing import Final

from PySide6.QtWidgets import QMenu, QWidget

from rio_core.protocol import RioError
from rio_core.protocol.ops.buffer import EncodingParams, LineEndingParams, ReloadParams
from rio_gui._ui.document.document import Document

_ENCODINGS: Final = (
    ("UTF-8", "utf-8", False),
    ("UTF-8 with a byte-order mark", "utf-8", True),
    ("UTF-16 LE", "utf-16-le", True),
    ("Western, Windows-1252", "cp1252", False),
    ("Western, ISO 8859-15", "iso8859-15", False),
    ("Central European, Windows-1250", "cp1250", False),
    ("Cyrillic, Windows-1251", "cp1251", False),
    ("Japanese, Shift JIS", "shift_jis", False),
    ("Chinese, GB 18030", "gb18030", False),
    ("Latin-1 (every byte as it is)", "latin-1", False),
)
_ENDS: Final = (("&LF (Unix)", "lf"), ("C&RLF (Windows)", "crlf"), ("&CR (old Macintosh)", "cr"))

Failed = Callable[[RioError], None]


def encoding_menu(document: Document, failed: Failed, parent: QWidget) -> QMenu:
    """Save in another encoding from now on, or read the file again in another one."""
    menu = QMenu(parent)
    save, read = menu.addMenu("&Save in"), menu.addMenu("&Read Again as")
    read.setEnabled(document.info.path is not None)
    for number, (title, name, bom) in enumerate(_ENCODINGS):
        label = f"&{number} {title}"
        params = EncodingParams(document.buffer, name, bom)
        save.addAction(label, _asking(document, "buffer.set_encoding", params, failed))
        if not (bom and name == "utf-8"):
            again = ReloadParams(document.buffer, encoding=name)
            read.addAction(label, _asking(document, "buffer.reload", again, failed))
    return menu


def line_end_menu(document: Document, failed: Failed, parent: QWidget) -> QMenu:
    """Make all line ends the same."""
    menu = QMenu(parent)
    for title, name in _ENDS:
        params = LineEndingParams(document.buffer, name)  # type: ignore[arg-type]  # one of the three
        action = menu.addAction(title, _asking(document, "buffer.set_line_ending", params, failed))
        action.setCheckable(True)
        action.setChecked(document.info.line_ending == name)
    return menu


def _asking(
    document: Document, op: str, params: EncodingParams | LineEndingParams | ReloadParams, failed: Failed
) -> Callable[[], None]:
    return lambda: document.call(op, document.update, failed, params)
