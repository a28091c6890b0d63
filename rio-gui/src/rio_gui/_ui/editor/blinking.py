"""The caret's blinking, as the desktop is set."""

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QGuiApplication


class Blinking(QObject):
    """Says when the caret is to be shown and hidden. It does not blink while keys are typed."""

    turned = Signal(bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._turn)
        self._shown = False

    def start(self) -> None:
        """Show the caret, and begin its time anew."""
        self._show(shown=True)
        time = QGuiApplication.styleHints().cursorFlashTime()
        if time > 0:
            self._timer.start(time // 2)

    def stop(self) -> None:
        """Hide the caret."""
        self._timer.stop()
        self._show(shown=False)

    def _turn(self) -> None:
        self._show(shown=not self._shown)

    def _show(self, *, shown: bool) -> None:
        if shown != self._shown:
            self._shown = shown
            self.turned.emit(shown)
