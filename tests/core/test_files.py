"""Saving: what of a file survives, what is refused, and what is there when it fails."""

import os
import resource
import stat
import struct
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from rio_core._engine import files
from rio_core._engine.files import Reading, Stamp, read, save, write_private
from rio_core._engine.place import Place
from rio_core.protocol.errors import RioError

NOBODY = 65534
ACL = "system.posix_acl_access"
DEFAULT_ACL = "system.posix_acl_default"


class Folder:
    """A folder with files to save, and what a save may leave elsewhere."""

    def __init__(self, path: Path, recovery: Path) -> None:
        self.path = path
        self.recovery = recovery

    @contextmanager
    def place(self, name: str) -> Iterator[Place]:
        with Place(os.open(self.path, os.O_RDONLY | os.O_DIRECTORY), name, name) as place:
            yield place

    def make(self, name: str, data: bytes, mode: int = 0o644) -> Stamp:
        (self.path / name).write_bytes(data)
        (self.path / name).chmod(mode)
        return self.stamp(name)

    def stamp(self, name: str) -> Stamp:
        with self.place(name) as place:
            return read(place)[1]

    def save(self, name: str, data: bytes, expected: Stamp | None, *, force: bool = False) -> Stamp:
        with self.place(name) as place:
            return save(place, [data[:3], data[3:]], expected, recovery=str(self.recovery), force=force)

    def left(self) -> set[str]:
        """Names in the folder, and copies in the recovery folder."""
        copies = os.listdir(self.recovery) if self.recovery.exists() else []
        return {*os.listdir(self.path), *copies}


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / "d").mkdir()
    return Folder(tmp_path / "d", tmp_path / "recovery")


@contextmanager
def refused(kind: str, *words: str) -> Iterator[None]:
    with pytest.raises(RioError) as caught:
        yield
    assert caught.value.kind == kind
    assert all(word.lower() in caught.value.message.lower() for word in words), caught.value.message
    assert caught.value.action
    assert "\n" not in caught.value.message


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))  # Python ignores SIGXFSZ
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="files of two users can be made by root only")


def as_nobody(work: Callable[[], object], inside: Path) -> None:
    """Run `work` in a child of another user, in a folder that it need not have the right to reach."""
    child = os.fork()
    if not child:
        code = 1
        try:
            os.chdir(inside)
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            work()
            code = 0
        except BaseException as error:  # noqa: BLE001 - a child that is told apart by its status
            os.write(2, f"{error!r}\n".encode())
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def acl(user: int) -> bytes:
    """An access list that gives one user the right to read: acl(5), linux/posix_acl_xattr.h."""
    entries = ((1, 6, -1), (2, 4, user), (4, 4, -1), (16, 4, -1), (32, 4, -1))
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)


@pytest.mark.parametrize("mode", [0o755, 0o600, 0o640, 0o2755, 0o4755, 0o1666])
@pytest.mark.parametrize("linked", [False, True])
def test_A09_E13_the_mode_is_kept(folder: Folder, mode: int, linked: bool):
    stamp = folder.make("s.sh", b"old", mode)
    if linked:
        os.link(folder.path / "s.sh", folder.path / "other")
    folder.save("s.sh", b"new text", stamp)
    assert (folder.path / "s.sh").read_bytes() == b"new text"
    assert stat.S_IMODE((folder.path / "s.sh").stat().st_mode) == mode


@pytest.mark.parametrize("data", [b"longer than before", b"short", b""])
def test_A11_E14_both_hard_links_show_the_new_text(folder: Folder, data: bytes):
    stamp = folder.make("a", b"old bytes")
    os.link(folder.path / "a", folder.path / "b")
    new = folder.save("b", data, stamp)
    status = (folder.path / "a").stat()
    assert (folder.path / "a").read_bytes() == (folder.path / "b").read_bytes() == data
    assert (status.st_nlink, status.st_ino, new.size) == (2, stamp.inode, len(data))
    assert folder.left() == {"a", "b"}
    assert stat.S_IMODE(folder.recovery.stat().st_mode) == 0o700


@pytest.mark.parametrize("linked", [False, True])
def test_A11_owner_and_attributes_are_kept(folder: Folder, linked: bool):
    folder.make("a", b"old")
    path = folder.path / "a"
    os.setxattr(path, "user.note", b"kept")
    os.setxattr(path, ACL, acl(1234))
    if os.geteuid() == 0:
        os.chown(path, 1234, 2345)
    if linked:
        os.link(path, folder.path / "b")
    before = path.stat()
    folder.save("a", b"new", folder.stamp("a"))
    after = path.stat()
    assert (after.st_uid, after.st_gid, after.st_mode) == (before.st_uid, before.st_gid, before.st_mode)
    assert (after.st_ino == before.st_ino) == linked
    assert os.getxattr(path, "user.note") == b"kept"
    assert os.getxattr(path, ACL) == acl(1234)


def test_what_a_folder_gives_new_files_is_not_given_to_an_old_one(folder: Folder):
    stamp = folder.make("a", b"old")
    os.setxattr(folder.path, DEFAULT_ACL, acl(1234))
    before = (folder.path / "a").stat().st_mode
    folder.save("a", b"new", stamp)
    assert os.listxattr(folder.path / "a") == []
    assert (folder.path / "a").stat().st_mode == before
    folder.save("fresh", b"new", None)
    assert ACL in os.listxattr(folder.path / "fresh")


@needs_root
def test_a_foreign_owner_is_kept_by_writing_in_place(folder: Folder):
    stamp = folder.make("a", b"old", 0o666)
    folder.path.chmod(0o777)
    folder.recovery.mkdir(mode=0o777)
    folder.recovery.chmod(0o777)
    with folder.place("a") as place:
        as_nobody(lambda: save(place, [b"new text"], stamp, recovery="."), folder.recovery)
    status = (folder.path / "a").stat()
    assert (folder.path / "a").read_bytes() == b"new text"
    assert (status.st_ino, status.st_uid) == (stamp.inode, 0)
    assert folder.left() == {"a"}


@needs_root
def test_in_a_folder_without_write_right_the_file_is_written_in_place(folder: Folder):
    folder.make("a", b"old")
    folder.path.chmod(0o555)
    folder.recovery.mkdir()
    folder.recovery.chmod(0o777)
    os.chown(folder.path / "a", NOBODY, NOBODY)
    stamp = folder.stamp("a")
    with folder.place("a") as place:
        as_nobody(lambda: save(place, [b"new text"], stamp, recovery="."), folder.recovery)
    folder.path.chmod(0o755)
    assert (folder.path / "a").read_bytes() == b"new text"
    assert (folder.path / "a").stat().st_ino == stamp.inode
    assert folder.left() == {"a"}


@needs_root
def test_mode_bits_that_writing_takes_away_are_set_again(folder: Folder):
    folder.make("a", b"old")
    os.link(folder.path / "a", folder.path / "b")
    os.chown(folder.path / "a", NOBODY, NOBODY)
    (folder.path / "a").chmod(0o4755)
    folder.recovery.mkdir()
    folder.recovery.chmod(0o777)
    stamp = folder.stamp("a")
    with folder.place("a") as place:
        as_nobody(lambda: save(place, [b"new text"], stamp, recovery="."), folder.recovery)
    assert (folder.path / "b").read_bytes() == b"new text"
    assert stat.S_IMODE((folder.path / "a").stat().st_mode) == 0o4755


@needs_root
def test_without_the_right_to_write_the_save_is_refused(folder: Folder):
    stamp = folder.make("a", b"old", 0o600)
    with folder.place("a") as place:

        def work() -> None:
            with refused("io", "no right", "EACCES"):
                save(place, [b"new"], stamp, recovery=".", force=True)

        as_nobody(work, folder.path)
    assert (folder.path / "a").read_bytes() == b"old"
    assert folder.left() == {"a"}


def test_an_immutable_file_stays_and_is_named(folder: Folder):
    stamp = folder.make("a", b"old")
    made = subprocess.run(["chattr", "+i", folder.path / "a"], check=False, capture_output=True)
    if made.returncode:  # a file system or a user without that; a folder in the way is refused just as well
        (folder.path / "a").unlink()
        (folder.path / "a").mkdir()
        with refused("unsupported", "a is a folder"):
            folder.save("a", b"new", stamp)
        return
    try:
        with refused("io", "cannot save a", "EPERM"):
            folder.save("a", b"new", stamp, force=True)
        assert (folder.path / "a").read_bytes() == b"old"
        assert folder.left() == {"a"}
    finally:
        subprocess.run(["chattr", "-i", folder.path / "a"], check=True)


def test_S08_a_file_without_write_bits_is_read_only(folder: Folder):
    stamp = folder.make("a", b"old", 0o444)
    with folder.place("a") as place, Reading(place) as reading:
        assert reading.read_only
    with refused("read_only", "a is read-only"):
        folder.save("a", b"new", stamp)
    assert (folder.path / "a").read_bytes() == b"old"
    folder.save("a", b"new", stamp, force=True)
    assert (folder.path / "a").read_bytes() == b"new"
    assert stat.S_IMODE((folder.path / "a").stat().st_mode) == 0o444


@pytest.mark.parametrize("name", ["x" * 255, "é" * 127, "a\nb", "\udcff\udc80", "-rf", "\u202egnp.exe"])
def test_any_name_can_be_saved(folder: Folder, name: str):
    stamp = folder.save(name, b"one", None)
    folder.save(name, b"two", stamp)
    assert (folder.path / name).read_bytes() == b"two"
    os.link(folder.path / name, folder.path / "link")
    folder.save(name, b"three", folder.stamp(name))
    assert folder.left() == {name, "link"}


def test_a_new_file_has_the_mode_that_the_umask_leaves(folder: Folder):
    before = os.umask(0o027)
    try:
        folder.save("a", b"new", None)
    finally:
        os.umask(before)
    assert stat.S_IMODE((folder.path / "a").stat().st_mode) == 0o640
    assert folder.left() == {"a"}


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("size", [9000, 3000])
def test_A12_a_full_disk_leaves_the_old_bytes(folder: Folder, linked: bool, size: int):
    stamp = folder.make("a", b"o" * size)
    names = {"a"}
    if linked:
        os.link(folder.path / "a", folder.path / "b")
        names.add("b")
    with file_size_limit(4096), refused("io", "cannot save a", "larger than is allowed", "EFBIG"):
        folder.save("a", b"n" * 10_000, stamp)
    assert (folder.path / "a").read_bytes() == b"o" * size
    assert folder.left() == names
    folder.save("a", b"n" * 10_000, stamp)
    assert (folder.path / "a").read_bytes() == b"n" * 10_000


def test_A12_without_space_not_one_old_byte_is_overwritten(folder: Folder, monkeypatch: pytest.MonkeyPatch):
    stamp = folder.make("a", b"old")
    os.link(folder.path / "a", folder.path / "b")
    written: list[int] = []
    write = os.write

    def watched(file: int, data: bytes) -> int:
        written.append(os.fstat(file).st_ino)
        return write(file, data)

    monkeypatch.setattr(os, "write", watched)
    with file_size_limit(4096), refused("io", "cannot save a"):
        folder.save("a", b"n" * 10_000, stamp)
    assert written
    assert stamp.inode not in written
    assert (folder.path / "a").read_bytes() == b"old"


@contextmanager
def little_space(path: Path) -> Iterator[bool]:
    """A folder on a disk of 64 KiB, or, where nothing can be mounted, a limit of as much for a file."""
    path.mkdir()
    mounted = not subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", path], check=False, capture_output=True
    ).returncode
    try:
        with suppress(ValueError) if mounted else file_size_limit(65_536):
            yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", path], check=True)


@pytest.mark.parametrize("linked", [False, True])
def test_S13_a_file_that_outgrows_its_disk_stays_and_can_be_saved_elsewhere(tmp_path: Path, linked: bool):
    with little_space(tmp_path / "small") as mounted:
        folder = Folder(tmp_path / "small", tmp_path / "recovery")
        stamp = folder.make("a", b"o" * 20_000)
        if linked:
            os.link(folder.path / "a", folder.path / "b")
        with refused("io", "cannot save a", "the disk is full" if mounted else "larger than is allowed"):
            folder.save("a", b"n" * 100_000, stamp)
        assert (folder.path / "a").read_bytes() == b"o" * 20_000
        assert folder.left() == ({"a", "b"} if linked else {"a"})
        folder.save("a", b"n" * 10_000, stamp)
        assert (folder.path / "a").read_bytes() == b"n" * 10_000
    (tmp_path / "large").mkdir()
    Folder(tmp_path / "large", tmp_path / "recovery").save("a", b"n" * 100_000, None)


def test_a_change_of_the_same_size_and_time_is_seen(folder: Folder):
    stamp = folder.make("a", b"old")
    before = (folder.path / "a").stat()
    (folder.path / "a").write_bytes(b"new")
    os.utime(folder.path / "a", ns=(before.st_atime_ns, before.st_mtime_ns))
    with refused("changed_on_disk", "a was changed by another program"):
        folder.save("a", b"mine", stamp)
    assert (folder.path / "a").read_bytes() == b"new"
    folder.save("a", b"mine", stamp, force=True)
    assert (folder.path / "a").read_bytes() == b"mine"


def test_other_times_or_another_inode_with_the_same_bytes_are_no_change(folder: Folder):
    stamp = folder.make("a", b"old")
    os.utime(folder.path / "a", ns=(1, 1))
    stamp = folder.save("a", b"one", stamp)
    (folder.path / "b").write_bytes(b"one")
    (folder.path / "b").rename(folder.path / "a")
    folder.save("a", b"two", stamp)
    assert (folder.path / "a").read_bytes() == b"two"


def test_a_settled_file_that_is_written_with_the_old_times_is_known_by_its_change_time(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(files.reading, "_SETTLED_NS", -(10**18))
    stamp = folder.make("a", b"old")
    before = (folder.path / "a").stat()
    while (folder.path / "a").stat().st_ctime_ns == before.st_ctime_ns:
        (folder.path / "a").write_bytes(b"new")
        os.utime(folder.path / "a", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not stamp.looks_like((folder.path / "a").stat())


def test_a_settled_file_is_known_by_its_status_alone(folder: Folder, monkeypatch: pytest.MonkeyPatch):
    folder.make("a", b"old")
    monkeypatch.setattr(files.reading, "_SETTLED_NS", -(10**18))
    stamp = folder.stamp("a")
    assert stamp.settled
    assert stamp.looks_like((folder.path / "a").stat())
    monkeypatch.setattr(files.reading, "_SETTLED_NS", 10**18)
    assert not folder.stamp("a").looks_like((folder.path / "a").stat())


def test_S11_a_deleted_file_is_not_made_again_unasked(folder: Folder):
    stamp = folder.make("a", b"old")
    (folder.path / "a").unlink()
    with refused("changed_on_disk", "a was deleted"):
        folder.save("a", b"new", stamp)
    assert folder.left() == set()
    folder.save("a", b"new", stamp, force=True)
    assert (folder.path / "a").read_bytes() == b"new"


@pytest.mark.parametrize("force", [False, True])
def test_S11_a_deleted_folder_is_not_made_again(folder: Folder, force: bool):
    stamp = folder.make("a", b"old")
    with folder.place("a") as place:
        (folder.path / "a").unlink()
        folder.path.rmdir()
        with refused("not_found", "the folder of a is gone"):
            save(place, [b"new"], stamp, recovery=str(folder.recovery), force=force)
    assert not folder.path.exists()


def test_a_new_file_never_replaces_one(folder: Folder):
    folder.make("a", b"old")
    with refused("exists", "a exists"):
        folder.save("a", b"new", None)
    assert (folder.path / "a").read_bytes() == b"old"
    folder.save("a", b"new", None, force=True)
    assert (folder.path / "a").read_bytes() == b"new"


def test_a_file_that_appears_during_the_save_is_not_replaced(folder: Folder, monkeypatch: pytest.MonkeyPatch):
    fsync = os.fsync

    def appear(file: int) -> None:
        (folder.path / "a").write_bytes(b"theirs")
        fsync(file)

    monkeypatch.setattr(os, "fsync", appear)
    with refused("exists", "a exists now"):
        folder.save("a", b"mine", None)
    assert (folder.path / "a").read_bytes() == b"theirs"
    assert folder.left() == {"a"}


def test_a_file_that_changes_during_the_save_is_not_replaced(folder: Folder, monkeypatch: pytest.MonkeyPatch):
    stamp = folder.make("a", b"old")
    fsync = os.fsync

    def change(file: int) -> None:
        (folder.path / "a").write_bytes(b"theirs")
        fsync(file)

    monkeypatch.setattr(os, "fsync", change)
    with refused("changed_on_disk", "a was changed by another program"):
        folder.save("a", b"mine", stamp)
    assert (folder.path / "a").read_bytes() == b"theirs"
    assert folder.left() == {"a"}


def test_bytes_that_do_not_read_back_are_not_renamed_into_place(folder: Folder, monkeypatch: pytest.MonkeyPatch):
    stamp = folder.make("a", b"old")
    os.link(folder.path / "a", folder.path / "b")
    pread = os.pread

    def wrong(file: int, size: int, at: int) -> bytes:
        return pread(file, size, at).replace(b"new", b"nEw")

    monkeypatch.setattr(os, "pread", wrong)
    with refused("io", "a does not read back"):
        folder.save("a", b"new", stamp)
    (folder.path / "b").unlink()
    with refused("io", "a does not read back"):
        folder.save("a", b"new", stamp)
    assert (folder.path / "a").read_bytes() == b"old"
    assert folder.left() == {"a"}


def odd(folder: Folder, kind: str) -> None:
    path = folder.path / "a"
    path.unlink(missing_ok=True)
    match kind:
        case "a folder":
            path.mkdir()
        case "a symbolic link":
            (folder.path / "target").write_bytes(b"target")
            path.symlink_to("target")
        case "a pipe":
            os.mkfifo(path)


@pytest.mark.parametrize("kind", ["a folder", "a symbolic link", "a pipe"])
def test_what_is_no_regular_file_is_neither_read_nor_written(folder: Folder, kind: str):
    stamp = folder.make("a", b"old")
    odd(folder, kind)
    before = folder.left()
    with folder.place("a") as place, refused("unsupported", f"a is {kind}"):
        read(place)
    for force in (False, True):
        with refused("unsupported", f"a is {kind}"):
            folder.save("a", b"new", stamp, force=force)
    assert folder.left() == before
    if kind == "a symbolic link":
        assert (folder.path / "target").read_bytes() == b"target"


def test_a_device_is_not_opened():
    place = Place(os.open("/dev", os.O_RDONLY | os.O_DIRECTORY), "zero", "zero")
    with place, refused("unsupported", "zero is a device"):
        read(place)


def test_a_missing_file_is_not_found(folder: Folder):
    with folder.place("a") as place, refused("not_found", "cannot open a", "not there"):
        read(place)


def test_a_file_that_grows_while_it_is_read_counts_as_changed(folder: Folder):
    folder.make("a", b"old")
    with folder.place("a") as place, Reading(place) as reading:
        assert next(iter(reading)) == b"old"
        with (folder.path / "a").open("ab") as file:
            file.write(b" more")
        stamp = reading.stamp()
    with refused("changed_on_disk", "a was changed"):
        folder.save("a", b"new", stamp)


@pytest.mark.parametrize("umask", [0, 0o077, 0o777])
@pytest.mark.parametrize("before", ["nothing", "0644", "link", "hard link"])
def test_a_private_file_is_private_from_the_first_instant(
    folder: Folder, umask: int, before: str, monkeypatch: pytest.MonkeyPatch
):
    path = folder.path / "key"
    other = folder.path / "other"
    other.write_bytes(b"other")
    match before:
        case "0644":
            path.write_bytes(b"old")
        case "link":
            path.symlink_to("other")
        case "hard link":
            os.link(other, path)
    seen: list[int] = []
    write = os.write

    def watched(file: int, data: bytes) -> int:
        seen.append(os.fstat(file).st_mode)
        return write(file, data)

    fchmod = os.fchmod

    def watched_too(file: int, mode: int) -> None:
        assert not stat.S_IMODE(os.fstat(file).st_mode) & 0o077
        fchmod(file, mode)

    monkeypatch.setattr(os, "write", watched)
    monkeypatch.setattr(os, "fchmod", watched_too)
    old_umask = os.umask(umask)
    try:
        with folder.place("key") as place:
            write_private(place, b"secret")
    finally:
        os.umask(old_umask)
    assert {stat.S_IMODE(mode) for mode in seen} == {0o600}
    assert path.read_bytes() == b"secret"
    assert not path.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert other.read_bytes() == b"other"
    assert folder.left() == {"key", "other"}


def test_a_private_file_does_not_replace_a_folder(folder: Folder):
    (folder.path / "key").mkdir()
    with folder.place("key") as place, refused("unsupported", "cannot write key", "a folder"):
        write_private(place, b"secret")
    assert folder.left() == {"key"}
