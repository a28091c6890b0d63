"""`buffer`: open documents. The core owns their text, undo and files; a front end shows lines and sends edits."""

from typing import Literal

from msgspec import UNSET, UnsetType

from rio_core.protocol.ops._op import Done, Nothing, Op
from rio_core.protocol.values import Edit, LineEnding, Params, Position, Result, Selection


class NewParams(Params):
    """A buffer without a file, holding `text`."""

    text: str = ""


class OpenParams(Params):
    """Open a file: inside the project by relative path, elsewhere by the absolute path that the user chose."""

    path: str
    encoding: str | None = None
    """Read with this encoding in place of what the bytes say."""


class BufferResult(Result):
    """A buffer as it is. `clean` is false where the bytes are not UTF-8 and are shown as Latin-1."""

    buffer: str
    revision: int
    path: str | None
    lines: int
    encoding: str
    bom: bool
    clean: bool
    line_ending: LineEnding
    dirty: bool
    read_only: bool


class BufferParams(Params):
    """One buffer."""

    buffer: str


class ListResult(Result):
    """Open buffers in the order they were opened; those that only the agent opened are among them."""

    buffers: list[BufferResult]


class TextParams(Params):
    """The text from offset `first`, at most `limit` (up to 131,072) code points."""

    buffer: str
    first: int = 0
    limit: int = 131072


class TextResult(Result):
    """`text` with its line ends as they are. `next` is the offset that goes on; without it the end is reached."""

    revision: int
    text: str
    next: int | UnsetType = UNSET


class LinesParams(Params):
    """`count` lines from line `first`; of each only the columns from `columns[0]` up to `columns[1]`, where given."""

    buffer: str
    first: int
    count: int
    columns: Position | None = None


class LinesResult(Result):
    """Lines without their ends. `lengths` are those of the whole lines, `total` is the number of all lines.

    Fewer lines than asked for come when the answer would be over 256 KiB; a line over it is cut, which `lengths` shows.
    """

    revision: int
    first: int
    lines: list[str]
    lengths: list[int]
    total: int


class EditParams(Params):
    """Edits that apply in order, each in the coordinates that the one before left. One request is one revision.

    Edits based on an older revision (the last 1,024 are kept) are carried over what came since where they do not
    overlap with it, and refused as `stale` where they do.
    """

    buffer: str
    revision: int
    edits: list[Edit]
    group: Literal["typing"] | None = None
    selection: Selection | None = None
    """The selection before the edit; undo gives it back."""


class EditResult(Result):
    """The new revision, and the edits in the coordinates in which they were applied.

    With `reset` they are too long for an answer and left out.
    """

    revision: int
    edits: list[Edit]
    reset: bool = False


class ReplaceParams(Params):
    """One replacement that is an undo step of its own."""

    buffer: str
    revision: int
    start: Position
    end: Position
    text: str


class UndoResult(Result):
    """`changed` is false when there was nothing to undo or redo. `selection` is where to put the caret, if known."""

    revision: int
    changed: bool
    dirty: bool
    selection: Selection | None


class SaveParams(Params):
    """Write the buffer to its file. `force` overwrites a file that changed since it was read, or that is read-only."""

    buffer: str
    force: bool = False


class SaveAsParams(Params):
    """Write the buffer to another file and go on with that one. `force` overwrites an existing file."""

    buffer: str
    path: str
    force: bool = False


class SaveResult(Result):
    """The revision that is on disk, and how many bytes it takes there."""

    revision: int
    bytes: int


class ReloadParams(Params):
    """Read the file again, as one undo step. Refused (`dirty`) over unsaved text unless `discard`."""

    buffer: str
    discard: bool = False
    encoding: str | None = None


class CloseParams(Params):
    """Close a buffer. Refused (`dirty`) when it holds unsaved text, unless `discard`."""

    buffer: str
    discard: bool = False


class EncodingParams(Params):
    """Save in this encoding from now on. The text stays; the change can be undone."""

    buffer: str
    encoding: str
    bom: bool = False


class LineEndingParams(Params):
    """Make all line ends the same, as one undo step."""

    buffer: str
    line_ending: Literal["lf", "crlf", "cr"]


OPS = (
    Op("buffer.new", NewParams, BufferResult),
    Op("buffer.open", OpenParams, BufferResult),
    Op("buffer.list", Nothing, ListResult, "List the open buffers."),
    Op("buffer.text", TextParams, TextResult),
    Op("buffer.lines", LinesParams, LinesResult),
    Op("buffer.edit", EditParams, EditResult),
    Op("buffer.replace", ReplaceParams, EditResult),
    Op("buffer.undo", BufferParams, UndoResult, "Take the last step back."),
    Op("buffer.redo", BufferParams, UndoResult, "Do the step again that was taken back last."),
    Op("buffer.save", SaveParams, SaveResult),
    Op("buffer.save_as", SaveAsParams, BufferResult),
    Op("buffer.reload", ReloadParams, BufferResult),
    Op("buffer.close", CloseParams, Done),
    Op("buffer.set_encoding", EncodingParams, BufferResult),
    Op("buffer.set_line_ending", LineEndingParams, BufferResult),
)
