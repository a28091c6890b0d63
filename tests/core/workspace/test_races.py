"""P05: what is checked and what is opened are one and the same, while another thread swaps folders and links."""

import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rio_core._engine.workspace.confine import Root
from rio_core.protocol.errors import RioError
from support.profiles import DEEP
from support.tree import TreeSnapshot

# A run that has not met both outcomes goes on, for it would say nothing; this many times at most.
PATIENCE = 200
ROUNDS = 10_000 if DEEP else 500


def refused(error: RioError) -> str:
    assert error.kind in ("outside", "not_found", "conflict", "unsupported"), error.message
    return "refused"


@contextmanager
def swapping(real: Path, link: Path) -> Iterator[None]:
    """Exchange the real thing and a link to the outside, atomically and as fast as the system can."""
    exchange = ctypes.CDLL(None, use_errno=True).renameat2
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            if exchange(-100, bytes(real), -100, bytes(link), 2) != 0:  # AT_FDCWD, RENAME_EXCHANGE
                raise OSError(ctypes.get_errno(), "renameat2")

    thread = threading.Thread(target=swap, name="swapper")
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def rounds(seen: set[str]) -> Iterator[int]:
    for number in range(ROUNDS * PATIENCE):
        if number >= ROUNDS and len(seen) == 2:
            return
        yield number


def prepare(area: Path) -> None:
    (area / "proj/docs/deep").mkdir(parents=True)
    (area / "proj/docs/deep/a.txt").write_text("inside")
    (area / "out/deep").mkdir()
    (area / "out/deep/a.txt").write_text("outside bytes")
    (area / "proj/folder_link").symlink_to("../out")
    (area / "proj/file_link").symlink_to("../out/a.txt")
    (area / "proj/climber").symlink_to("docs/../../out")


@pytest.mark.parametrize(
    ("swapped", "link", "path"),
    [
        ("docs", "folder_link", "docs/deep/a.txt"),
        ("docs", "folder_link", "docs/deep/../../docs/deep/a.txt"),
        ("a.txt", "file_link", "a.txt"),
        ("docs", "climber", "docs/deep/a.txt"),
    ],
)
def test_P05_no_outside_byte_is_read(area: Path, root: Root, swapped: str, link: str, path: str) -> None:
    prepare(area)
    seen: set[str] = set()
    with swapping(area / "proj" / swapped, area / "proj" / link):
        for _ in rounds(seen):
            try:
                handle = root.open_file(path)
            except RioError as error:
                seen.add(refused(error))
            else:
                with open(handle, "rb") as file:
                    assert file.read() == b"inside"
                seen.add("done")
    assert seen == {"done", "refused"}


@pytest.mark.parametrize(
    ("swapped", "link", "path"),
    [("docs", "folder_link", "docs/new{}/x.txt"), ("a.txt", "file_link", "a.txt")],
)
def test_P05_nothing_is_written_outside(area: Path, root: Root, swapped: str, link: str, path: str) -> None:
    prepare(area)
    before = TreeSnapshot.take(area / "out")
    seen: set[str] = set()
    with swapping(area / "proj" / swapped, area / "proj" / link):
        for number in rounds(seen):
            try:
                with root.place(path.format(number), make_parents=True) as place:
                    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW
                    os.close(os.open(place.name, flags, 0o600, dir_fd=place.folder))
                seen.add("done")
            except RioError as error:
                seen.add(refused(error))
            except OSError:
                pass  # the place had turned into a link, which is not followed
    assert seen == {"done", "refused"}
    assert not before.changes(TreeSnapshot.take(area / "out"))


def test_P05_nothing_outside_is_made_renamed_or_removed(area: Path, root: Root) -> None:
    prepare(area)
    before = TreeSnapshot.take(area / "out")
    seen: set[str] = set()
    uses: list[Callable[[str], None]] = [
        lambda name: root.make_folder(f"docs/deep/{name}"),
        lambda name: root.rename(f"docs/deep/{name}", f"docs/{name}"),
        lambda name: root.remove(f"docs/{name}"),
        lambda _: root.remove("docs/deep/a.txt"),
    ]
    with swapping(area / "proj/docs", area / "proj/folder_link"):
        for number in rounds(seen):
            for use in uses:
                try:
                    use(str(number))
                    seen.add("done")
                except RioError as error:
                    seen.add(refused(error))
    assert seen == {"done", "refused"}
    assert not before.changes(TreeSnapshot.take(area / "out"))
