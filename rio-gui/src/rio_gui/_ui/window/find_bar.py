"""The bar to find and replace with, below the text. It stays while one edits."""

from itertools import pairwise
from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QToolBar,
    QWidget,
)

_KEPT: Final = 30
_OPTIONS: Final = (
    ("case", "Match &case", "A and a are not the same"),
    ("word", "Wh&ole words", "Only where no letter, digit or _ goes on at either end"),
    ("regex", "Re&gular expression", r"As in Python's re; ^ and $ at every line; \1 or \g<name> in the replacement"),
    ("within", "Selection onl&y", "Only in what was selected when this was checked"),
)


class History(QComboBox):
    """A line to type in that remembers what was used."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setCompleter(None)  # type: ignore[arg-type]  # None takes it away
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumContentsLength(16)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setAccessibleName(name)

    def remember(self) -> None:
        """Put the present text first."""
        text = self.currentText()
        if text and text != self.itemText(0):
            self.blockSignals(True)  # the text stays the same
            if (known := self.findText(text, Qt.MatchFlag.MatchExactly | Qt.MatchFlag.MatchCaseSensitive)) >= 0:
                self.removeItem(known)
            self.insertItem(0, text)
            while self.count() > _KEPT:
                self.removeItem(self.count() - 1)
            self.setCurrentIndex(0)
            self.setEditText(text)
            self.blockSignals(False)


class FindBar(QToolBar):
    """Fields, options and buttons; what they do is done elsewhere."""

    typed = Signal()
    """The pattern or an option is another."""
    within_wanted = Signal(bool)
    """The selection is to be searched, or the whole text again."""
    next_wanted = Signal()
    previous_wanted = Signal()
    replace_wanted = Signal()
    replace_all_wanted = Signal()
    stop_wanted = Signal()
    left = Signal()
    """The user has finished with it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Find", parent)
        self.setObjectName("find")
        self.setMovable(False)
        self.pattern = History("Find")
        self.replacement = History("Replace with")
        self.count = QLabel()
        self.count.setTextFormat(Qt.TextFormat.PlainText)
        self.count.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.count.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.count.setMinimumWidth(self.fontMetrics().horizontalAdvance("999 of 9999"))
        self.options = {name: self._option(title, tip) for name, title, tip in _OPTIONS}
        find_label, self._replace_label = QLabel("Fi&nd:"), QLabel("Rep&lace with:")
        find_label.setBuddy(self.pattern)
        self._replace_label.setBuddy(self.replacement)
        self._next = self._button("Ne&xt", self.next_wanted, "Enter or F3")
        self._previous = self._button("Prev&ious", self.previous_wanted, "Shift+Enter or Shift+F3")
        self._replace = self._button("&Replace", self.replace_wanted, "This one, and go to the next")
        self._replace_all = self._button("Replace &All", self.replace_all_wanted, "All at once, as one step of undo")
        self._stop = self._button("S&top", self.stop_wanted, "Stop the search")
        self._close = self._button("&Done", self.left, "Esc")
        self._place(find_label)
        for field in (self.pattern, self.replacement):
            field.installEventFilter(self)
            line = field.lineEdit()
            if line is not None:
                line.installEventFilter(self)
        self.pattern.editTextChanged.connect(lambda _: self.typed.emit())
        for name, box in self.options.items():
            if name == "within":
                box.toggled.connect(self.within_wanted)
            else:
                box.toggled.connect(lambda _: self.typed.emit())
        self.set_busy(busy=False)

    def _option(self, title: str, tip: str) -> QCheckBox:
        box = QCheckBox(title)
        box.setToolTip(tip)
        return box

    def _button(self, title: str, wanted: object, tip: str) -> QPushButton:
        button = QPushButton(title)
        button.setToolTip(tip)
        button.clicked.connect(lambda _checked=False: wanted.emit())  # type: ignore[attr-defined]  # a bound signal
        return button

    def _place(self, find_label: QLabel) -> None:
        body = QWidget()
        grid = QGridLayout(body)
        grid.setContentsMargins(6, 4, 6, 4)
        grid.setVerticalSpacing(4)
        grid.addWidget(find_label, 0, 0)
        grid.addWidget(self.pattern, 0, 1)
        grid.addWidget(self._previous, 0, 2)
        grid.addWidget(self._next, 0, 3)
        grid.addWidget(self._stop, 0, 4)
        grid.addWidget(self._close, 0, 5)
        grid.addWidget(self._replace_label, 1, 0)
        grid.addWidget(self.replacement, 1, 1)
        grid.addWidget(self._replace, 1, 2)
        grid.addWidget(self._replace_all, 1, 3)
        row = QHBoxLayout()
        row.setSpacing(8)
        for box in self.options.values():
            row.addWidget(box)
        row.addWidget(self.count, 1)
        grid.addLayout(row, 2, 0, 1, 6)
        grid.setColumnStretch(1, 1)
        body.setMinimumWidth(1)  # narrower than its parts rather than out of reach behind an arrow
        self.addWidget(body)
        buttons = (self._previous, self._next, self._replace, self._replace_all, self._stop, self._close)
        for one, other in pairwise((self.pattern, self.replacement, *self.options.values(), *buttons)):
            QWidget.setTabOrder(one, other)

    def ask(self, text: str, *, replace: bool) -> None:
        """Show it, ready to be typed in."""
        for part in (self._replace_label, self.replacement, self._replace, self._replace_all):
            part.setVisible(replace)
        self.show()
        if text:
            self.pattern.setEditText(text)
        line = self.pattern.lineEdit()
        if line is not None:
            line.setFocus(Qt.FocusReason.ShortcutFocusReason)
            line.selectAll()

    def checked(self, name: str) -> bool:
        """Whether an option is on."""
        return self.options[name].isChecked()

    def set_within(self, *, on: bool) -> None:
        """Show whether only a part of the text is searched."""
        box = self.options["within"]
        box.blockSignals(True)  # it is said, not asked for
        box.setChecked(on)
        box.blockSignals(False)

    def set_busy(self, *, busy: bool) -> None:
        """Show whether a search is going on."""
        self._stop.setEnabled(busy)

    def say(self, text: str) -> None:
        """Say how many there are, or what is wrong."""
        self.count.setText(text)
        self.count.setToolTip(text)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802  Qt's name
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                in_pattern = watched in (self.pattern, self.pattern.lineEdit())
                shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
                signal = self.previous_wanted if shift else self.next_wanted if in_pattern else self.replace_wanted
                signal.emit()
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.left.emit()
                return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802  Qt's name
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)
