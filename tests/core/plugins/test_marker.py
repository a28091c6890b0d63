from pathlib import Path

from rio_core._engine.plugins.marker import Marker


def test_what_another_core_is_loading_has_not_ended(tmp_path: Path):
    first, second = Marker(tmp_path), Marker(tmp_path)
    first.mark("slow")
    assert second.ended() == set()
    first.close()
    assert second.ended() == set()
    assert list((tmp_path / "plugins").iterdir()) == []


def test_a_marker_without_a_name_blames_nobody(tmp_path: Path):
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins/loading-0123").write_text("")
    assert Marker(tmp_path).ended() == set()


def test_the_name_that_counts_is_the_last_one(tmp_path: Path):
    (tmp_path / "plugins").mkdir()
    marker = Marker(tmp_path)
    marker.mark("a-long-name-that-loaded-well")
    marker.mark("short")
    (left,) = (tmp_path / "plugins").iterdir()
    assert left.read_text() == "short"
    marker.close()


def test_who_ended_the_process_is_known_until_it_is_forgotten(tmp_path: Path):
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins/loading-0123").write_text("deadly")
    assert Marker(tmp_path).ended() == {"deadly"}
    assert Marker(tmp_path).ended() == {"deadly"}
    Marker(tmp_path).forget("other")
    Marker(tmp_path).forget("deadly")
    assert Marker(tmp_path).ended() == set()
