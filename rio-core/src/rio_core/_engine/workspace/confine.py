"""The project's root: every path of every op and tool is opened through it, and none leads out.

Confinement is in the opening (see `resolve`), so it holds under racing renames and link swaps too. Links inside the
project work as long as what they reach is inside.
"""

import errno
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Final, Literal, Self

from rio_core._engine.place import Place
from rio_core._engine.workspace.failures import LeadsOutError, changed_meanwhile, is_a_folder, leads_out, told
from rio_core._engine.workspace.files import link_target, open_regular, status
from rio_core._engine.workspace.linux import flags, has_openat2, rename_new
from rio_core._engine.workspace.location import RootLocation
from rio_core._engine.workspace.paths import parse, shown, unescape
from rio_core._engine.workspace.resolve import MAX_LINKS, link_names, open_by_kernel, open_by_walk
from rio_core.protocol.errors import RioError

__all__ = ["Resolver", "Root", "from_model"]

Resolver = Literal["openat2", "walk"]

_FOLDER: Final = flags("O_RDONLY", "O_DIRECTORY", "O_CLOEXEC")
_REAL_FOLDER: Final = _FOLDER | flags("O_NOFOLLOW")


class Root:
    """A folder that its user chose, held open: all access goes through this handle.

    Paths are those of the wire: relative to the root with `/`, or absolute when they lead into the root. Every method
    that takes one raises `RioError`: `bad_message` for what no file can be called, `outside` for what leads out (with
    the same words whether or not something is there), `not_found`, `exists`, `unsupported`, `conflict` and `io`.

    `path` is the absolute path by which the user named the root, for display. Several threads may use a root at a time;
    its owner closes it when none does any more.
    """

    def __init__(self, handle: int, path: str, *, resolver: Resolver | None = None) -> None:
        """Take over an open folder handle. Without `resolver` the kernel's is used where there is one."""
        self.handle = handle
        self.path = path
        self.resolver: Resolver = resolver or ("openat2" if has_openat2() else "walk")
        self._location = RootLocation(handle, path)

    @classmethod
    def open(cls, path: str, *, resolver: Resolver | None = None) -> Self:
        """Open the folder at an absolute path, which may lead through links (C7)."""
        parse(path)
        label = shown(path)
        if not path.startswith("/"):
            raise RioError("bad_message", f"{label} is not an absolute path.", "Name the project by its full path.")
        if os.open not in os.supports_dir_fd:
            raise RioError("unsupported", "This system has no folder handles.", "Run rio's core on Linux or macOS.")
        with told(label):
            try:
                handle = os.open(path, _FOLDER)
            except NotADirectoryError as error:
                raise RioError("unsupported", f"{label} is not a folder.", "Open a folder as project.") from error
        return cls(handle, path, resolver=resolver)

    def close(self) -> None:
        """Give the handle back. Closing twice does nothing."""
        handle, self.handle = self.handle, -1
        if handle >= 0:
            os.close(handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def names(self, path: str) -> tuple[str, ...]:
        """The names below the root through which a path leads, links not yet followed."""
        names = parse(path)
        if not path.startswith("/"):
            return names
        inside = self._location.names_below(path)
        if inside is None:
            raise leads_out(shown(path))
        return inside

    def open_folder(self, path: str, *, follow: bool = True) -> int:
        """A descriptor of a folder, owned by the caller. Without `follow` no link may be on the way."""
        with told(shown(path)):
            return self._open(self.names(path), follow=follow)

    def open_file(self, path: str) -> int:
        """A descriptor of a regular file for reading, owned by the caller; see `open_regular`."""
        with self.place(path) as place:
            return open_regular(place)

    def place(self, path: str, *, follow: bool = True, make_parents: bool = False) -> Place:
        """The real folder and real name to which a path leads; nothing may be there yet.

        With `follow` a link at the end is followed, a dangling one too, so that the place is never a link. Without it,
        the place is the entry itself, as renaming and deleting mean it. `make_parents` makes missing folders, though
        none behind a dangling link.
        """
        with told(shown(path)):
            place = self._find(path, follow=follow, make_parents=make_parents)
        if place is None:
            raise is_a_folder(shown(path))
        return place

    def stat(self, path: str) -> os.stat_result:
        """The status of what a path leads to, links followed."""
        with told(shown(path)):
            place = self._find(path)
            if place is None:
                return os.fstat(self.handle)
            with place:
                return status(place)

    def real_names(self, place: Place) -> tuple[str, ...]:
        """The names from the root to a place as it is now, every link resolved.

        For display and for judging what is protected (P02): write through the place, never through these names.
        """
        return (*self._names_of(place.folder, place.shown), place.name)

    def folder_names(self, folder: int) -> tuple[str, ...]:
        """The names from the root to an open folder as it is now; for the same uses."""
        return self._names_of(folder, "The folder")

    def real(self, path: str) -> tuple[str, ...]:
        """The names that `real_names` would give for a path, also where folders on its way are still missing."""
        label = shown(path)
        with told(label):
            try:
                place = self._find(path)
            except FileNotFoundError:
                return self._real_missing(path)
            if place is None:
                return ()
            with place:
                return self.real_names(place)

    def make_folder(self, path: str) -> None:
        """Make one folder."""
        with self.place(path, follow=False) as place, told(place.shown):
            os.mkdir(place.name, dir_fd=place.folder)

    def rename(self, old: str, new: str) -> None:
        """Move a file, link or folder to a name that is free; nothing is ever replaced."""
        with self.place(old, follow=False) as source, self.place(new, follow=False) as target:
            with told(source.shown):
                is_folder = stat.S_ISDIR(status(source).st_mode)
            with told(target.shown):
                if not rename_new(source.folder, source.name, target.folder, target.name):
                    _rename_checked(source, target, is_folder=is_folder)

    def remove(self, path: str) -> None:
        """Delete a file, a link (not what it points to) or an empty folder."""
        with self.place(path, follow=False) as place, told(place.shown):
            if stat.S_ISDIR(status(place).st_mode):
                os.rmdir(place.name, dir_fd=place.folder)
            else:
                os.unlink(place.name, dir_fd=place.folder)

    def _open(self, names: Sequence[str], *, follow: bool = True) -> int:
        if self.resolver == "openat2":
            try:
                return open_by_kernel(self.handle, names, follow=follow)
            except LeadsOutError:
                # Perhaps by an absolute link that leads back in, which only the walk can tell.
                if not follow:
                    raise
            except BlockingIOError:
                pass  # EAGAIN: a rename raced with it
        return open_by_walk(self.handle, names, self._location.names_below, follow=follow)

    def _find(self, path: str, *, follow: bool = True, make_parents: bool = False) -> Place | None:
        """The place of a path, None when it is the root itself."""
        names = self.names(path)
        for _ in range(MAX_LINKS + 1):
            if names and names[-1] == "..":
                names = self._real_folder(names, path)
            if not names:
                return None
            *parents, name = names
            place = Place(self._open_or_make(parents) if make_parents else self._open(parents), name, shown(path))
            try:
                target = link_target(place) if follow else None
            except BaseException:
                place.close()
                raise
            if target is None:
                return place
            place.close()
            names = self._linked(parents, target)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))

    def _real_missing(self, path: str) -> tuple[str, ...]:
        """The names of a path on whose way something is missing; a link that leads to what is missing is followed."""
        names = self.names(path)
        for _ in range(MAX_LINKS + 1):
            folder, missing = self._deepest(names)
            with Place(folder, missing[0], shown(path)) as place:
                target = link_target(place)
                here = self._names_of(folder, shown(path))
            if target is None:
                return (*here, *missing)
            names = (*self._linked(here, target), *missing[1:])
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))

    def _linked(self, folder: Sequence[str], target: str) -> tuple[str, ...]:
        """The names to which a link in a folder leads."""
        inside = self._location.names_below(target) if target.startswith("/") else (*folder, *link_names(target))
        if inside is None:
            raise LeadsOutError
        return inside

    def _real_folder(self, names: Sequence[str], path: str) -> tuple[str, ...]:
        folder = self._open(names)
        try:
            return self._names_of(folder, shown(path))
        finally:
            os.close(folder)

    def _open_or_make(self, names: Sequence[str]) -> int:
        try:
            return self._open(names)
        except FileNotFoundError:
            here, missing = self._deepest(names)
        try:
            for name in missing:
                with suppress(FileExistsError):  # made by someone else just now, or a dangling link: opening tells
                    os.mkdir(name, dir_fd=here)
                inner = os.open(name, _REAL_FOLDER, dir_fd=here)
                os.close(here)
                here = inner
        except BaseException:
            os.close(here)
            raise
        return here

    def _deepest(self, names: Sequence[str]) -> tuple[int, tuple[str, ...]]:
        """The deepest folder on a way whose end is missing, and the names that are missing after it."""
        here, there, missing = self._open(()), 0, len(names)
        try:
            while missing - there > 1:
                middle = (there + missing) // 2
                try:
                    inner = self._open(names[:middle])
                except FileNotFoundError:
                    missing = middle
                else:
                    os.close(here)
                    here, there = inner, middle
            if ".." in names[there:]:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        except BaseException:
            os.close(here)
            raise
        return here, tuple(names[there:])

    def _names_of(self, folder: int, label: str) -> tuple[str, ...]:
        names = self._location.names_of(folder)
        if names is None:
            raise changed_meanwhile(label)
        return names


def _rename_checked(source: Place, target: Place, *, is_folder: bool) -> None:
    if not is_folder:
        try:
            folders = {"src_dir_fd": source.folder, "dst_dir_fd": target.folder}
            os.link(source.name, target.name, **folders, follow_symlinks=False)
        except FileExistsError:
            raise
        except OSError:
            pass  # a file system without hard links
        else:
            os.unlink(source.name, dir_fd=source.folder)
            return
    try:
        status(target)
    except FileNotFoundError:
        os.rename(source.name, target.name, src_dir_fd=source.folder, dst_dir_fd=target.folder)
    else:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


def from_model(root: Root, text: str) -> str:
    """The path that a model means: the literal name where it exists, else the one that `model_name` shows so."""
    plain = unescape(text)
    return plain if plain != text and not _leads_somewhere(root, text) and _leads_somewhere(root, plain) else text


def _leads_somewhere(root: Root, path: str) -> bool:
    try:
        root.stat(path)
    except RioError:
        return False
    return True
