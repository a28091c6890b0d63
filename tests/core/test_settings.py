import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rio_core._engine.bus import Bus
from rio_core._engine.settings import Settings, wrong
from rio_core.protocol.errors import RioError
from rio_core.protocol.events import SettingsChanged
from rio_core.protocol.ops.plugins import Setting
from support.profiles import examples


class Events(list[Any]):
    def bus(self) -> Bus:
        bus = Bus()
        bus.listen(self.append)
        return bus


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "config"
    folder.mkdir()
    return folder


def write(folder: Path, text: str | bytes) -> Path:
    file = folder / "settings.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def test_without_a_file_the_defaults_count_and_nothing_is_made(tmp_path: Path):
    settings = Settings(tmp_path / "config", Bus())
    assert settings.get("agent.save") is True
    assert settings.values() == {"agent.save": True}
    assert settings.notices == []
    assert not (tmp_path / "config").exists()


def test_what_is_set_is_kept_and_told(folder: Path):
    events = Events()
    settings = Settings(folder, events.bus())
    settings.set("agent.save", False)
    assert settings.get("agent.save") is False
    assert Settings(folder, Bus()).get("agent.save") is False
    assert events == [SettingsChanged(key="agent.save")]
    settings.set("agent.save", None)
    assert settings.get("agent.save") is True
    assert (folder / "settings.toml").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("value", [1, "true", [], 0.0, {}])
def test_a_value_of_another_type_is_refused(folder: Path, value: Any):
    settings = Settings(folder, Bus())
    with pytest.raises(RioError, match="not true or false") as caught:
        settings.set("agent.save", value)
    assert caught.value.kind == "bad_message"
    assert not (folder / "settings.toml").exists()


def test_an_unknown_key_is_refused(folder: Path):
    settings = Settings(folder, Bus())
    for use in (
        lambda: settings.get("agent.sav"),
        lambda: settings.set("plugins.disabled", []),
        lambda: settings.values("x"),
    ):
        with pytest.raises(RioError, match="no setting"):
            use()


HAND = """\
# what I like
title = "mine"   # unknown to rio

[agent]   # the agent
save = true    # always

[[tool]]
name = 'x'

[provider]
selected = "echo"
[provider.claude]
url = "https://x.test"   # mine
"""


def test_comments_order_and_unknown_keys_stay(folder: Path):
    file = write(folder, HAND)
    settings = Settings(folder, Bus())
    settings.set("agent.save", False)
    assert file.read_text() == HAND.replace("save = true", "save = false")
    settings.store("provider.claude.timeout", 5)
    settings.store("provider.model.claude", "m-1")
    text = file.read_text()
    for line in HAND.replace("save = true", "save = false").splitlines():
        assert line in text.splitlines()
    assert tomllib.loads(text)["provider"] == {
        "selected": "echo",
        "claude": {"url": "https://x.test", "timeout": 5},
        "model": {"claude": "m-1"},
    }
    settings.store("provider.model.claude", None)
    assert "m-1" not in file.read_text()


def test_an_edit_by_hand_counts_at_once_and_is_not_written_over(folder: Path):
    settings = Settings(folder, Bus())
    settings.set("agent.save", False)
    write(folder, "[agent]\nsave = true\nmine = 1\n")
    assert settings.get("agent.save") is True
    settings.store("provider.selected", "echo")
    assert tomllib.loads((folder / "settings.toml").read_text())["agent"] == {"save": True, "mine": 1}


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (HAND[: HAND.index('"mine"') + 3], "line 2"),
        ("[agent]\nsave = \n", "line 2"),
        ("[agent]\nsave = true\n\0\0\0\0", "line 3"),
        (b"[agent]\nx = '\xff'\n", "line 2"),
        ("a = 1\na = 2\n", "line 2"),
        ("a = " + "[" * 100_000, ""),
        ("#" * (1024 * 1024 + 1), "larger"),
        (b"\x00" * 4096, "line 1"),
    ],
    ids=["cut", "value", "nul", "utf8", "twice", "deep", "huge", "zeros"],
)
def test_S50_a_file_that_cannot_be_read_is_kept_aside_and_named(folder: Path, bad: str | bytes, says: str):
    file = write(folder, bad)
    before = file.read_bytes()
    (folder / "settings.toml.bad-1").write_text("an earlier one")
    settings = Settings(folder, Bus())
    assert settings.values() == {"agent.save": True}
    (notice,) = settings.notices
    assert str(file) in notice
    assert says in notice
    assert "settings.toml.bad-2" in notice
    assert (folder / "settings.toml.bad-2").read_bytes() == before
    assert (folder / "settings.toml.bad-1").read_text() == "an earlier one"
    settings.set("agent.save", False)
    assert Settings(folder, Bus()).get("agent.save") is False


def test_S50_a_file_that_breaks_while_rio_runs_is_left_to_its_editor(folder: Path):
    settings = Settings(folder, Bus())
    settings.set("agent.save", False)
    file = write(folder, "[agent]\nsave = tr")
    assert settings.get("agent.save") is False
    assert file.read_text() == "[agent]\nsave = tr"
    assert "line 2" in settings.notices[0]
    settings.set("agent.save", True)  # but a change must not be lost: now it is put aside
    assert tomllib.loads(file.read_text()) == {"agent": {"save": True}}
    assert (folder / "settings.toml.bad-1").read_text() == "[agent]\nsave = tr"


def test_S50_a_value_of_another_type_counts_as_the_default_and_is_named(folder: Path):
    file = write(folder, '\n[agent]\nsave = "yes"\n')
    settings = Settings(folder, Bus())
    for _ in range(3):
        assert settings.get("agent.save") is True
    assert settings.notices == [f"{file}:3: agent.save is 'yes', not true or false. Its default counts."]
    settings.set("agent.save", False)
    assert settings.get("agent.save") is False


def test_S50_a_value_where_a_table_belongs_is_named_and_never_overwritten(folder: Path):
    file = write(folder, "agent = 5\n")
    settings = Settings(folder, Bus())
    assert settings.get("agent.save") is True
    with pytest.raises(RioError, match=r"agent\.save"):
        settings.set("agent.save", False)
    assert file.read_text() == "agent = 5\n"


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), os.mkfifo], ids=["folder", "pipe"])
def test_S50_what_is_no_file_does_not_hang_the_start(folder: Path, make: Any):
    make(folder / "settings.toml")
    settings = Settings(folder, Bus())
    assert settings.values() == {"agent.save": True}
    assert settings.notices


def test_a_byte_order_mark_is_no_mistake(folder: Path):
    write(folder, b"\xef\xbb\xbf[agent]\r\nsave = false\r\n")
    settings = Settings(folder, Bus())
    assert settings.get("agent.save") is False
    assert settings.notices == []


def test_a_link_to_the_users_own_file_stays_a_link(folder: Path, tmp_path: Path):
    (tmp_path / "dotfiles").mkdir()
    target = tmp_path / "dotfiles/rio.toml"
    target.write_text("# mine\n")
    (folder / "settings.toml").symlink_to(target)
    settings = Settings(folder, Bus())
    settings.set("agent.save", False)
    assert (folder / "settings.toml").is_symlink()
    assert target.read_text().startswith("# mine\n")
    assert tomllib.loads(target.read_text()) == {"agent": {"save": False}}


def test_nothing_of_a_project_is_read(tmp_path: Path):
    for name in ("settings.toml", "config/settings.toml", ".rio/settings.toml", "rio/settings.toml"):
        file = Path(name)
        file.parent.mkdir(exist_ok=True)
        file.write_text("[agent]\nsave = false\n")
    try:
        assert Settings(tmp_path / "config", Bus()).get("agent.save") is True
    finally:
        for name in ("config", ".rio", "rio"):
            (Path(name) / "settings.toml").unlink()
            Path(name).rmdir()
        Path("settings.toml").unlink()


TYPES: list[tuple[str, list[Any], list[Any]]] = [
    ("boolean", [True, False], [0, 1, "true", None]),
    ("integer", [0, -1, 2**63 - 1, -(2**63)], [True, 1.0, "1", 2**63, None]),
    ("number", [0, 1.5, -3, 2**62], [True, "1", float("nan"), float("inf"), 10**400, None]),
    ("text", ["", "é🎉\n\x01", "x" * 65536], [1, None, b"x", "\ud800", "x" * 65537]),
    ("choice", ["a", "b"], ["c", "", 1, None, []]),
]


@pytest.mark.parametrize(("kind", "good", "bad"), TYPES, ids=[kind for kind, _, _ in TYPES])
def test_each_type_takes_its_values_and_gives_them_back(folder: Path, kind: Any, good: list[Any], bad: list[Any]):
    settings = Settings(folder, Bus())
    spec = Setting("provider.p.key", "Key", kind, good[0], choices=["a", "b"])
    settings.declare([spec])
    for value in good:
        settings.set("provider.p.key", value)
        assert settings.get("provider.p.key") == value
        assert type(settings.get("provider.p.key")) is type(value)
    for value in bad:
        assert wrong(spec, value)
        if value is not None:
            with pytest.raises(RioError):
                settings.set("provider.p.key", value)
    settings.withdraw("provider.p.")
    with pytest.raises(RioError):
        settings.get("provider.p.key")
    assert settings.stored("provider.p.key") == good[-1]


def test_a_writer_that_would_change_more_than_the_one_value_is_not_trusted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    import tomlkit

    file = write(folder, HAND)
    settings = Settings(folder, Bus())
    monkeypatch.setattr(tomlkit, "dumps", lambda document: document.as_string().replace("mine", "yours"))
    with pytest.raises(RioError, match="without touching the rest"):
        settings.set("agent.save", False)
    assert file.read_text() == HAND


KEYS = st.sampled_from(
    ["agent.save", "provider.p.x", "provider.q.x", "provider.selected", "plugins.disabled", "new.table.key"]
)
VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.text(st.characters(codec="utf-8"))
    | st.lists(st.text('ab"'))
)


@given(changes=st.lists(st.tuples(KEYS, VALUES), max_size=8))
@examples(ci=40, deep=600)
def test_any_changes_leave_the_rest_of_the_file_as_it_was(tmp_path_factory: pytest.TempPathFactory, changes: Any):
    folder = tmp_path_factory.mktemp("config")
    file = write(folder, HAND)
    settings = Settings(folder, Bus())
    expected = tomllib.loads(HAND)
    for key, value in changes:
        settings.store(key, value)
        *tables, last = key.split(".")
        table = expected
        for name in tables:
            table = table.setdefault(name, {})
        table.pop(last, None)
        if value is not None:
            table[last] = value
        assert settings.stored(key) == value
    assert _without_empty(tomllib.loads(file.read_text())) == _without_empty(expected)
    assert settings.notices == []


def _without_empty(table: Any) -> Any:
    if not isinstance(table, dict):
        return table
    cleaned = {name: _without_empty(member) for name, member in table.items()}
    return {name: member for name, member in cleaned.items() if member != {}}
