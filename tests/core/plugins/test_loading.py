"""What a plugin says of its providers, and what is no good of it."""

from typing import Any

import pytest

from rio_core._engine.plugins.discovery import Found
from rio_core._engine.plugins.loading import PluginRefusedError, load
from rio_core.api import Provider, ProviderInfo, SecretSpec, SettingSpec, hookimpl


def found(given: Any) -> Found:
    class Plugin:
        @hookimpl
        def rio_providers(self) -> Any:
            return given

    return Found("x", "", "d", "1", loaded=Plugin())


def provider(**info: Any) -> Any:
    class Made:
        async def respond(self, request: Any, post: Any) -> None: ...
        async def models(self, setup: Any) -> Any: ...

    made = Made()
    made.info = ProviderInfo(**({"name": "p", "title": "P"} | info))  # type: ignore[attr-defined]
    return made


def without(attribute: str) -> Any:
    made = provider()
    if attribute == "info":
        del made.info
    else:
        setattr(made, attribute, None)
    return made


def setting(**changed: Any) -> Any:
    return provider(settings=(SettingSpec(**({"key": "k", "title": "K", "type": "text", "default": ""} | changed)),))


def secret(**changed: Any) -> Any:
    return provider(secrets=(SecretSpec(**({"name": "k", "title": "K"} | changed)),))


def wrong_info() -> Any:
    made = provider()
    made.info = {"name": "p"}
    return made


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (7, "returned int"),
        ("text", "returned str"),
        ({"a": 1}, "returned dict"),
        ([None], "NoneType has no `info`"),
        ([object()], "has no `info`"),
        ([wrong_info()], "has no `info`"),
        ([without("info")], "has no `info`"),
        ([without("respond")], "no method respond"),
        ([without("models")], "no method models"),
        ([provider(name="Big")], "does not match"),
        ([provider(name="a" * 33)], "does not match"),
        ([provider(name="p\n")], "does not match"),
        ([provider(name="р")], "does not match"),
        ([provider(name=7)], "does not match"),
        ([provider(name="model")], "reserved"),
        ([provider(name="selected")], "reserved"),
        ([provider(title=" ")], "title"),
        ([provider(title=None)], "title"),
        ([provider(homepage=None)], "homepage"),
        ([provider(settings=7)], "not a sequence"),
        ([provider(settings=("k",))], "not a SettingSpec"),
        ([provider(secrets=("k",))], "not a SecretSpec"),
        ([provider(), provider()], "two providers"),
        ([setting(key="a.b")], "does not match"),
        ([setting(type="colour")], "'colour'"),
        ([setting(type="choice")], "choices"),
        ([setting(choices=("a",))], "choices"),
        ([setting(type="choice", choices=("a", 1), default="a")], "a choice"),
        ([setting(type="choice", choices=("a",), default="b")], "default"),
        ([setting(type="integer", default=1.5)], "default"),
        ([setting(type="integer", default=True)], "default"),
        ([setting(type="number", default=float("nan"))], "default"),
        ([setting(type="boolean", default=1)], "default"),
        ([setting(default=None)], "default"),
        ([setting(help=3)], "help"),
        ([secret(name="A B")], "does not match"),
        ([secret(environment="A=B")], "no environment variable"),
        ([secret(title="")], "title"),
        ([provider(secrets=(SecretSpec("k", "K"), SecretSpec("k", "L")))], "k twice"),
    ],
)
def test_nonsense_is_named(given: Any, says: str):
    with pytest.raises(PluginRefusedError, match=says.replace("(", r"\(")):
        load(found(given))


def test_what_is_right_is_taken_as_it_is():
    info = ProviderInfo(
        "good-1",
        "Good",
        settings=(
            SettingSpec("a", "A", "choice", "x", "help", ("x", "y")),
            SettingSpec("b", "B", "number", 1),
            SettingSpec("c", "C", "choice", "", choices=("", "x")),
        ),
        secrets=(SecretSpec("key", "Key", environment="GOOD_KEY"),),
        homepage="https://good.test",
    )
    made = provider()
    made.info = info
    (offer,) = load(found((made,)))
    assert offer.info == info
    assert offer.provider is made


def test_no_provider_is_fine():
    assert load(found([])) == []
    assert load(found(None)) == []
    assert load(Found("x", "", "d", "1", loaded=object())) == []


def test_the_data_of_a_provider_cannot_change_behind_its_back():
    settings = [SettingSpec("a", "A", "text", "")]
    made: Provider = provider(settings=settings)
    (offer,) = load(found([made]))
    settings.append("nonsense")  # type: ignore[arg-type]
    assert len(offer.info.settings) == 1
