"""Saving when the n-th system call fails, or the process is killed at it, for every n."""

import errno
import os
import signal
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rio_core._engine.files import Stamp, read, save, stamp_if_written, write_private
from rio_core._engine.place import Place
from rio_core.protocol.errors import RioError

CALLS = (
    "open", "write", "pread", "fsync", "ftruncate", "posix_fallocate", "rename", "link", "fchmod", "fchown", "fstat",
    "stat", "listxattr", "getxattr", "setxattr", "lseek", "makedirs",
)  # fmt: skip
"""What a save asks of the system. `unlink` and `close` are left out: nothing can be tidied up without them."""

OLD = b"old bytes " * 20
NEW = b"new bytes, more of them " * 20


class Faults:
    """Lets calls pass, counts them, and does something at the `at`-th (and at all later ones, with `on`)."""

    def __init__(self, at: int, act: Callable[[], None], *, on: bool = False) -> None:
        self.at = at
        self.act = act
        self.on = on
        self.count = 0

    @contextmanager
    def armed(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            for name in CALLS:
                patch.setattr(os, name, self._wrapped(getattr(os, name)))
            yield

    def _wrapped(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            self.count += 1
            if self.count == self.at or (self.on and self.count > self.at):
                self.act()
            return real(*arguments, **named)

        return call


def fail() -> None:
    raise OSError(errno.EIO, "made to fail")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Case:
    """A file that is saved over, in one of the ways of saving."""

    def __init__(self, base: Path, way: str) -> None:
        self.folder = base / "d"
        self.recovery = base / "recovery"
        self.folder.mkdir(parents=True)
        self.way = way
        self.path = self.folder / "a"
        if way != "create":
            self.path.write_bytes(OLD)
            self.path.chmod(0o750)
            os.setxattr(self.path, "user.note", b"kept")
        if way == "in place":
            os.link(self.path, self.folder / "b")
        self.names = set(os.listdir(self.folder))
        with self.place() as place:
            self.stamp: Stamp | None = None if way == "create" else read(place)[1]

    def place(self) -> Place:
        return Place(os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY), "a", "a")

    def save(self, place: Place) -> None:
        self.stamp = save(place, [NEW[:30], NEW[30:]], self.stamp, recovery=str(self.recovery))

    def content(self) -> bytes | None:
        return self.path.read_bytes() if self.path.exists() else None

    def before(self) -> bytes | None:
        return None if self.way == "create" else OLD

    def copies(self) -> list[Path]:
        return list(self.recovery.iterdir()) if self.recovery.exists() else []

    def check_intact(self) -> None:
        """Old or new bytes, whole, and nothing lost of the file."""
        assert self.content() in (self.before(), NEW)
        if self.way != "create":
            assert stat.S_IMODE(self.path.stat().st_mode) == 0o750
            assert os.getxattr(self.path, "user.note") == b"kept"
        if self.way == "in place":
            assert self.path.stat().st_nlink == 2


WAYS = ("create", "rename", "in place")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("on", [False, True], ids=["once", "from then on"])
def test_whatever_call_fails_the_file_is_whole_and_can_be_saved_later(tmp_path: Path, way: str, on: bool):
    failures = 0
    for number in range(1, 1000):
        case = Case(tmp_path / str(number), way)
        faults = Faults(number, fail, on=on)
        error: RioError | None = None
        with case.place() as place:
            try:
                with faults.armed():
                    case.save(place)
            except RioError as caught:
                error = caught
            if faults.count < number:
                assert error is None
                break
            if error is not None:
                failures += 1
                assert error.kind == "io"
                copies = case.copies()
                if copies:  # not even the old bytes could be put back: the message says where they are
                    assert [copy.read_bytes() for copy in copies] == [OLD]
                    assert str(copies[0]) in error.message
                    assert stat.S_IMODE(copies[0].stat().st_mode) == 0o600
                    continue
                case.stamp = stamp_if_written(place, [NEW]) or case.stamp
            case.check_intact()
            assert set(os.listdir(case.folder)) in (case.names, {*case.names, "a"})
            if error is None or case.content() == case.before():
                case.save(place)
            assert case.content() == NEW
            assert not case.copies()
            case.check_intact()
    else:
        pytest.fail("the calls do not end")
    assert failures > 10


@pytest.mark.parametrize("way", WAYS)
def test_killed_at_any_call_the_old_bytes_or_the_new_ones_are_there(tmp_path: Path, way: str):
    for number in range(1, 1000):
        case = Case(tmp_path / str(number), way)
        with case.place() as place:
            child = os.fork()
            if not child:
                try:
                    with Faults(number, die).armed():
                        case.save(place)
                finally:
                    os._exit(0)
            status = os.waitpid(child, 0)[1]
        if case.content() not in (case.before(), NEW):
            assert way == "in place"
            assert [copy.read_bytes() for copy in case.copies()] == [OLD]
        else:
            case.check_intact()
        if os.waitstatus_to_exitcode(status) == 0:
            assert case.content() == NEW
            break
    else:
        pytest.fail("the calls do not end")
    assert number > 10


def test_whatever_call_fails_a_private_file_is_the_old_one_or_the_new_one(tmp_path: Path):
    path = tmp_path / "key"
    with Place(os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY), "key", "key") as place:
        for number in range(1, 100):
            write_private(place, OLD)
            faults = Faults(number, fail)
            error: RioError | None = None
            try:
                with faults.armed():
                    write_private(place, NEW)
            except RioError as caught:
                error = caught
            assert path.read_bytes() in ((OLD, NEW) if error else (NEW,))
            assert error is None or error.kind == "io"
            assert os.listdir(tmp_path) == ["key"]
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            if faults.count < number:
                break
        else:
            pytest.fail("the calls do not end")
