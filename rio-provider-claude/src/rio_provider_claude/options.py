"""The user's settings, checked."""

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from rio_core.api import ProviderError

__all__ = ["ENTER_KEY", "Options", "correct"]

ENTER_KEY: Final = "Open Settings, Claude, and enter an API key, or use `rio-core secret set claude api_key`."


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of the provider. Times are in seconds, None for no limit."""

    base: str
    """The endpoint without `/v1` and final slash: `/v1/messages` is put behind it."""
    origin: str
    loopback: bool
    api_version: str
    max_tokens: int
    effort: str
    thinking: str
    retries: int
    connect: float | None
    idle: float | None
    total: float | None
    proxy: str
    proxy_environment: bool
    ca_file: str

    @classmethod
    def read(cls, settings: Mapping[str, Any]) -> "Options":
        """Check the settings. Raises `ProviderError` that names the one which cannot be used."""
        endpoint = str(settings["endpoint"]).strip()
        parts = _address(endpoint, "Endpoint")
        loopback = _is_loopback(parts.hostname or "")
        if parts.scheme == "http" and not loopback:
            raise _unusable(
                f"The endpoint http://{parts.netloc} would send the API key readable over the network", "Endpoint"
            )
        version = str(settings["api_version"]).strip()
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", version, re.ASCII):
            raise _unusable("The API version is not a date such as 2026-10-21", "API version")
        proxy = str(settings["proxy"]).strip()
        if proxy:
            _address(proxy, "Proxy", login=True)
        return cls(
            base=f"{parts.scheme}://{parts.netloc}{_prefix(parts.path)}",
            origin=f"{parts.scheme}://{parts.netloc}",
            loopback=loopback,
            api_version=version,
            max_tokens=max(0, int(settings["max_tokens"])),
            effort=str(settings["effort"]),
            thinking=str(settings["thinking"]),
            retries=max(0, int(settings["retries"])),
            connect=_limit(settings["timeout_connect"]),
            idle=_limit(settings["timeout_idle"]),
            total=_limit(settings["timeout_total"]),
            proxy=proxy,
            proxy_environment=bool(settings["proxy_environment"]),
            ca_file=os.path.expanduser(str(settings["ca_file"]).strip()),
        )


def _limit(seconds: float) -> float | None:
    return float(seconds) if seconds > 0 else None


def _prefix(path: str) -> str:
    return re.sub(r"(/v1(/messages)?)?/*$", "", path.rstrip("/"))


def _address(text: str, title: str, *, login: bool = False) -> SplitResult:
    name = title.lower()
    if not re.fullmatch(r"[\x21-\x7E]+", text):
        raise _unusable(f"The {name} is empty or holds a character that no address has", title)
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        raise _unusable(f"The {name} is not an address", title) from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise _unusable(f"The {name} does not begin with https:// and a host", title)
    if parts.query or parts.fragment or (not login and "@" in parts.netloc):
        raise _unusable(f"The {name} holds more than scheme, host and path", title)
    return parts


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _unusable(what: str, title: str) -> ProviderError:
    return ProviderError("not_configured", f"{what}.", correct(title))


def correct(title: str) -> str:
    """What to do about a setting that cannot be used."""
    return f"Open Settings, Claude, and correct “{title}”."
