"""Secrets of providers: kept in files that only their user can read, given to their provider, shown to nobody."""

import base64
import json
import logging
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal
from urllib.parse import quote, quote_plus

from rio_core._engine.bus import Bus
from rio_core._engine.folders import fetch, store
from rio_core.api import SecretSpec
from rio_core.protocol.errors import RioError
from rio_core.protocol.events import SettingsChanged
from rio_core.protocol.visible import is_hidden

__all__ = ["Secrets", "Status"]

logger = logging.getLogger(__name__)

Status = Literal["set", "not set", "from the environment"]

LONGEST: Final = 16 * 1024
"""Characters of a secret: more than any service gives, and less than any header takes."""
LARGEST: Final = 1024 * 1024
"""Bytes of a file of secrets."""
SHORTEST_MASKED: Final = 8
"""Shorter values are left in texts, as they also occur by chance."""


class Secrets:
    """One JSON file for each provider in a folder of its user's.

    No value is in an attribute of what a provider is handed, in a message, or in the text of this object.
    """

    def __init__(self, folder: Path, bus: Bus) -> None:
        self._folder = folder / "secrets"
        self._bus = bus
        self._specs: dict[str, dict[str, SecretSpec]] = {}
        self._mask: tuple[object, Callable[[str], str]] = (None, str)

    def declare(self, provider: str, specs: Sequence[SecretSpec]) -> None:
        """Say which secrets a provider has."""
        self._specs[provider] = {spec.name: spec for spec in specs}

    def withdraw(self, provider: str) -> None:
        """The provider is gone; what is stored for it stays."""
        self._specs.pop(provider, None)

    def set(self, provider: str, name: str, value: str) -> None:
        """Store a secret, without the white space around it.

        Raises RioError: `not_found`, `bad_message` for a value that no header could carry, `io`.
        """
        self._spec(provider, name)
        value = value.strip()
        _check(value)
        self._write(provider, name, value)

    def clear(self, provider: str, name: str) -> None:
        """Forget a stored secret. Raises RioError: `not_found`, `io`."""
        self._spec(provider, name)
        self._write(provider, name, None)

    def status(self, provider: str, name: str) -> Status:
        """Whether there is a value, and from where. Raises RioError: `not_found`."""
        spec = self._spec(provider, name)
        if _read(self._path(provider)).get(name):
            return "set"
        return "from the environment" if _environment(spec) else "not set"

    def reader(self, provider: str) -> Callable[[str], str | None]:
        """A function that reads the declared secrets of this provider alone, from any thread."""
        path, specs = self._path(provider), dict(self._specs.get(provider, {}))

        def secret(name: str) -> str | None:
            if name not in specs:
                raise LookupError(f"{name!r} is not among the secrets that provider {provider} declares")
            return _read(path).get(name) or _environment(specs[name])

        return secret

    def mask(self, text: str) -> str:
        """The text with `[secret PROVIDER/NAME]` for each secret of 8 characters or more that occurs in it.

        Found are the value itself and what base64, URL quoting and JSON make of it.
        """
        state = self._state()
        if state != self._mask[0]:
            self._mask = (state, _masking(self._values()))
        return self._mask[1](text)

    # -- inside ------------------------------------------------------------------------------------------------

    def _spec(self, provider: str, name: str) -> SecretSpec:
        specs = self._specs.get(provider)
        if specs is None:
            raise RioError(
                "not_found", f"No provider {provider!a} is loaded.", "See `rio-core plugins` for what is installed."
            )
        if name not in specs:
            known = ", ".join(specs) or "none"
            raise RioError("not_found", f"Provider {provider} has no secret {name!a}.", f"Its secrets: {known}.")
        return specs[name]

    def _path(self, provider: str) -> Path:
        return self._folder / f"{provider}.json"

    def _write(self, provider: str, name: str, value: str | None) -> None:
        values = _read(self._path(provider))
        values.pop(name, None)
        if value is not None:
            values[name] = value
        store(self._path(provider), json.dumps(values, indent=1).encode() + b"\n")
        self._mask = (None, str)  # size and time of the file may be those of the one before
        self._bus.publish(SettingsChanged(key=f"secret.{provider}.{name}"))

    def _state(self) -> object:
        """What changes when a secret does, without reading one from a file."""
        files = []
        for path in self._files():
            try:
                status = path.stat()
            except OSError:
                continue
            files.append((path.name, status.st_mtime_ns, status.st_size, status.st_ino))
        return files, list(self._from_environment())

    def _values(self) -> Iterator[tuple[str, str]]:
        for path in self._files():
            for name, value in _read(path).items():
                yield f"{path.stem}/{name}", value
        yield from self._from_environment()

    def _from_environment(self) -> Iterator[tuple[str, str]]:
        for provider, specs in self._specs.items():
            for spec in specs.values():
                if value := _environment(spec):
                    yield f"{provider}/{spec.name}", value

    def _files(self) -> list[Path]:
        try:
            return sorted(self._folder.glob("*.json"))
        except OSError:
            return []


def _environment(spec: SecretSpec) -> str | None:
    return (os.environ.get(spec.environment, "").strip() or None) if spec.environment else None


def _check(value: str) -> None:
    # RFC 9110 section 5.5: a field value is latin-1 without controls. What cannot be seen was not meant.
    action = "Copy it again, only the secret itself. Nothing was stored."
    if not value:
        raise RioError("bad_message", "The secret is empty.", action)
    if len(value) > LONGEST:
        raise RioError("bad_message", f"The secret is longer than {LONGEST:,} characters.", action)
    for position, char in enumerate(value, 1):
        if char in "\n\t" or ord(char) > 0xFF or is_hidden(char):
            raise RioError(
                "bad_message",
                f"Character {position} of the {len(value)} of the secret cannot be sent in a header.",
                action,
            )


def _read(path: Path) -> dict[str, str]:
    """The values in a file, none where there is none. A file that others can read is closed to them."""
    try:
        data = fetch(path, LARGEST, close_to_others=True)
    except FileNotFoundError:
        return {}
    except OSError as error:
        logger.warning("%s cannot be read: %s", path, error.strerror)
        return {}
    except ValueError as error:
        logger.warning("%s: %s", path, error)
        return {}
    try:
        values = json.loads(data)
        return {name: value.strip() for name, value in values.items()}
    except (ValueError, AttributeError, RecursionError):
        # Without the cause: it would quote the file.
        logger.warning("%s does not hold secrets: set them again", path)
        return {}


def _masking(values: Iterator[tuple[str, str]]) -> Callable[[str], str]:
    forms: dict[str, str] = {}
    for label, value in values:
        if len(value) >= SHORTEST_MASKED:
            forms |= dict.fromkeys(_forms(value), f"[secret {label}]")
    if not forms:
        return str
    # The longest first, so that one secret inside another does not leave the rest of it.
    pattern = re.compile("|".join(map(re.escape, sorted(forms, key=len, reverse=True))))
    return lambda text: pattern.sub(lambda match: forms[match[0]], text)


def _forms(value: str) -> Iterator[str]:
    yield value
    data = value.encode()
    for encoded in (quote(value, safe=""), quote(value), quote_plus(value)):
        yield encoded
        yield re.sub("%[0-9A-F]{2}", lambda match: match[0].lower(), encoded)
    yield json.dumps(value)[1:-1]
    # Within a longer text there are three ways that the same bytes come out; the characters at both ends depend on
    # the neighbours and are not looked for.
    for shift, first in enumerate((0, 2, 3)):
        last = (shift + len(data)) * 8 // 6
        for encode in (base64.standard_b64encode, base64.urlsafe_b64encode):
            yield encode(bytes(shift) + data).decode()[first:last]
