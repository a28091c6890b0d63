"""A place of its own for each test (home, rio's folder, working and temporary folder), and no way to the network."""

import ipaddress
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.leaks import Offence

# What a developer's machine says and a test must not hear. Keys are found by their suffix.
_UNSET = ("EDITOR", "VISUAL", "PAGER", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES")
# What the tools that run the tests set while they run.
_RUNNER = ("PYTEST_", "COV_", "COVERAGE_")
_LOOPBACK_NAMES = (None, "", "localhost", "ip6-localhost")


class Network:
    """Refuses, while `closed`, every use of a socket that would leave this machine, and remembers it.

    An audit hook (PEP 578) sees calls from any library; it cannot be removed, so there is one for the whole run.
    Child processes are not watched.
    """

    def __init__(self) -> None:
        self.closed = False
        self.refused: list[str] = []
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.closed or not event.startswith("socket."):
            return
        match event, arguments:
            case (("socket.connect" | "socket.bind" | "socket.sendto" | "socket.sendmsg"), (_, address)):
                if isinstance(address, tuple) and not _is_loopback(address[0]):
                    self._refuse(event, address)
            case (("socket.getaddrinfo" | "socket.gethostbyname"), (host, *_)):
                if not _is_loopback(host):
                    self._refuse(event, host)

    def _refuse(self, event: str, target: object) -> None:
        self.refused.append(f"{event} {target!r}")
        raise PermissionError(f"tests do not leave this machine: {event} {target!r}")


def _is_loopback(host: object) -> bool:
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    if name in _LOOPBACK_NAMES:
        return name != ""  # "" binds every interface
    try:
        return ipaddress.ip_address(str(name)).is_loopback
    except ValueError:
        return False


@contextmanager
def isolated(base: Path) -> Iterator[list[Offence]]:
    """Run the body in folders under `base`, which is made and removed.

    After the body, the list that was yielded says what it left behind in them and what it changed of the environment.
    """
    home, work, temporary = base / "home", base / "work", base / "tmp"
    for folder in (base, home, work, temporary):
        folder.mkdir(mode=0o700)
    offences: list[Offence] = []
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith("RIO_") or name.endswith("_API_KEY") or name in _UNSET:
                patch.delenv(name)
        for name, folder in (
            ("HOME", home),
            ("XDG_CONFIG_HOME", home / ".config"),
            ("XDG_STATE_HOME", home / ".local/state"),
            ("XDG_DATA_HOME", home / ".local/share"),
            ("XDG_CACHE_HOME", home / ".cache"),
            ("XDG_RUNTIME_DIR", home / ".run"),
            ("RIO_HOME", base / "rio"),
            ("TMPDIR", temporary),
        ):
            patch.setenv(name, str(folder))
        patch.setattr(tempfile, "tempdir", None)
        patch.chdir(work)
        environment = _environment()
        yield offences
        offences += _changes(environment, _environment())
        if Path.cwd() != work:
            offences.append(Offence("working folder", f"is now {Path.cwd()}"))
    for folder in (home, work, temporary):
        offences += [
            Offence(f"file left in {folder.name}", str(path.relative_to(folder))) for path in sorted(folder.rglob("*"))
        ]
    try:
        shutil.rmtree(base)
    except PermissionError:  # tests take rights away; the one who cleans up gives them back
        _open_up(base)
        shutil.rmtree(base)


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(_RUNNER)}


def _changes(before: dict[str, str], after: dict[str, str]) -> list[Offence]:
    names = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    return [Offence("environment", f"{name} was {before.get(name)!r}, is {after.get(name)!r}") for name in names]


def _open_up(folder: Path) -> None:
    folder.chmod(0o700)
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            _open_up(entry)
