"""Another window: a process of its own, with a core of its own."""

import sys

from PySide6.QtCore import QProcess


def open_window(path: str) -> None:
    """Start rio on a folder or file."""
    QProcess.startDetached(sys.executable, ["-P", "-m", "rio_gui", path])
