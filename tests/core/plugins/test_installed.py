"""Plugins that are really installed, in a core's process of their own."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from rio_core._engine.folders import state_folder

GOOD = """
from rio_core.api import Done, ProviderInfo, hookimpl

class P:
    info = ProviderInfo(name="{name}", title="P")
    async def respond(self, request, post): await post(Done("end_turn"))
    async def models(self, setup): return []

@hookimpl
def rio_providers():
    return [P()]
"""


@pytest.mark.needs_echo
def test_X1_A43_whatever_breaks_at_import_is_reported_and_stops_nobody(site: Any):
    site.add("aa_raises", "raise RuntimeError('boom at import')", metadata="Project-URL: Homepage, https://x.test/a\n")
    site.add("bb_syntax", "def broken(:\n")
    site.add("cc_exit", "import sys; sys.exit(3)")
    site.add("dd_interrupt", "raise KeyboardInterrupt")
    site.add("ee_hang", "import threading; threading.Event().wait()")
    site.add("ff_recursion", "def f(): f()\nf()")
    site.add("gg_missing", "import module_that_is_nowhere")
    site.add("zz_good", GOOD.format(name="good"))
    code, plugins, _ = site.run()
    assert code == 0
    for name, reason, report in (
        ("aa_raises", "RuntimeError: boom at import", "aa_raises.py"),
        ("bb_syntax", "SyntaxError", "def broken(:"),
        ("cc_exit", "SystemExit: 3", "cc_exit.py"),
        ("dd_interrupt", "KeyboardInterrupt", "dd_interrupt.py"),
        ("ee_hang", "blocked its loop", "ee_hang.py"),
        ("ff_recursion", "RecursionError", "ff_recursion.py"),
        ("gg_missing", "module_that_is_nowhere", "gg_missing.py"),
    ):
        plugin = plugins[name]
        assert plugin.status == "failed"
        assert reason in str(plugin.reason)
        assert report in str(plugin.report)
        assert (plugin.distribution, plugin.version) == (f"rio-{name}", "1.2")
    assert plugins["aa_raises"].homepage == "https://x.test/a"
    assert plugins["zz_good"].status == "on"
    assert plugins["zz_good"].provides == ["provider good"]
    assert plugins["echo"].status == "on"


@pytest.mark.parametrize("death", ["import os; os._exit(7)", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"])
def test_A43_who_ends_the_process_is_off_at_the_next_start_until_enabled(site: Any, death: str):
    site.add("aa_deadly", death)
    site.add("zz_good", GOOD.format(name="good"))
    code, plugins, _ = site.run()
    assert code in (7, -signal.SIGKILL)
    assert plugins == {}
    for _ in range(2):  # and it stays off
        code, plugins, modules = site.run()
        assert code == 0
        assert plugins["aa_deadly"].status == "off"
        assert "ended the process while loading" in str(plugins["aa_deadly"].reason)
        assert plugins["zz_good"].status == "on"
        assert "aa_deadly" not in modules
    (site.folder / "aa_deadly.py").write_text(GOOD.format(name="mended"))
    site.run(enable=["aa_deadly"])
    _, plugins, _ = site.run()
    assert plugins["aa_deadly"].status == "on"


def test_a_core_that_ends_well_leaves_no_marker(site: Any):
    site.add("zz_good", GOOD.format(name="good"))
    site.run()
    assert list((state_folder() / "plugins").iterdir()) == []


def test_the_marker_of_a_core_that_still_loads_is_no_death(site: Any):
    import fcntl

    folder = state_folder() / "plugins"
    folder.mkdir(parents=True)
    marker = folder / "loading-0123"
    marker.write_text("zz_good")
    site.add("zz_good", GOOD.format(name="good"))
    with open(marker) as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        _, plugins, _ = site.run()
        assert plugins["zz_good"].status == "on"
        assert marker.exists()
    _, plugins, _ = site.run()
    assert plugins["zz_good"].status == "off"
    assert json.loads((folder / "ended.json").read_text()) == ["zz_good"]


@pytest.mark.needs_echo
def test_a_state_folder_that_cannot_be_written_stops_no_plugin(site: Any):
    state_folder().parent.mkdir(exist_ok=True)
    state_folder().write_text("no folder")
    site.add("aa_good", GOOD.format(name="good"))
    code, plugins, _ = site.run()
    assert code == 0
    assert [plugins[name].status for name in ("aa_good", "echo")] == ["on", "on"]


@pytest.mark.needs_echo
def test_a_death_that_cannot_be_written_down_still_counts_now(site: Any):
    folder = state_folder() / "plugins"
    (folder / "ended.json").mkdir(parents=True)
    (folder / "loading-0123").write_text("aa_good")
    site.add("aa_good", GOOD.format(name="good"))
    code, plugins, _ = site.run()
    assert code == 0
    assert [plugins[name].status for name in ("aa_good", "echo")] == ["off", "on"]


@pytest.mark.needs_echo
def test_a_hook_that_does_not_exist_is_named(site: Any):
    site.add("aa_newer", "from rio_core.api import hookimpl\n@hookimpl\ndef rio_from_the_future(): pass")
    _, plugins, _ = site.run()
    assert plugins["aa_newer"].status == "failed"
    assert "rio_from_the_future" in str(plugins["aa_newer"].reason)
    assert plugins["echo"].status == "on"


def test_a_hook_with_an_unknown_argument_is_named(site: Any):
    site.add("aa_args", "from rio_core.api import hookimpl\n@hookimpl\ndef rio_providers(colour): return []")
    _, plugins, _ = site.run()
    assert "colour" in str(plugins["aa_args"].reason)


def test_A44_a_hook_that_raises_stops_nobody(site: Any):
    site.add(
        "aa_hook", "from rio_core.api import hookimpl\n@hookimpl\ndef rio_providers(): raise ValueError('in the hook')"
    )
    site.add("zz_good", GOOD.format(name="good"))
    _, plugins, _ = site.run()
    assert "ValueError: in the hook" in str(plugins["aa_hook"].reason)
    assert plugins["zz_good"].status == "on"


@pytest.mark.parametrize(
    ("level", "says"),
    [("0", "made for level 0"), ("99", "needs level 99"), ("'1'", "not an integer"), ("True", "not an integer")],
)
def test_S46_another_level_is_refused_with_what_to_update(site: Any, level: str, says: str):
    site.add("aa_level", f"rio_level = {level}\n" + GOOD.format(name="good"))
    _, plugins, _ = site.run()
    assert plugins["aa_level"].status == "failed"
    assert says in str(plugins["aa_level"].reason)


def test_S45_the_first_installed_keeps_a_name_and_both_are_reported(site: Any, tmp_path: Path):
    second = tmp_path / "second"
    site.add("aa_one", GOOD.format(name="one"), distribution="rio-zz", names=("same",))
    site.add("bb_two", GOOD.format(name="two"), distribution="rio-aa", names=("same",), folder=second)
    site.add("cc_three", GOOD.format(name="three"), folder=second)
    _, plugins, modules = site.run(path=f"{site.folder}{os.pathsep}{second}")
    assert [entry for entry in site.order if entry[0] == "same"] == [
        ("same", "rio-zz", "on"),
        ("same", "rio-aa", "failed"),
    ]
    assert plugins["cc_three"].status == "on"
    assert "bb_two" not in modules


def test_S45_in_one_folder_the_name_of_the_distribution_decides(site: Any):
    site.add("aa_one", GOOD.format(name="one"), distribution="rio-b", names=("same",))
    site.add("bb_two", GOOD.format(name="two"), distribution="rio-A", names=("same",))
    site.run()
    assert [entry for entry in site.order if entry[0] == "same"] == [
        ("same", "rio-A", "on"),
        ("same", "rio-b", "failed"),
    ]


@pytest.mark.needs_echo
def test_G02_a_provider_name_that_is_taken_or_looks_like_one_is_refused(site: Any):
    site.add("aa_echo", GOOD.format(name="zzz"), names=("aa_first",))
    for module, name in (("ff_same", "zzz"), ("gg_digit", "ech0"), ("hh_dash", "ec-ho")):
        site.add(module, GOOD.format(name=name))
    _, plugins, _ = site.run()
    # echo is installed in the environment's own folder, which comes last on the path: whoever is first keeps the name.
    assert plugins["aa_first"].status == "on"
    assert plugins["ff_same"].status == "failed"
    assert "zzz" in str(plugins["ff_same"].reason)
    assert [plugins[name].status for name in ("gg_digit", "hh_dash", "echo")] == ["on", "failed", "failed"]


def test_a_disabled_plugin_is_not_imported(site: Any):
    site.add("aa_good", GOOD.format(name="good"))
    _, plugins, modules = site.run(disable=["aa_good"])
    assert plugins["aa_good"].status == "on"
    assert plugins["aa_good"].reason == "off from the next start"
    assert "aa_good" in modules
    _, plugins, modules = site.run(enable=["aa_good"])
    assert plugins["aa_good"].status == "off"
    assert plugins["aa_good"].reason == "on from the next start"
    assert "aa_good" not in modules
    _, plugins, _ = site.run()
    assert plugins["aa_good"].status == "on"


@pytest.mark.needs_echo
def test_G11_safe_mode_loads_what_comes_with_rio_and_imports_nothing_else(site: Any):
    site.add("aa_good", GOOD.format(name="good"))
    _, plugins, modules = site.run(safe_mode=True)
    assert plugins["aa_good"].status == "off"
    assert "safe mode" in str(plugins["aa_good"].reason)
    assert "aa_good" not in modules
    assert plugins["echo"].status == "on"


@pytest.mark.needs_echo
def test_damaged_metadata_stops_no_other_distribution(site: Any):
    for module, name in (("aa_bytes", "entry_points.txt"), ("bb_bytes", "METADATA")):
        info = site.add(module, GOOD.format(name=module[:2]))
        (info / name).write_bytes(b"[rio.core]\n\xff\xfe\x00 = = \x80\n")
    info = site.add("cc_text", GOOD.format(name="cc"))
    (info / "entry_points.txt").write_text("[rio.core]\nthis is no entry point\n= nothing\n[[[\n")
    info = site.add("dd_gone", GOOD.format(name="dd"))
    (info / "METADATA").unlink()
    info = site.add("ee_folder", GOOD.format(name="ee"))
    (info / "entry_points.txt").unlink()
    (info / "entry_points.txt").mkdir()
    site.add("ff_value", GOOD.format(name="ff"))
    site.add("zz_good", GOOD.format(name="good"))
    code, plugins, _ = site.run()
    assert code == 0
    assert plugins["zz_good"].status == "on"
    assert plugins["echo"].status == "on"


@pytest.mark.parametrize("path", ["", ".", "{cwd}", "sub", "sub/../sub"])
def test_nothing_is_found_in_the_working_folder_or_by_a_relative_path(site: Any, tmp_path: Path, path: str):
    project = tmp_path / "project"
    project.mkdir()
    site.add("evil", "open('ran', 'w')", folder=project / "sub" if "sub" in path else project)
    site.add("aa_good", GOOD.format(name="good"))
    _, plugins, modules = site.run(path=f"{path.format(cwd=project)}{os.pathsep}{site.folder}", cwd=project)
    assert "evil" not in plugins
    assert "evil" not in modules
    assert not (project / "ran").exists()
    assert plugins["aa_good"].status == "on"


def test_a_module_in_the_working_folder_does_not_stand_in_for_an_installed_one(site: Any, tmp_path: Path):
    project = tmp_path / "project"
    project.mkdir()
    (project / "aa_good.py").write_text("open('ran', 'w')")
    site.add("aa_good", GOOD.format(name="good"))
    _, plugins, _ = site.run(path=f"{os.pathsep}{site.folder}", cwd=project)
    assert plugins["aa_good"].provides == ["provider good"]
    assert not (project / "ran").exists()


def test_a_plugin_can_be_an_object_in_a_module(site: Any):
    source = (
        "from rio_core.api import hookimpl\nclass A:\n class B:\n"
        "  @hookimpl\n  def rio_providers(self): return []\n b = B()\n"
    )
    info = site.add("aa_nested", source)
    (info / "entry_points.txt").write_text("[rio.core]\nnested = aa_nested:A.b [extra]\nwrong = aa_nested:A.c\n")
    _, plugins, _ = site.run()
    assert plugins["nested"].status == "on"
    assert "AttributeError" in str(plugins["wrong"].reason)
