"""`plugin`, `provider`, `settings` and `secret`: what is installed, and how it is set up."""

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from rio_core.protocol.ops._op import Done, Nothing, Op
from rio_core.protocol.values import Params, Result

Status = Literal["loading", "on", "off", "failed"]


class Plugin(Struct):
    """One entry point. `provides` names what it gave, such as `provider echo`; `report` is a failure's traceback."""

    name: str
    distribution: str
    version: str
    status: Status
    provides: list[str]
    reason: str | UnsetType = UNSET
    report: str | UnsetType = UNSET
    homepage: str = ""


class ListResult(Result):
    """Every plugin that is installed, whatever became of it."""

    plugins: list[Plugin]


class PluginParams(Params):
    """One plugin, by the name of its entry point."""

    name: str


class Setting(Struct):
    """A setting that a provider declares; front ends build their pages from it."""

    key: str
    title: str
    type: Literal["text", "integer", "number", "boolean", "choice"]
    default: Any
    help: str = ""
    choices: list[str] = []


class Secret(Struct):
    """A secret that a provider needs, and whether it is there. Its value never leaves the core."""

    name: str
    title: str
    set: bool
    help: str = ""


class Provider(Struct):
    """One provider. `ready` is false while a secret that it needs is missing."""

    name: str
    title: str
    selected: bool
    ready: bool
    distribution: str
    version: str
    settings: list[Setting]
    secrets: list[Secret]
    model: str | None
    homepage: str


class ProvidersResult(Result):
    """Every provider of every plugin that is on."""

    providers: list[Provider]


class SelectParams(Params):
    """Use this provider, with this model or its default one, from the next turn on."""

    name: str
    model: str | None = None


class ModelsParams(Params):
    """Models of a provider, of the selected one without `name`."""

    name: str | None = None


class Model(Struct):
    """A model as the provider describes it."""

    id: str
    title: str
    detail: dict[str, Any] = {}


class ModelsResult(Result):
    """In the provider's order, the one it advises first."""

    models: list[Model]


class GetParams(Params):
    """A setting, or all of them without `key`."""

    key: str | None = None


class SettingsResult(Result):
    """Values by key, defaults included."""

    values: dict[str, Any]


class SetParams(Params):
    """Give a setting a value of the type that its schema names; null goes back to the default."""

    key: str
    value: Any


class SchemaResult(Result):
    """What can be set."""

    settings: list[Setting]


class SecretSetParams(Params):
    """Store a secret. It can be replaced and cleared, and never read back."""

    provider: str
    name: str
    value: str


class SecretParams(Params):
    """One secret."""

    provider: str
    name: str


class SecretResult(Result):
    """`set`, `not set`, or `from the environment`."""

    status: Literal["set", "not set", "from the environment"]


OPS = (
    Op("plugin.list", Nothing, ListResult, "List every installed plugin."),
    Op("plugin.enable", PluginParams, Done, "Load the plugin from the next start of the core on.", decides=True),
    Op(
        "plugin.disable",
        PluginParams,
        Done,
        "Do not import the plugin from the next start of the core on.",
        decides=True,
    ),
    Op("provider.list", Nothing, ProvidersResult, "List the providers, and how they are set up."),
    Op("provider.select", SelectParams, Done, decides=True),
    Op("provider.models", ModelsParams, ModelsResult),
    Op("settings.get", GetParams, SettingsResult),
    Op("settings.set", SetParams, Done, decides=True),
    Op("settings.schema", Nothing, SchemaResult, "List what can be set."),
    Op("secret.set", SecretSetParams, SecretResult, decides=True),
    Op("secret.clear", SecretParams, SecretResult, "Forget a secret.", decides=True),
    Op("secret.status", SecretParams, SecretResult, "Tell whether a secret is there."),
)
