import json
from pathlib import Path
from typing import Any

import pytest

from rio_core._engine import trust as module
from rio_core._engine.trust import Trust
from rio_core.protocol.errors import RioError


@pytest.fixture
def trust(tmp_path: Path) -> Trust:
    return Trust(tmp_path / "state")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    return root


def test_nothing_is_trusted_unless_its_user_says_so(trust: Trust, root: Path):
    assert not trust.is_trusted(root)
    trust.set(root, trusted=True)
    assert trust.is_trusted(root)
    assert Trust(root.parent / "state").is_trusted(root)
    assert not trust.is_trusted(root.parent)
    trust.set(root, trusted=False)
    assert not trust.is_trusted(root)


def test_the_real_folder_counts_not_the_name_that_leads_to_it(trust: Trust, root: Path, tmp_path: Path):
    (tmp_path / "link").symlink_to(root)
    trust.set(tmp_path / "link", trusted=True)
    assert trust.is_trusted(root)
    (tmp_path / "other").mkdir()
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to(tmp_path / "other")
    assert not trust.is_trusted(tmp_path / "link")


def test_W10_another_tree_at_the_same_path_is_not_trusted(trust: Trust, root: Path, tmp_path: Path):
    trust.set(root, trusted=True)
    root.rename(tmp_path / "old")
    root.mkdir()
    assert not trust.is_trusted(root)
    assert not trust.is_trusted(tmp_path / "old")
    root.rmdir()
    (tmp_path / "old").rename(root)
    assert trust.is_trusted(root)


def test_W10_a_tree_that_got_the_removed_ones_inode_is_not_trusted(trust: Trust, root: Path):
    if not module._birth(str(root)):
        trust.set(root, trusted=True)
        assert trust.is_trusted(root)  # this file system does not say when a folder was made: only the inode is known
        return
    for _ in range(20):
        trust.set(root, trusted=True)
        root.rmdir()
        root.mkdir()
        assert not trust.is_trusted(root)


def test_a_folder_that_is_gone_is_neither_trusted_nor_can_be(trust: Trust, root: Path):
    trust.set(root, trusted=True)
    root.rmdir()
    assert not trust.is_trusted(root)
    with pytest.raises(RioError, match="no folder"):
        trust.set(root, trusted=True)


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\xff", b'{"roots": 7}', b'{"roots": {"a"'])
def test_a_damaged_file_trusts_nobody(trust: Trust, root: Path, damage: bytes, expect_log: Any):
    trust.set(root, trusted=True)
    file = root.parent / "state/trust.json"
    file.write_bytes(damage)
    expect_log(r".*trust: .*is damaged")
    assert not trust.is_trusted(root)
    trust.set(root, trusted=True)
    assert trust.is_trusted(root)


def test_the_file_is_private_and_in_the_state_folder(trust: Trust, root: Path):
    trust.set(root, trusted=True)
    file = root.parent / "state/trust.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(json.loads(file.read_text())["roots"]) == [str(root)]
    assert list(root.iterdir()) == []


def test_a_path_that_is_no_text_can_be_trusted(trust: Trust, tmp_path: Path):
    odd = tmp_path / "a\udcff\n"
    odd.mkdir()
    trust.set(odd, trusted=True)
    assert trust.is_trusted(odd)
