"""Loading one plugin: import, level, hooks, and what they give. Runs on the plugin loop."""

import importlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from rio_core._engine.plugins.discovery import Found
from rio_core._engine.settings import setting, wrong
from rio_core.api import LEVEL, OLDEST_LEVEL, Provider, ProviderInfo, SecretSpec, SettingSpec
from rio_core.api._marker import PROJECT

__all__ = ["Offer", "PluginRefusedError", "load"]

_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_KEY: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_TYPES: Final = ("text", "integer", "number", "boolean", "choice")
_RESERVED: Final = frozenset({"model", "selected"})
"""Names that the settings of the core use in the same table."""


class PluginRefusedError(Exception):
    """The plugin does not keep the contract. The text says how, for its author and its user."""


@dataclass(frozen=True)
class Offer:
    """A provider with its checked data."""

    info: ProviderInfo
    provider: Provider


def load(found: Found) -> list[Offer]:
    """Import the plugin, check it and ask it for its providers.

    Raises PluginRefusedError, and whatever the plugin raises.
    """
    plugin = found.loaded if found.loaded is not None else _import(found.value)
    _check_level(plugin)
    # A manager for each plugin, so that no exception of one keeps another from being called.
    import pluggy

    from rio_core.api import hookspecs

    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(hookspecs)
    try:
        manager.register(plugin, found.name)
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        _refuse(f"its hooks do not fit this rio-core: {error}")
    offers: list[Offer] = []
    for given in manager.hook.rio_providers():
        if isinstance(given, str | bytes) or not isinstance(given, Sequence):
            _refuse(f"rio_providers returned {type(given).__name__}, not a sequence of providers")
        offers += [_offer(provider) for provider in given]
    names = [offer.info.name for offer in offers]
    for name in names:
        if names.count(name) > 1:
            _refuse(f"it gives two providers with the name {name}")
    return offers


def _import(value: str) -> Any:
    module, _, attribute = value.partition("[")[0].strip().partition(":")
    plugin = importlib.import_module(module.strip())
    for name in filter(None, attribute.strip().split(".")):
        plugin = getattr(plugin, name)
    return plugin


def _check_level(plugin: Any) -> None:
    level = getattr(plugin, "rio_level", LEVEL)
    if type(level) is not int:
        _refuse(f"its rio_level is {level!r}, not an integer")
    if level > LEVEL:
        _refuse(f"it needs level {level} of the plugin contract, and this rio-core has {LEVEL}: update rio-core")
    if level < OLDEST_LEVEL:
        _refuse(
            f"it was made for level {level} of the plugin contract, and this rio-core takes {OLDEST_LEVEL} and later: "
            "update the plugin"
        )


def _offer(provider: Any) -> Offer:
    kind = type(provider).__name__
    info = getattr(provider, "info", None)
    if not isinstance(info, ProviderInfo):
        _refuse(f"the provider {kind} has no `info` that is a ProviderInfo")
    if type(info.name) is not str or not _NAME.fullmatch(info.name):
        _refuse(f"the provider name {info.name!r} does not match ^[a-z][a-z0-9_-]{{0,31}}$")
    if info.name in _RESERVED:
        _refuse(f"the provider name {info.name} is reserved")
    where = f"provider {info.name}"
    for method in ("respond", "models"):
        if not callable(getattr(provider, method, None)):
            _refuse(f"{where} has no method {method}")
    clean = ProviderInfo(
        name=info.name,
        title=_text(info.title, f"the title of {where}"),
        settings=tuple(_setting(spec, where) for spec in _tuple(info.settings, f"the settings of {where}")),
        secrets=tuple(_secret(spec, where) for spec in _tuple(info.secrets, f"the secrets of {where}")),
        homepage=_text(info.homepage, f"the homepage of {where}", blank=True),
    )
    for keys in ([spec.key for spec in clean.settings], [spec.name for spec in clean.secrets]):
        for key in keys:
            if keys.count(key) > 1:
                _refuse(f"{where} declares {key} twice")
    return Offer(clean, provider)


def _setting(spec: Any, where: str) -> SettingSpec:
    if not isinstance(spec, SettingSpec):
        _refuse(f"{where} declares {type(spec).__name__} as a setting, not a SettingSpec")
    if type(spec.key) is not str or not _KEY.fullmatch(spec.key):
        _refuse(f"the setting {spec.key!r} of {where} does not match ^[a-z][a-z0-9_]{{0,63}}$")
    what = f"the setting {spec.key} of {where}"
    if spec.type not in _TYPES:
        _refuse(f"{what} has the type {spec.type!r}, none of {', '.join(_TYPES)}")
    clean = SettingSpec(
        spec.key,
        _text(spec.title, f"the title of {what}"),
        spec.type,
        spec.default,
        _text(spec.help, f"the help of {what}", blank=True),
        tuple(
            _text(choice, f"a choice of {what}", blank=True)
            for choice in _tuple(spec.choices, f"the choices of {what}")
        ),
    )
    if (spec.type == "choice") != bool(clean.choices):
        _refuse(f"{what} must have choices exactly when its type is choice")
    if reason := wrong(setting("", clean), clean.default):
        _refuse(f"the default of {what} {reason}")
    return clean


def _secret(spec: Any, where: str) -> SecretSpec:
    if not isinstance(spec, SecretSpec):
        _refuse(f"{where} declares {type(spec).__name__} as a secret, not a SecretSpec")
    if type(spec.name) is not str or not _KEY.fullmatch(spec.name):
        _refuse(f"the secret {spec.name!r} of {where} does not match ^[a-z][a-z0-9_]{{0,63}}$")
    what = f"the secret {spec.name} of {where}"
    if spec.environment is not None and not (type(spec.environment) is str and _VARIABLE.fullmatch(spec.environment)):
        _refuse(f"{what} names {spec.environment!r}, which is no environment variable")
    return SecretSpec(
        spec.name,
        _text(spec.title, f"the title of {what}"),
        _text(spec.help, f"the help of {what}", blank=True),
        spec.environment,
        bool(spec.required),
    )


def _text(value: Any, what: str, *, blank: bool = False) -> str:
    if type(value) is not str or not (blank or value.strip()):
        _refuse(f"{what} is {value!r}, not {'a' if blank else 'a non-blank'} text")
    return str(value)


def _tuple(value: Any, what: str) -> tuple[Any, ...]:
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        _refuse(f"{what} are {type(value).__name__}, not a sequence")
    return tuple(value)


def _refuse(reason: str) -> NoReturn:
    raise PluginRefusedError(reason)
