"""The snapshot sees every kind of change, and names it."""

import os

import pytest

from support.tree import TreeSnapshot


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.txt").write_bytes(b"one\r\ntwo")
    (tmp_path / "b.txt").write_bytes(b"b")
    (tmp_path / "link").symlink_to("b.txt")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / os.fsdecode(b"caf\xe9")).write_bytes(b"")
    return tmp_path


def changes_after(tree, action):
    before = TreeSnapshot.take(tree)
    action()
    return [(change.path, change.aspect) for change in before.changes(TreeSnapshot.take(tree))]


def test_nothing_done_is_no_change(tree):
    assert changes_after(tree, (tree / "b.txt").read_bytes) == []


def test_bytes_and_time(tree):
    found = changes_after(tree, lambda: (tree / "sub/a.txt").write_bytes(b"one\ntwo"))
    assert found == [("sub/a.txt", "data"), ("sub/a.txt", "mtime_ns")]


def test_time_alone(tree):
    assert changes_after(tree, lambda: os.utime(tree / "b.txt", ns=(1, 1))) == [("b.txt", "mtime_ns")]


def test_mode_alone(tree):
    assert changes_after(tree, lambda: (tree / "b.txt").chmod(0o640)) == [("b.txt", "mode")]


def test_a_rename_over_a_file_is_another_inode_and_another_time_of_its_folder(tree):
    def replace():
        (tree / "sub/new").write_bytes(b"one\r\ntwo")
        status = (tree / "sub/a.txt").stat()
        os.utime(tree / "sub/new", ns=(status.st_atime_ns, status.st_mtime_ns))
        os.replace(tree / "sub/new", tree / "sub/a.txt")

    assert changes_after(tree, replace) == [("sub", "mtime_ns"), ("sub/a.txt", "inode")]


def test_a_hard_link_is_seen_at_both_names(tree):
    found = changes_after(tree, lambda: os.link(tree / "b.txt", tree / "c.txt"))
    assert found == [(".", "mtime_ns"), ("b.txt", "links"), ("c.txt", "exists")]


def test_another_target_of_a_link_and_a_link_that_became_a_file(tree):
    def retarget():
        (tree / "link").unlink()
        (tree / "link").symlink_to("sub/a.txt")

    def flatten():
        (tree / "link").unlink()
        (tree / "link").write_bytes(b"b")

    assert ("link", "data") in changes_after(tree, retarget)
    assert ("link", "kind") in changes_after(tree, flatten)


def test_an_extended_attribute(tree):
    try:
        os.setxattr(tree / "b.txt", "user.rio", b"1")
        os.removexattr(tree / "b.txt", "user.rio")
    except OSError:
        assert changes_after(tree, lambda: None) == []  # this file system has none to lose
        return
    assert changes_after(tree, lambda: os.setxattr(tree / "b.txt", "user.rio", b"1")) == [("b.txt", "xattrs")]


def test_a_change_is_told_in_one_line_with_its_place(tree):
    before = TreeSnapshot.take(tree)
    (tree / "sub/a.txt").write_bytes(b"one\r\ntwO")
    told = str(before.changes(TreeSnapshot.take(tree))[0])
    assert told == "'sub/a.txt': data of 8 bytes differ from byte 7 on: b'o' became b'O'"


def test_saving_explains_its_own_traces_and_no_others(tree):
    before = TreeSnapshot.take(tree)
    (tree / "sub/new").write_bytes(b"saved")
    (tree / "sub/new").replace(tree / "sub/a.txt")
    (tree / "made/deep").mkdir(parents=True)
    (tree / "made/deep/file").write_bytes(b"x")
    written = {"sub/a.txt": b"saved", "made/deep/file": b"x"}
    (tree / "sub/a.txt").chmod(before["sub/a.txt"].mode)
    assert before.unexplained(TreeSnapshot.take(tree), written) == []

    (tree / "sub/a.txt").chmod(0o600)
    (tree / "b.txt").write_bytes(b"c")
    (tree / "sub/left.tmp").write_bytes(b"")
    told = [(change.path, change.aspect) for change in before.unexplained(TreeSnapshot.take(tree), written)]
    assert told == [("b.txt", "data"), ("b.txt", "mtime_ns"), ("sub/a.txt", "mode"), ("sub/left.tmp", "exists")]


@pytest.mark.parametrize("bytes_on_disk", [b"other", None])
def test_a_file_that_was_not_saved_as_said_is_told(tree, bytes_on_disk):
    before = TreeSnapshot.take(tree)
    if bytes_on_disk is None:
        (tree / "b.txt").unlink()
    else:
        (tree / "b.txt").write_bytes(bytes_on_disk)
    told = before.unexplained(TreeSnapshot.take(tree), {"b.txt": b"saved"})
    assert ("b.txt", "data") in [(change.path, change.aspect) for change in told]
