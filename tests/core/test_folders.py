import os
from pathlib import Path

import pytest

from rio_core._engine.folders import config_folder, make_private, state_folder, store
from rio_core.protocol.errors import RioError


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def test_rio_home_holds_both(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("RIO_HOME", str(tmp_path))
    assert config_folder() == tmp_path / "config"
    assert state_folder() == tmp_path / "state"


def test_else_they_are_where_the_system_has_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.delenv("RIO_HOME")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "c"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "s"))
    assert config_folder() == tmp_path / "c/rio"
    assert state_folder() == tmp_path / "s/rio"


def test_a_relative_rio_home_is_refused_as_it_could_be_a_project(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RIO_HOME", "here")
    with pytest.raises(RioError, match="RIO_HOME is 'here'"):
        config_folder()


@pytest.mark.parametrize("kind", ["CONFIG", "STATE"])
def test_a_relative_xdg_folder_is_never_taken_from_the_working_folder(monkeypatch: pytest.MonkeyPatch, kind: str):
    monkeypatch.delenv("RIO_HOME")
    monkeypatch.setenv(f"XDG_{kind}_HOME", "here")
    try:
        folder = config_folder() if kind == "CONFIG" else state_folder()
    except RioError:
        return
    assert not folder.is_relative_to(Path.cwd())


def test_looking_makes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RIO_HOME", str(tmp_path / "rio"))
    config_folder()
    state_folder()
    assert not (tmp_path / "rio").exists()


def test_S01_folders_are_for_their_user_only_whatever_the_umask(tmp_path: Path):
    old = os.umask(0)
    try:
        make_private(tmp_path / "a/b/c")
    finally:
        os.umask(old)
    assert [mode(tmp_path / part) for part in ("a", "a/b", "a/b/c")] == [0o700] * 3


def test_S01_one_that_was_open_to_others_is_closed(tmp_path: Path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a").chmod(0o755)
    make_private(tmp_path / "a")
    assert mode(tmp_path / "a") == 0o700


def test_what_cannot_be_stored_is_said_with_the_next_action(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RioError, match="cannot be written") as caught:
        store(tmp_path / "file/below/x", b"")
    assert caught.value.kind == "io"
    (tmp_path / "folder").mkdir()
    with pytest.raises(RioError) as caught:
        store(tmp_path / "folder", b"")
    assert caught.value.kind == "io"
    assert caught.value.action
    assert list((tmp_path / "folder").iterdir()) == []
