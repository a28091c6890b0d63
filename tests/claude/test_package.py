"""What the distribution is for others: a plugin that costs nothing until it is chosen."""

import subprocess
import sys
from importlib.metadata import entry_points
from typing import Any

import pluggy
import pytest

import rio_provider_claude
from claude.rig import setup
from rio_core.api import LEVEL, hookspecs
from rio_provider_claude.options import Options
from rio_provider_claude.provider import SETTINGS, Claude


def test_it_is_found_through_its_entry_point() -> None:
    (found,) = (point for point in entry_points(group="rio.core") if point.name == "claude")
    assert found.value == "rio_provider_claude"
    assert found.dist is not None
    assert found.dist.name == "rio-provider-claude"


def test_it_gives_one_provider() -> None:
    manager = pluggy.PluginManager("rio")
    manager.add_hookspecs(hookspecs)
    manager.register(rio_provider_claude)
    manager.check_pending()
    ((provider,),) = manager.hook.rio_providers()
    assert provider.info.name == "claude"
    assert rio_provider_claude.rio_level == LEVEL


def test_nothing_is_imported_before_it_is_chosen() -> None:
    code = (
        "import rio_core.api, anyio, sys; before = set(sys.modules)\n"
        "import rio_provider_claude; rio_provider_claude.rio_providers()[0].info\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["rio_provider_claude", "rio_provider_claude.provider"]


def test_the_settings_are_plain_data_whose_defaults_are_valid() -> None:
    settings = {spec.key: spec.default for spec in SETTINGS}
    options = Options.read(settings)
    assert options.base == options.origin == "https://api.anthropic.com"
    assert all(spec.type != "choice" or spec.default in spec.choices for spec in SETTINGS)
    assert Claude.info.secrets[0].environment == "ANTHROPIC_API_KEY"
    assert not [spec.key for spec in SETTINGS if "key" in spec.key]


@pytest.mark.parametrize("name", ["timeout_connect", "timeout_idle", "timeout_total"])
def test_a_time_of_zero_is_no_limit(name: str) -> None:
    none: dict[str, Any] = {name: 0}
    read = Options.read(setup("https://h", **none).settings)
    assert getattr(read, name.removeprefix("timeout_")) is None
