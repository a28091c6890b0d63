"""Where rio keeps what is its user's: settings and secrets in one folder, state in another. Never in a project."""

import os
import stat
from pathlib import Path

from rio_core._engine.place import Place
from rio_core.protocol.errors import RioError

__all__ = ["config_folder", "fetch", "make_private", "state_folder", "store"]


def config_folder() -> Path:
    """The folder of settings and secrets: `RIO_HOME/config`, else what the system has for it. It may not exist yet.

    Raises RioError when the environment names a folder that depends on where rio was started.
    """
    return _folder("config")


def state_folder() -> Path:
    """The folder of conversations, trust and other state: `RIO_HOME/state`, else what the system has for it."""
    return _folder("state")


def _folder(kind: str) -> Path:
    home = os.environ.get("RIO_HOME")
    if home:
        return _absolute(Path(home), "RIO_HOME") / kind
    import platformdirs

    found = platformdirs.user_config_path("rio") if kind == "config" else platformdirs.user_state_path("rio")
    return _absolute(found, f"XDG_{kind.upper()}_HOME")


def _absolute(folder: Path, variable: str) -> Path:
    # A relative one would be another for each working folder, and could lie in a project.
    if not folder.is_absolute():
        raise RioError("conflict", f"{variable} is {str(folder)!r}, which is no absolute path.", f"Correct {variable}.")
    return folder


def make_private(folder: Path) -> None:
    """Make sure that the folder is there, for its user only. Folders above it that are missing are made alike.

    Raises OSError.
    """
    for missing in reversed([folder, *folder.parents]):
        try:
            missing.mkdir(mode=0o700)
            missing.chmod(0o700)  # whatever the umask took away
        except FileExistsError:
            continue
        except OSError:
            if not missing.is_dir():
                raise
    if os.name == "posix" and stat.S_IMODE(folder.stat().st_mode) & 0o077:
        folder.chmod(0o700)


def fetch(path: Path, limit: int, *, close_to_others: bool = False) -> bytes:
    """The bytes of a regular file of at most `limit`; on request its rights for anybody else are taken away first.

    Raises OSError, and ValueError for what is larger or no regular file.
    """
    # A pipe in its place must not hang the start.
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise ValueError("it is no regular file")
        if close_to_others and mode & 0o077:
            os.fchmod(descriptor, 0o600)
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(limit + 1)
    finally:
        os.close(descriptor)
    if len(data) > limit:
        raise ValueError(f"it is larger than {limit:,} bytes")
    return data


def store(path: Path, data: bytes) -> None:
    """Make `data` the content of a file of its user's alone, whose folder is made where it is missing.

    A link in its place is replaced, not followed. Raises RioError (`io`); the file is then as it was.
    """
    from rio_core._engine.files import write_private

    action = "Make room there, or give yourself the right to write. Nothing was changed."
    try:
        make_private(path.parent)
        descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        with Place(descriptor, path.name, str(path)) as place:
            write_private(place, data)
    except OSError as error:
        raise RioError("io", f"{path} cannot be written: {error.strerror}.", action) from error
    except RioError as error:
        raise RioError("io", error.message, action) from error
