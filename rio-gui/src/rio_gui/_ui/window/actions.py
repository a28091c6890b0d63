"""Menus and toolbar, made from the commands."""

from collections.abc import Callable

from PySide6.QtCore import QSize
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu, QToolBar

from rio_gui._ui.window.commands import COMMANDS, MENUS, TOOLBAR, Command, Needs
from rio_gui._ui.window.icons import icon

SMALL = 16


class Actions:
    """The commands of one window as actions."""

    def __init__(self, window: QMainWindow, keys: dict[str, str], run: Callable[[Command], None]) -> None:
        self._actions: dict[str, QAction] = {}
        self._window = window
        self.menus: dict[str, QMenu] = {}
        for command in COMMANDS:
            self._actions[command.name] = self._action(command, keys.get(command.name, ""), run)
        self._make_menus()
        self.toolbar = self._make_toolbar()

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def _action(self, command: Command, key: str, run: Callable[[Command], None]) -> QAction:
        action = QAction(command.title, self._window)
        action.setObjectName(command.name)
        action.setStatusTip(command.tip)
        action.setCheckable(command.checkable)
        if key:
            action.setShortcut(QKeySequence.fromString(key, QKeySequence.SequenceFormat.PortableText))
        shown = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        action.setToolTip(f"{command.label} ({shown})" if shown else command.label)
        if command.icon:
            action.setIcon(icon(command.icon, self._window.palette()))
        action.setIconVisibleInMenu(False)
        action.triggered.connect(lambda _checked=False: run(command))
        return action

    def _make_menus(self) -> None:
        for name, title in MENUS.items():
            menu = self.menus[name] = self._window.menuBar().addMenu(title)
            group = 0
            for command in COMMANDS:
                if command.menu == name:
                    if command.group != group:
                        menu.addSeparator()
                        group = command.group
                    menu.addAction(self._actions[command.name])

    def _make_toolbar(self) -> QToolBar:
        bar = QToolBar("Toolbar", self._window)
        bar.setObjectName("toolbar")
        bar.setIconSize(QSize(SMALL, SMALL))
        for index, group in enumerate(TOOLBAR):
            if index:
                bar.addSeparator()
            for name in group:
                bar.addAction(self._actions[name])
        self._window.addToolBar(bar)
        return bar

    def enable(self, needs: Needs, *, enabled: bool) -> None:
        """Let the commands that need something be used, or not."""
        for command in COMMANDS:
            if command.needs == needs:
                self._actions[command.name].setEnabled(enabled)
