"""What a provider is: everything that talks to a model, behind one method."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from rio_core.api._conversation import Message
from rio_core.api._events import Post

__all__ = ["Model", "Provider", "ProviderInfo", "Request", "SecretSpec", "SettingSpec", "Setup", "ToolSpec"]


@dataclass(frozen=True, slots=True)
class SettingSpec:
    """A setting that the user can change. Front ends build their pages from these."""

    key: str
    title: str
    type: Literal["text", "integer", "number", "boolean", "choice"]
    default: Any
    help: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SecretSpec:
    """A secret that the provider needs.

    It is stored by the core in a file that only its user can read. Where nothing is stored, `environment` names a
    variable that is taken instead. Without either, a `required` one leaves the provider not ready.
    """

    name: str
    title: str
    help: str = ""
    environment: str | None = None
    required: bool = True


@dataclass(frozen=True, slots=True)
class ProviderInfo:
    """A provider as data. `name` matches `^[a-z][a-z0-9_-]{0,31}$` and is unique among the installed providers."""

    name: str
    title: str
    settings: tuple[SettingSpec, ...] = ()
    secrets: tuple[SecretSpec, ...] = ()
    homepage: str = ""


@dataclass(frozen=True, slots=True)
class Model:
    """A model of the service. `detail` is JSON data for display, such as limits and prices."""

    id: str
    title: str
    detail: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool that the model may call. `input_schema` is JSON Schema (2020-12) with `type` `object` at its top."""

    name: str
    description: str
    input_schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Setup:
    """How the user set the provider up.

    `settings` has a value for each declared setting. `secret(name)` reads a declared secret, None where there is none;
    keep it no longer than the call needs it. `model` is the user's choice, None for the provider's own default.
    """

    settings: Mapping[str, Any]
    secret: Callable[[str], str | None]
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What to answer. `system` holds the layers of the system prompt in order, none blank.

    `context` changes exactly when provider, model, tools or system prompt do; the thoughts in `messages` are only those
    of the present one.
    """

    messages: Sequence[Message]
    tools: Sequence[ToolSpec]
    system: Sequence[str]
    setup: Setup
    conversation: str
    context: str


class Provider(Protocol):
    """A way to a model. Runs on an event loop of its own (anyio), never on the one that serves documents."""

    info: ProviderInfo

    async def respond(self, request: Request, post: Post) -> None:
        """Answer, posting as it comes and ending with one `Done` or `Failure`.

        Cancelled when the user stops: connections must be closed within a second. An exception is shown to the user as
        a fault of this provider.
        """
        ...

    async def models(self, setup: Setup) -> Sequence[Model]:
        """Models to choose from, the advised one first. Raise `ProviderError` when the list cannot be had."""
        ...
