"""The ops of `project` and `fs`."""

import base64
import os
import stat
from collections.abc import Callable
from typing import Final, TypeVar

import anyio.to_thread
from msgspec import UNSET

from rio_core._engine.files import save
from rio_core._engine.serving.handlers import Call, Handlers
from rio_core._engine.serving.pages import ANSWER
from rio_core._engine.workspace.confine import Root
from rio_core._engine.workspace.paths import render
from rio_core.protocol.errors import INVALID_PARAMS, RioError
from rio_core.protocol.events import FsChanged, ProjectOpened
from rio_core.protocol.framing import encode
from rio_core.protocol.ops import Done, Nothing
from rio_core.protocol.ops import project as ops
from rio_core.protocol.values import EntryKind

handlers = Handlers()

_READ: Final = 131_072  # bytes of a page of fs.read, before base64
T = TypeVar("T")


async def _on_root(call: Call, work: Callable[[Root], T]) -> T:
    """Do something with the file system, beside the event loop."""
    root = call.core.need_project().root
    return await anyio.to_thread.run_sync(lambda: work(root))


@handlers.op("project.open")
async def project_open(call: Call, params: ops.OpenParams) -> ops.OpenResult:
    """Serve a folder."""
    project = await call.core.open_project(params.path)
    return ops.OpenResult(root=project.path, trusted=project.trusted)


@handlers.op("project.close")
async def project_close(call: Call, params: Nothing) -> Done:
    """Serve it no more."""
    await call.core.close_project()
    return Done()


@handlers.op("project.trust")
async def project_trust(call: Call, params: ops.TrustParams) -> ops.TrustResult:
    """Trust the open project, or restrict it."""
    project = call.core.need_project()
    if not project.is_at(params.path):
        raise RioError(
            "conflict", f"The open project is {project.path}, not {params.path!a}.", "Name its root to trust it."
        )
    project.trust(trusted=params.trusted)
    call.core.bus.publish(ProjectOpened(root=project.path, trusted=project.trusted))
    return ops.TrustResult(trusted=project.trusted)


@handlers.op("fs.list")
async def fs_list(call: Call, params: ops.ListParams) -> ops.ListResult:
    """List a folder."""
    from rio_core._engine.workspace.listing import list_folder

    if params.offset < 0 or params.limit < 1:
        raise RioError(
            "bad_message",
            "`offset` must not be negative, and `limit` at least 1.",
            "Ask for a page.",
            code=INVALID_PARAMS,
        )
    limit = min(params.limit, 1000)
    listing = await _on_root(
        call, lambda root: list_folder(root, params.path or ".", offset=params.offset, limit=limit)
    )
    entries: list[ops.Entry] = []
    room = ANSWER
    for found in listing.entries:
        entry = ops.Entry(name=found.name, kind=found.kind, size=found.size or 0, ignored=found.ignored)
        room -= len(encode(entry))
        if room < 0:
            break
        entries.append(entry)
    after = params.offset + len(entries)
    return ops.ListResult(entries=entries, total=listing.total, next=after if after < listing.total else UNSET)


@handlers.op("fs.read")
async def fs_read(call: Call, params: ops.ReadParams) -> ops.ReadResult:
    """Give bytes of a file."""
    if params.offset < 0 or params.limit < 1:
        raise RioError(
            "bad_message",
            "`offset` must not be negative, and `limit` at least 1.",
            "Ask for a page.",
            code=INVALID_PARAMS,
        )

    def read(root: Root) -> tuple[bytes, int]:
        handle = root.open_file(params.path)
        try:
            return os.pread(handle, min(params.limit, _READ), params.offset), os.fstat(handle).st_size
        finally:
            os.close(handle)

    data, size = await _on_root(call, read)
    after = params.offset + len(data)
    return ops.ReadResult(
        data=base64.b64encode(data).decode("ascii"), size=size, next=after if data and after < size else UNSET
    )


@handlers.op("fs.stat")
async def fs_stat(call: Call, params: ops.PathParams) -> ops.StatResult:
    """Tell what a path leads to."""
    from rio_core._engine.workspace.ignore import Ignore

    def look(root: Root) -> tuple[os.stat_result, bool]:
        found = root.stat(params.path)
        names = root.real(params.path)
        ignored = bool(names) and Ignore(root).ignored(names, is_folder=stat.S_ISDIR(found.st_mode))
        return found, ignored

    found, ignored = await _on_root(call, look)
    return ops.StatResult(
        kind=_kind(found.st_mode),
        size=found.st_size if stat.S_ISREG(found.st_mode) else 0,
        mode=stat.S_IMODE(found.st_mode),
        mtime_ns=found.st_mtime_ns,
        ignored=ignored,
    )


def _kind(mode: int) -> EntryKind:
    if stat.S_ISREG(mode):
        return "file"
    return "folder" if stat.S_ISDIR(mode) else "other"


@handlers.op("fs.create")
async def fs_create(call: Call, params: ops.CreateParams) -> Done:
    """Make an empty file or a folder."""

    def create(root: Root) -> str:
        if params.kind == "folder":
            with root.place(params.path, follow=False, make_parents=True):
                pass
            root.make_folder(params.path)
        else:
            with root.place(params.path, make_parents=True) as place:
                save(place, [], None, recovery=str(call.core.state / "recovery"))
        return render(root.names(params.path))

    call.core.bus.publish(FsChanged(paths=[await _on_root(call, create)]))
    return Done()


@handlers.op("fs.rename")
async def fs_rename(call: Call, params: ops.RenameParams) -> Done:
    """Move an entry; open documents of it follow."""

    def rename(root: Root) -> tuple[str, str]:
        root.rename(params.path, params.to)
        return render(root.names(params.path)), render(root.names(params.to))

    old, new = await _on_root(call, rename)
    for buffer in call.core.documents.all():
        if buffer.path is not None and f"{buffer.path}/".startswith(f"{old}/"):
            buffer.path = new + buffer.path[len(old) :]
    call.core.bus.publish(FsChanged(paths=[old, new]))
    return Done()


@handlers.op("fs.delete")
async def fs_delete(call: Call, params: ops.PathParams) -> Done:
    """Delete a file, a link or an empty folder. Open documents keep their text."""

    def delete(root: Root) -> str:
        root.remove(params.path)
        return render(root.names(params.path))

    call.core.bus.publish(FsChanged(paths=[await _on_root(call, delete)]))
    return Done()
