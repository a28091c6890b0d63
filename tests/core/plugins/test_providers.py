import threading
from typing import Any

import anyio
import pytest

from rio_core.api import Delta, Done, SecretSpec, SettingSpec, hookimpl
from rio_core.protocol.errors import RioError
from rio_core.protocol.events import PluginChanged, ProviderChanged

pytestmark = pytest.mark.anyio

SETTINGS = (
    SettingSpec("delay", "Delay", "number", 1.5),
    SettingSpec("mode", "Mode", "choice", "a", choices=("a", "b")),
    SettingSpec("url", "Address", "text", "https://p.test"),
)


async def test_without_a_selection_echo_is_used_where_it_is(plugins: Any, provider: Any):
    plugins.give(provider(name="aaa"), provider(name="echo"))
    await plugins.host.start()
    assert plugins.providers.selected_name() == "echo"


async def test_without_echo_the_first_that_is_ready_is_used(plugins: Any, provider: Any):
    plugins.give(provider(name="aaa", secrets=(SecretSpec("key", "Key"),)), provider(name="bbb"), provider(name="ccc"))
    await plugins.host.start()
    assert plugins.providers.selected_name() == "bbb"
    assert [shown.ready for shown in plugins.providers.list()] == [False, True, True]


async def test_without_a_ready_one_the_first_says_what_it_needs(plugins: Any, provider: Any):
    plugins.give(provider(name="aaa", secrets=(SecretSpec("key", "Key"),)))
    await plugins.host.start()
    handle = plugins.providers.current()
    got: list[Any] = []
    await handle.respond(plugins.request(handle), got.extend)
    assert [end.kind for end in got] == ["not_configured"]


async def test_without_any_there_is_none(plugins: Any):
    await plugins.host.start()
    assert await plugins.providers.selected() is None
    assert plugins.providers.selected_name() is None
    with pytest.raises(RioError, match="No provider"):
        await plugins.providers.models(None)


async def test_a_selection_and_its_model_are_kept(plugins: Any, provider: Any):
    plugins.give(provider(name="echo"), provider(name="p"))
    await plugins.host.start()
    before = plugins.providers.current()
    plugins.providers.select("p", "model-1")
    assert plugins.settings.stored("provider.selected") == "p"
    assert (plugins.providers.selected_name(), plugins.providers.selected_model()) == ("p", "model-1")
    handle = plugins.providers.current()
    assert (handle.name, handle.model, handle.setup().model) == ("p", "model-1", "model-1")
    assert before.name == "echo"  # a turn keeps the handle that it began with
    plugins.providers.select("echo", None)
    plugins.providers.select("p", None)
    assert plugins.providers.selected_model() is None
    assert ProviderChanged(selected="p") in plugins.events


@pytest.mark.parametrize("model", ["", "  ", "a\nb", "x" * 201])
async def test_a_selection_that_is_none_changes_nothing(plugins: Any, provider: Any, model: str):
    plugins.give(provider(name="echo"), provider(name="p"))
    await plugins.host.start()
    with pytest.raises(RioError, match="no model id"):
        plugins.providers.select("p", model)
    with pytest.raises(RioError, match="no provider 'nobody'") as caught:
        plugins.providers.select("nobody", None)
    assert "echo, p" in caught.value.action
    assert plugins.providers.selected_name() == "echo"


async def test_the_list_shows_everything_but_a_secret(plugins: Any, provider: Any):
    plugins.give(
        provider(settings=SETTINGS, secrets=(SecretSpec("key", "Key", "Where to get it"),), homepage="https://p.test")
    )
    await plugins.host.start()
    plugins.secrets.set("p", "key", "sk-canary-0123456789")
    (shown,) = plugins.providers.list()
    assert (shown.name, shown.title, shown.selected, shown.ready) == ("p", "P", True, True)
    assert (shown.distribution, shown.version, shown.homepage, shown.model) == ("dist-one", "0", "https://p.test", None)
    assert [setting.key for setting in shown.settings] == ["provider.p.delay", "provider.p.mode", "provider.p.url"]
    assert [(secret.name, secret.set, secret.help) for secret in shown.secrets] == [("key", True, "Where to get it")]
    assert "canary" not in repr(shown)


async def test_settings_are_the_users_over_the_defaults(plugins: Any, provider: Any):
    plugins.give(provider(settings=SETTINGS))
    await plugins.host.start()
    handle = plugins.providers.current()
    assert dict(handle.setup().settings) == {"delay": 1.5, "mode": "a", "url": "https://p.test"}
    plugins.settings.set("provider.p.mode", "b")
    setup = handle.setup()
    assert dict(setup.settings) == {"delay": 1.5, "mode": "b", "url": "https://p.test"}
    with pytest.raises(TypeError):
        setup.settings["mode"] = "c"


async def test_S50_a_value_in_the_file_that_does_not_fit_counts_as_the_default(plugins: Any, provider: Any):
    plugins.settings.store("provider.p.delay", "fast")
    plugins.settings.store("provider.p.mode", "z")
    plugins.give(provider(settings=SETTINGS))
    await plugins.host.start()
    assert dict(plugins.providers.current().setup().settings) == {"delay": 1.5, "mode": "a", "url": "https://p.test"}
    assert any(
        "settings.toml:2: provider.p.delay is 'fast', not a number" in notice for notice in plugins.settings.notices
    )


async def test_loading_is_told_and_ends(plugins: Any, provider: Any):
    plugins.give(provider())
    assert not plugins.host.loaded.is_set()
    await plugins.host.start()
    assert plugins.host.loaded.is_set()
    assert PluginChanged(plugins=1) in plugins.events
    assert ProviderChanged(selected="p") in plugins.events


async def test_a_slow_plugin_is_on_as_soon_as_it_has_loaded_after_all(plugins: Any, provider: Any, expect_log: Any):
    expect_log(r".*plugins\.loop: plugin slow blocked")
    expect_log(r".*plugins\.host: plugin slow of test 0: it blocked its loop while loading")
    release = threading.Event()

    async def respond(request: Any, post: Any) -> None:
        await post(Done("end_turn"))

    class Slow:
        @hookimpl
        def rio_providers(self) -> list[Any]:
            release.wait()
            return [provider(respond, name="slow")]

    plugins.host.register("slow", Slow())
    plugins.give(provider(name="p"))
    await plugins.host.start()
    assert plugins.plugin("slow").status == "failed"
    assert plugins.plugin("one").status == "on"
    told = anyio.Event()
    plugins.bus.listen(lambda event: told.set() if event == PluginChanged(plugins=2) else None)
    release.set()
    with anyio.fail_after(10):
        await told.wait()
    assert plugins.plugin("slow").status == "on"
    assert await plugins.respond("slow") == [Done("end_turn")]


async def test_a_core_that_ends_while_loading_starts_no_other_plugin(plugins: Any, provider: Any, expect_log: Any):
    release, begun = threading.Event(), threading.Event()
    asked: list[str] = []

    class First:
        @hookimpl
        def rio_providers(self) -> list[Any]:
            begun.set()
            release.wait()
            return []

    class Second:
        @hookimpl
        def rio_providers(self) -> list[Any]:
            asked.append("second")
            return []

    plugins.host.register("first", First())
    plugins.host.register("second", Second())
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(plugins.host.start)
        await anyio.to_thread.run_sync(begun.wait)
        threading.Timer(0.1, release.set).start()
        await plugins.host.stop()
    assert asked == []
    assert list((plugins.settings._folder.parent / "state" / "plugins").iterdir()) == []


async def test_names_of_plugins_that_are_not_there_are_refused(plugins: Any, provider: Any):
    plugins.give(provider())
    await plugins.host.start()
    for change in (plugins.host.enable, plugins.host.disable):
        with pytest.raises(RioError, match="'nobody'"):
            change("nobody")


async def test_plugins_disabled_can_be_nonsense(plugins: Any, provider: Any):
    plugins.settings.store("plugins.disabled", "one")
    plugins.give(provider())
    await plugins.host.start()
    assert plugins.plugin().status == "on"
    plugins.host.disable("one")
    assert plugins.settings.stored("plugins.disabled") == ["one"]


async def test_J07_a_plugin_is_handed_nothing_that_decides(plugins: Any, provider: Any):
    """What a provider gets is the request and a function that takes events: none of them is a decision."""
    seen: list[Any] = []

    async def respond(request: Any, post: Any) -> None:
        seen.append(sorted(name for name in dir(request) if not name.startswith("_")))
        await post(Delta("approve"))
        await post(Done("end_turn"))

    plugins.give(provider(respond))
    await plugins.host.start()
    assert await plugins.respond() == [Delta("approve"), Done("end_turn")]
    assert seen == [["context", "conversation", "messages", "setup", "system", "tools"]]
