"""`project` and `fs`: the folder that the core serves, and the entries in it.

Every path is relative to the project's root with `/`; an absolute one is taken when it lies inside. None leads out.
"""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from rio_core.protocol.ops._op import Done, Nothing, Op
from rio_core.protocol.values import EntryKind, Params, Result


class OpenParams(Params):
    """Serve the folder at this absolute path. One core serves one project: another one is refused."""

    path: str


class OpenResult(Result):
    """The real path of the root, and whether its user trusts it."""

    root: str
    trusted: bool


class TrustParams(Params):
    """Trust the open project, or restrict it again. `path` must be its root: trust is never given by accident."""

    path: str
    trusted: bool = True


class TrustResult(Result):
    """Whether the project is trusted now."""

    trusted: bool


class ListParams(Params):
    """List a folder, a page at a time."""

    path: str = ""
    offset: int = 0
    limit: int = 1000


class Entry(Struct):
    """One entry. `size` is in bytes (0 for what is no file); `ignored` as git would say."""

    name: str
    kind: EntryKind
    size: int
    ignored: bool


class ListResult(Result):
    """Entries by name, folders and files together. `next` is the offset of the next page."""

    entries: list[Entry]
    total: int
    next: int | UnsetType = UNSET


class ReadParams(Params):
    """Read bytes of a regular file, at most `limit` (up to 131,072)."""

    path: str
    offset: int = 0
    limit: int = 65536


class ReadResult(Result):
    """`data` is base64. `next` is where the next page begins; without it the end is reached."""

    data: str
    size: int
    next: int | UnsetType = UNSET


class PathParams(Params):
    """One path."""

    path: str


class StatResult(Result):
    """`mode` holds the permission bits; `mtime_ns` is nanoseconds since 1970."""

    kind: EntryKind
    size: int
    mode: int
    mtime_ns: int
    ignored: bool


class CreateParams(Params):
    """Make an empty file or a folder; missing folders above it are made too."""

    path: str
    kind: Literal["file", "folder"] = "file"


class RenameParams(Params):
    """Rename or move an entry inside the project. Nothing is overwritten."""

    path: str
    to: str


OPS = (
    Op("project.open", OpenParams, OpenResult),
    Op("project.close", Nothing, Done, "Serve the folder no more. Buffers stay open."),
    Op("project.trust", TrustParams, TrustResult, decides=True),
    Op("fs.list", ListParams, ListResult),
    Op("fs.read", ReadParams, ReadResult),
    Op("fs.stat", PathParams, StatResult, "Tell what a path leads to."),
    Op("fs.create", CreateParams, Done),
    Op("fs.rename", RenameParams, Done),
    Op("fs.delete", PathParams, Done, "Delete a file, a link or an empty folder. Open buffers keep their text."),
)
