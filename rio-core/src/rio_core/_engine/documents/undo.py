"""The undo stack: steps of exact changes, typing grouped by word, and the state that was saved."""

from collections import deque
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from rio_core._engine.documents.edits import Selection
from rio_core._engine.documents.encoding import Format

BUDGET: Final = 64 * 1024 * 1024
"""Characters that the steps of one document may hold."""

PAUSE: Final = 2.0
"""Seconds without a key after which typing begins a new step."""

_OVERHEAD: Final = 64  # what a change costs beside its characters, so that very many small ones count too


class Change(NamedTuple):
    """At an offset, `removed` gave way to `text`."""

    start: int
    removed: str
    text: str

    def inverse(self) -> "Change":
        """The change that takes this one back."""
        return Change(self.start, self.text, self.removed)


class State(NamedTuple):
    """A state of a document. The number never comes back once another change was made instead."""

    number: int
    format: Format


@dataclass(slots=True)
class Step:
    """What one undo takes back: changes in order, each at an offset in the text that the one before left."""

    changes: list[Change]
    before: State
    after: State
    selection: Selection | None

    @property
    def cost(self) -> int:
        """Characters held."""
        return sum(len(change.removed) + len(change.text) + _OVERHEAD for change in self.changes) + _OVERHEAD


class _Run(NamedTuple):
    """Typing that the next key may continue."""

    kind: Literal["insert", "remove"]
    place: int  # where the next key continues it
    last: str  # the character that was typed or removed last
    origin: str
    time: float


class UndoStack:
    """Steps to undo and redo. The oldest go when the budget is exceeded; the newest never does."""

    def __init__(self, budget: int = BUDGET) -> None:
        self._budget = budget
        self._done: deque[Step] = deque()
        self._undone: list[Step] = []
        self._cost = 0
        self._run: _Run | None = None

    def push(self, step: Step) -> None:
        """Add a step of its own. What was undone is gone."""
        self._run = None
        self._add(step)

    def type(
        self, change: Change, before: State, after: State, selection: Selection | None, origin: str, now: float
    ) -> None:
        """Add a typed change, to the step of the word that is being typed if it continues that word."""
        run = _run(change, origin, now)
        if run is not None and self._run is not None and self._done and _continues(self._run, run, change):
            step = self._done[-1]
            self._cost -= step.cost
            step.changes[-1] = _joined(step.changes[-1], change)
            step.after = after
            self._cost += step.cost
            self._trim()
        else:
            self._add(Step([change], before, after, selection))
        self._run = run

    def end_typing(self) -> None:
        """The next key begins a new step."""
        self._run = None

    def undo(self) -> Step | None:
        """The step to take back, if there is one."""
        self._run = None
        if not self._done:
            return None
        step = self._done.pop()
        self._undone.append(step)
        return step

    def redo(self) -> Step | None:
        """The step to do again, if there is one."""
        self._run = None
        if not self._undone:
            return None
        step = self._undone.pop()
        self._done.append(step)
        return step

    def _add(self, step: Step) -> None:
        self._cost -= sum(undone.cost for undone in self._undone)
        self._undone.clear()
        self._done.append(step)
        self._cost += step.cost
        self._trim()

    def _trim(self) -> None:
        while self._cost > self._budget and len(self._done) > 1:
            self._cost -= self._done.popleft().cost


def _run(change: Change, origin: str, now: float) -> _Run | None:
    """The run that a change begins. Text typed over a selection is continued like text that was inserted."""
    start, removed, text = change
    if text:
        return _Run("insert", start + len(text), text[-1], origin, now)
    if removed:
        return _Run("remove", start, removed[0], origin, now)
    return None


def _continues(run: _Run, new: _Run, change: Change) -> bool:
    if run.kind != new.kind or run.origin != new.origin or new.time - run.time > PAUSE:
        return False
    start, removed, text = change
    if text:
        return not removed and start == run.place and not _new_word(run.last, text[0])
    if start == run.place:  # Delete
        return not _new_word(run.last, removed[0])
    return start + len(removed) == run.place and not _new_word(run.last, removed[-1])  # Backspace


def _new_word(last: str, first: str) -> bool:
    return first.isspace() and not last.isspace()


def _joined(old: Change, new: Change) -> Change:
    if new.text:
        return Change(old.start, old.removed, old.text + new.text)
    if new.start < old.start:
        return Change(new.start, new.removed + old.removed, "")
    return Change(old.start, old.removed + new.removed, "")
