"""What the window did to a buffer and the core has not answered yet: batches of edits and other calls, in order."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from rio_core.protocol import RioError
from rio_core.protocol.values import Params
from rio_gui._ui.document.edits import Edit, Position, carried, end_of, transform

Selection = tuple[Position, Position]
"""Anchor and caret."""

Group = Literal["typing"] | None


@dataclass
class Batch:
    """Edits that go to the core as one request. `selection` is the one before them."""

    edits: list[Edit]
    group: Group = None
    selection: Selection | None = None

    def takes(self, edit: Edit) -> bool:
        """Take one more typed character in, if it goes on with the word that is being typed."""
        last = self.edits[-1]
        if not (last.text and edit.text) or edit.start != edit.end or edit.start != end_of(last.start, last.text):
            return False
        if edit.text[0].isspace() and not last.text[-1].isspace():
            return False
        self.edits[-1] = Edit(last.start, last.end, last.text + edit.text)
        return True

    def carry(self, theirs: list[Edit]) -> list[Edit]:
        """Move this batch over edits that the core already has, and return those as they are behind this batch.

        Raises OverlapError, when they change the same text; the batch is then as it was.
        """
        moved, behind = transform(self.edits, theirs)
        if self.selection is not None:
            anchor, caret = self.selection
            for edit in theirs:
                anchor, caret = carried(anchor, edit), carried(caret, edit)
            self.selection = anchor, caret
        self.edits = moved
        return behind


@dataclass
class Call:
    """Another op that must come after the edits before it; without a name, the moment when they are answered."""

    op: str | None
    params: Params
    done: Callable[[Any], None]
    failed: Callable[[RioError], None]


@dataclass
class Outbox:
    """At most one entry is sent and unanswered; the others wait their turn."""

    waiting: deque[Batch | Call] = field(default_factory=deque)
    sent: Batch | Call | None = None
    request: int | None = None
    accepted: bool = False
    """The core has taken the batch that is sent, though its answer has not come."""

    @property
    def empty(self) -> bool:
        """Whether everything is answered."""
        return self.sent is None and not self.waiting

    def unanswered(self) -> Iterator[Batch]:
        """The batches that the core's text does not have yet, oldest first."""
        if isinstance(self.sent, Batch) and not self.accepted:
            yield self.sent
        for entry in self.waiting:
            if isinstance(entry, Batch):
                yield entry

    def edits(self) -> list[Edit]:
        """Every edit that the core's text does not have yet."""
        return [edit for batch in self.unanswered() for edit in batch.edits]

    def add(self, edits: list[Edit], group: Group, selection: Selection | None) -> None:
        """Put edits behind everything else."""
        last = self.waiting[-1] if self.waiting else None
        if isinstance(last, Batch) and last.group == group == "typing" and len(edits) == 1 and last.takes(edits[0]):
            return
        self.waiting.append(Batch(list(edits), group, selection))

    def carry(self, theirs: list[Edit]) -> list[Edit]:
        """Move all unanswered edits over new ones of the core, and return those as they are in the window's text.

        Raises OverlapError; the edits are then of no use.
        """
        for batch in self.unanswered():
            theirs = batch.carry(theirs)
        return theirs
