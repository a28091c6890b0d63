"""The provider: its settings as data, and the meeting place of authentication and inference.

Everything that costs time to import is imported when the user first talks to Claude.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from rio_core.api import (
    Failure,
    Model,
    Post,
    ProviderError,
    ProviderInfo,
    Request,
    SecretSpec,
    SettingSpec,
    Setup,
)  # fmt: skip

if TYPE_CHECKING:
    from rio_provider_claude.inference.capability import Capability
    from rio_provider_claude.inference.channel import Channel

__all__ = ["Claude"]

SETTINGS: Final = (
    SettingSpec(
        "endpoint", "Endpoint", "text", "https://api.anthropic.com",
        help="Where the key is sent, and nowhere else. Plain http only to this machine.",
    ),
    SettingSpec(
        "api_version", "API version", "text", "2026-10-21",
        help="A date, as in the service's documentation. 2023-06-01 is the older version still served.",
    ),
    SettingSpec(
        "max_tokens", "Token limit of a reply", "integer", 0,
        help="Thinking counts too. 0 leaves it to the model's own limit, at most 64,000.",
    ),
    SettingSpec(
        "effort", "Effort", "choice", "default", choices=("default", "low", "medium", "high", "xhigh", "max"),
        help="The model's own default, or one of these; the nearest lower one that the model takes is sent.",
    ),
    SettingSpec(
        "thinking", "Thinking", "choice", "summarized", choices=("summarized", "omitted", "off"),
        help="Shown as a summary, not shown, or off where the model can do without.",
    ),
    SettingSpec("retries", "Retries", "integer", 4, help="How often a request that was not taken is sent again."),
    SettingSpec("timeout_connect", "Seconds to connect", "number", 15.0, help="0 for no limit."),
    SettingSpec("timeout_idle", "Seconds between bytes", "number", 300.0, help="0 for no limit."),
    SettingSpec("timeout_total", "Seconds for a whole reply", "number", 3600.0, help="0 for no limit."),
    SettingSpec("proxy", "Proxy", "text", "", help="An http or https address. Empty for none."),
    SettingSpec(
        "proxy_environment", "Use the proxy of the environment", "boolean", False,
        help="HTTPS_PROXY and NO_PROXY count only when this is on and no proxy is given above.",
    ),
    SettingSpec(
        "ca_file", "CA file", "text", "",
        help="PEM certificates to trust beside the usual ones, for example of a company's proxy.",
    ),
)  # fmt: skip

SECRETS: Final = (
    SecretSpec(
        "api_key", "API key", environment="ANTHROPIC_API_KEY",
        help="From the service's console. Kept in a file that only you can read.",
    ),
)  # fmt: skip


class Claude:
    """Claude over the Messages API."""

    info: ProviderInfo = ProviderInfo(
        "claude", "Claude", settings=SETTINGS, secrets=SECRETS, homepage="https://docs.claude.com/en/api/messages"
    )

    def __init__(self) -> None:
        # What each model takes, as the service told, by endpoint and model.
        self._told: dict[tuple[str, str], Capability] = {}

    async def respond(self, request: Request, post: Post) -> None:
        """Answer; see `rio_core.api.Provider`."""
        from rio_provider_claude.inference.answer import answer

        try:
            channel = _prepare(request.setup)
        except ProviderError as error:
            await post(Failure(error.kind, error.message, error.action))
            return
        await answer(request, channel, self._told, post)

    async def models(self, setup: Setup) -> Sequence[Model]:
        """The service's list, else the shipped table, which says in its details why."""
        from rio_provider_claude.inference.listing import listed, shipped

        try:
            return await listed(_prepare(setup), self._told)
        except ProviderError as error:
            return shipped(error.message)


def _prepare(setup: Setup) -> "Channel":
    from rio_provider_claude.authentication import Key, Keyed
    from rio_provider_claude.inference.channel import Channel
    from rio_provider_claude.inference.transport import transport
    from rio_provider_claude.options import Options

    options = Options.read(setup.settings)
    key = Key.read(setup.secret)
    return Channel(options, Keyed(transport(options), key, options.origin), key.hide)
