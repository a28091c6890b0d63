"""`search`: finding and replacing in buffers, and finding in files."""

from rio_core.protocol.ops._op import Done, Op
from rio_core.protocol.values import Params, Position, Result, Selection


class FindParams(Params):
    r"""Hits in a buffer: the last `back` that begin before the position `first`, and `limit` from there on.

    Without `first` it is the start of the text or, with a `limit` of 0, its end. `within` is the range to search. With
    `replacement`, `texts` says what would take the place of each hit.

    A pattern is plain text or, with `regex`, a regular expression of Python's `re` in which `^` and `$` are at every
    line. Every line end is seen as one `\n`, by plain text too. Without `case`, letters match by Unicode's simple
    rules, one character with one. With `word`, no hit begins or ends between two word characters: letters and digits of
    any script, and `_`. Hits do not overlap. An empty one does not count where the hit before it ends, nor behind the
    last line end of what is searched.

    In the replacement of a regular expression, `\1` to `\99`, `\g<1>` and `\g<name>` are groups, `\g<0>` is the whole
    hit, `\n` a line end of the buffer, `\t` a tab and `\\` a backslash; `\10` is group 10. `$1` means nothing special.

    A search takes 5 seconds at most, and is refused (`unsupported`) when they are over. One with a `token` stops the
    search that the connection began with the same one before, which is refused (`conflict`).
    """

    buffer: str
    pattern: str
    regex: bool = False
    case: bool = False
    word: bool = False
    first: Position | None = None
    back: int = 0
    limit: int = 1000
    within: tuple[Position, Position] | None = None
    replacement: str | None = None
    token: str | None = None


class FindResult(Result):
    """Hits as `[start, end]`, of `total`; `before` come before the first one here.

    At most 2,000 come at once, and fewer when the answer would be over 256 KiB. With `more` there are over a million,
    and `total` is as far as was counted.
    """

    revision: int
    hits: list[tuple[Position, Position]]
    before: int
    total: int
    more: bool
    texts: list[str] | None = None


class ReplaceAllParams(Params):
    """Replace every hit, or those `within` a range, as one step of undo, which gives `selection` back.

    What is a hit, and what takes its place, is as `search.buffer` says. There may be a million of them.
    Refused as `stale` when `revision` is not the present one, or when the text changes in the same places meanwhile.
    """

    buffer: str
    revision: int
    pattern: str
    replacement: str
    regex: bool = False
    case: bool = False
    word: bool = False
    within: tuple[Position, Position] | None = None
    selection: Selection | None = None
    token: str | None = None


class ReplaceAllResult(Result):
    """How many hits were replaced, and what `within` has become: the same text, neither more nor less of it.

    `within` is left out where the text was changed by others meanwhile.
    """

    revision: int
    count: int
    within: tuple[Position, Position] | None = None


class FilesParams(Params):
    """Lines of the project's files that match, below the folder or in the file `path`; ignored files are left out.

    Buffers with unsaved changes are searched in place of their files. `glob` is one pattern of an ignore file. A
    regular expression sees one line at a time; its syntax is that of ripgrep where that is installed, else of `re`.
    With `word` it must begin and end where a word does.
    """

    pattern: str
    path: str = ""
    regex: bool = False
    case: bool = False
    word: bool = False
    glob: str | None = None
    token: str | None = None


class LineHit(Result):
    """The first hit in a line. `text` is the line, or what is around the hit in a long one, where it begins at `at`."""

    position: Position
    text: str
    at: int
    length: int


class FileHits(Result):
    """The lines of one file; `more` are left out. `unsaved` says that they are those of a buffer."""

    path: str
    hits: list[LineHit]
    more: int
    unsaved: bool


class FilesResult(Result):
    """Files in the order of their paths. `cut` names the limit that ended it early: files, hits, bytes or time."""

    files: list[FileHits]
    cut: str | None = None


class StopParams(Params):
    """Stop the search with this token, if it is still going on."""

    token: str


OPS = (
    Op("search.buffer", FindParams, FindResult),
    Op("search.replace_all", ReplaceAllParams, ReplaceAllResult),
    Op("search.files", FilesParams, FilesResult),
    Op("search.stop", StopParams, Done),
)
