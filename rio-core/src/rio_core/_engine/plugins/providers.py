"""The providers of all plugins: which there are, how they are set up, and which one is used."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from rio_core._engine.bus import Bus
from rio_core._engine.plugins.discovery import Found
from rio_core._engine.plugins.handle import ProviderHandle, Sink, give
from rio_core._engine.plugins.host import PluginHost
from rio_core._engine.plugins.loading import Offer, PluginRefusedError
from rio_core._engine.secrets import Secrets
from rio_core._engine.settings import Settings, setting
from rio_core.api import Failure, Request, Setup
from rio_core.protocol.errors import RioError
from rio_core.protocol.events import ProviderChanged
from rio_core.protocol.ops import plugins as ops

__all__ = ["AbsentProvider", "ProviderHandle", "Providers", "Sink"]

DEFAULT: Final = "echo"
"""Used where it is installed and nothing else was selected."""
LONGEST_MODEL: Final = 200


@dataclass(frozen=True)
class _Installed:
    found: Found
    offer: Offer


class Providers:
    """Keeps what plugins offer. A selection counts from the next turn: a turn keeps the handle it began with."""

    def __init__(self, host: PluginHost, settings: Settings, secrets: Secrets, bus: Bus) -> None:
        self.loop = host.loop
        self._host = host
        self._settings = settings
        self._secrets = secrets
        self._bus = bus
        self._installed: dict[str, _Installed] = {}
        host.connect(self)

    # -- for the plugin host -----------------------------------------------------------------------------------

    def add(self, found: Found, offers: Sequence[Offer]) -> None:
        """Take the providers of a plugin, all or none.

        Raises PluginRefusedError when a name is taken, or cannot be told from one that is.
        """
        for offer in offers:
            for name, other in self._installed.items():
                if _skeleton(name) == _skeleton(offer.info.name):
                    raise PluginRefusedError(
                        f"its provider {offer.info.name} has the name of provider {name} of "
                        f"{other.found.distribution}, or one that looks like it"
                    )
        for offer in offers:
            info = offer.info
            self._installed[info.name] = _Installed(found, offer)
            self._settings.declare(setting(_key(info.name, spec.key), spec) for spec in info.settings)
            self._secrets.declare(info.name, info.secrets)
        self._changed()

    def remove(self, plugin: str) -> None:
        """Forget the providers of a plugin. What the user stored for them stays."""
        gone = [name for name, installed in self._installed.items() if installed.found.name == plugin]
        for name in gone:
            del self._installed[name]
            self._settings.withdraw(_key(name, ""))
            self._secrets.withdraw(name)
        if gone:
            self._changed()

    def mask(self, text: str) -> str:
        """The text without secrets."""
        return self._secrets.mask(text)

    def fault(self, plugin: str, report: str) -> None:
        """Keep the traceback of a plugin's fault."""
        self._host.report(plugin, report)

    # -- for front ends ----------------------------------------------------------------------------------------

    def select(self, name: str, model: str | None) -> None:
        """Use this provider, and this model of it (None: the one it prefers), from the next turn on.

        Raises RioError: `not_found`, `bad_message`, `io`.
        """
        self._need(name)
        if model is not None and not (model.strip() and model.isprintable() and len(model) <= LONGEST_MODEL):
            raise RioError("bad_message", f"{model[:40]!a} is no model id.", "Use an id that provider.models lists.")
        if self._settings.stored(f"provider.model.{name}") != model:
            self._settings.store(f"provider.model.{name}", model)
        self._settings.store("provider.selected", name)
        self._changed()

    def selected_name(self) -> str | None:
        """The provider that the next turn uses, whether or not it is there; None where there is none at all."""
        stored = self._settings.stored("provider.selected")
        if isinstance(stored, str):
            return stored
        if DEFAULT in self._installed:
            return DEFAULT
        ready = (name for name in self._installed if self.missing(name) is None)
        return next(ready, next(iter(self._installed), None))

    def selected_model(self) -> str | None:
        """The model of it that the user chose."""
        return self._model(self.selected_name() or "")

    async def models(self, name: str | None) -> list[ops.Model]:
        """The models of a provider, of the selected one without a name. Raises RioError."""
        wanted = name if name is not None else self.selected_name()
        if wanted is None:
            raise RioError("not_found", "No provider is installed.", "Install one, such as rio-provider-echo.")
        self._need(wanted)
        return await self._handle(wanted).models()

    # -- for the agent -----------------------------------------------------------------------------------------

    async def selected(self) -> "ProviderHandle | AbsentProvider | None":
        """The provider to use, once every plugin has been tried."""
        await self._host.loaded.wait()
        return self.current()

    def current(self) -> "ProviderHandle | AbsentProvider | None":
        """The provider to use now. One that was selected and is not there fails; no other takes its place."""
        name = self.selected_name()
        if name is None:
            return None
        return self._handle(name) if name in self._installed else AbsentProvider(name, list(self._installed))

    # -- for handles -------------------------------------------------------------------------------------------

    def setup(self, name: str) -> Setup:
        """The declared settings with the user's values, and a way to read the provider's own secrets."""
        if name not in self._installed:  # its plugin was turned off in the middle of a turn
            return Setup({}, lambda _: None)
        info = self._installed[name].offer.info
        values = {spec.key: self._settings.get(_key(name, spec.key)) for spec in info.settings}
        return Setup(MappingProxyType(values), self._secrets.reader(name), self._model(name))

    def missing(self, name: str) -> Failure | None:
        """The failure that says which secret the provider lacks, if it lacks one."""
        if name not in self._installed:
            return None
        info = self._installed[name].offer.info
        for spec in info.secrets:
            if spec.required and self._secrets.status(name, spec.name) == "not set":
                return Failure(
                    "not_configured",
                    f"{info.title} needs a secret that is not set: {spec.title}.",
                    f"Set it in Settings, {info.title}, or with `rio-core secret set {name} {spec.name}`.",
                )
        return None

    # -- inside ------------------------------------------------------------------------------------------------

    def _handle(self, name: str) -> ProviderHandle:
        found, offer = self._installed[name].found, self._installed[name].offer
        return ProviderHandle(
            self,
            offer.provider,
            name=name,
            model=self._model(name),
            plugin=found.name,
            distribution=found.distribution,
            version=found.version,
            homepage=offer.info.homepage or found.homepage,
        )

    def _model(self, name: str) -> str | None:
        model = self._settings.stored(f"provider.model.{name}")
        return model if isinstance(model, str) else None

    def _need(self, name: str) -> None:
        if name not in self._installed:
            there = ", ".join(self._installed) or "none"
            raise RioError("not_found", f"There is no provider {name!a}.", f"Choose one that is installed: {there}.")

    def _changed(self) -> None:
        self._bus.publish(ProviderChanged(selected=self.selected_name()))

    def _shown(self, name: str, installed: _Installed, selected: str | None) -> ops.Provider:
        info, found = installed.offer.info, installed.found
        return ops.Provider(
            name=name,
            title=info.title,
            selected=name == selected,
            ready=self.missing(name) is None,
            distribution=found.distribution,
            version=found.version,
            settings=[setting(_key(name, spec.key), spec) for spec in info.settings],
            secrets=[
                ops.Secret(spec.name, spec.title, self._secrets.status(name, spec.name) != "not set", spec.help)
                for spec in info.secrets
            ],
            model=self._model(name),
            homepage=info.homepage or found.homepage,
        )

    # The last of the class, as `list` names the type above it.
    def list(self) -> list[ops.Provider]:
        """Every provider and how it is set up."""
        selected = self.selected_name()
        return [self._shown(name, installed, selected) for name, installed in self._installed.items()]


class AbsentProvider:
    """Stands in for a selected provider that is not there, and answers with just that."""

    model: str | None = None

    def __init__(self, name: str, others: Sequence[str]) -> None:
        self.name = name
        self._others = ", ".join(others) or "none"

    def setup(self) -> Setup:
        """There is none."""
        return Setup({}, lambda _: None)

    async def respond(self, request: Request, sink: Sink, *, idle_timeout: float = 600.0) -> None:
        """Give the failure that says so."""
        failure = Failure(
            "not_configured",
            f"Provider {self.name}, which is selected, is not there.",
            f"See `rio-core plugins` for why, or select one that is there: {self._others}.",
        )
        await give(sink, [failure])


def _key(provider: str, setting_key: str) -> str:
    return f"provider.{provider}.{setting_key}"


_ALIKE: Final = str.maketrans({"0": "o", "1": "l", "_": None, "-": None})


def _skeleton(name: str) -> str:
    """Names with the same one are hard to tell apart; names are ASCII already."""
    return name.translate(_ALIKE).replace("rn", "m").replace("vv", "w")
