"""The user's settings: one TOML file, which he can also edit by hand. No project has any say in it."""

import math
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from rio_core._engine.bus import Bus
from rio_core._engine.folders import fetch, store
from rio_core.api import SettingSpec
from rio_core.protocol.errors import RioError
from rio_core.protocol.events import SettingsChanged
from rio_core.protocol.ops.plugins import Setting

__all__ = ["Settings", "setting", "wrong"]

FILE: Final = "settings.toml"
LARGEST: Final = 1024 * 1024
"""Bytes of a settings file that is read."""
LONGEST: Final = 64 * 1024
"""Characters of one value."""

OWN: Final = (
    Setting(
        key="agent.save",
        title="Save after an approved change",
        type="boolean",
        default=True,
        help="A file that had no unsaved text is saved when you approve a change to it. Otherwise saving is yours.",
    ),
)
"""Settings of the core itself."""


def setting(key: str, spec: SettingSpec) -> Setting:
    """What a provider declares, as front ends see it."""
    return Setting(key, spec.title, spec.type, spec.default, spec.help, list(spec.choices))


def wrong(spec: Setting, value: Any) -> str | None:
    """Why this cannot be a value of the setting (`is … , not …`), or None."""
    match spec.type:
        case "boolean":
            fits, wanted = type(value) is bool, "true or false"
        case "integer":
            fits, wanted = type(value) is int and -(2**63) <= value < 2**63, "a whole number of at most 64 bits"
        case "number":
            fits, wanted = type(value) in (int, float) and abs(value) < 2**63, "a number"
            fits = fits and math.isfinite(value)
        case "choice":
            fits, wanted = value in spec.choices, f"one of {', '.join(spec.choices)}"
        case _:
            fits, wanted = _is_text(value), f"a text of at most {LONGEST:,} characters"
    if fits:
        return None
    shown = ascii(value)
    return f"is {shown if len(shown) <= 60 else shown[:60] + '…'}, not {wanted}"


def _is_text(value: Any) -> bool:
    return type(value) is str and len(value) <= LONGEST and not re.search("[\ud800-\udfff]", value)


class Settings:
    """Values by dotted key, such as `provider.echo.delay`, over the defaults that are declared for them.

    A file that cannot be read never stops rio: the defaults count, the file is kept aside as `settings.toml.bad-1`
    (or the next number), and `notices` says what happened, with file and line.
    """

    def __init__(self, folder: Path, bus: Bus) -> None:
        self.notices: list[str] = []
        self._bus = bus
        self._folder = folder
        # A link that the user made, into his own collection of such files, stays a link.
        self._path = Path(os.path.realpath(folder / FILE))
        self._specs = {spec.key: spec for spec in OWN}
        self._text = ""
        self._values: dict[str, Any] = {}
        self._seen: object = None
        self._refresh(keep_bad_aside=True)

    # -- what can be set ---------------------------------------------------------------------------------------

    def schema(self) -> list[Setting]:
        """Every setting that is declared."""
        return list(self._specs.values())

    def declare(self, specs: Iterable[Setting]) -> None:
        """Add settings, whose keys nobody else has."""
        self._specs |= {spec.key: spec for spec in specs}

    def withdraw(self, prefix: str) -> None:
        """Forget the declared settings that begin with this. Their values stay in the file."""
        self._specs = {key: spec for key, spec in self._specs.items() if not key.startswith(prefix)}

    def get(self, key: str) -> Any:
        """The value in force: the user's where it fits, else the default. Raises RioError for an unknown key."""
        spec = self._spec(key)
        value = self.stored(key)
        if value is None:
            return spec.default
        if reason := wrong(spec, value):
            self._notice(f"{self._path}{self._at(key)}: {key} {reason}. Its default counts.")
            return spec.default
        return value

    def values(self, key: str | None = None) -> dict[str, Any]:
        """The value in force of every declared setting, or of one. Raises RioError for an unknown key."""
        return {key: self.get(key) for key in (self._specs if key is None else [key])}

    def set(self, key: str, value: Any) -> None:
        """Give a declared setting a value, None for its default again.

        Raises RioError: `not_found`, `bad_message` for a value of another type, `io`.
        """
        spec = self._spec(key)
        if value is not None and (reason := wrong(spec, value)):
            raise RioError("bad_message", f"The value for {key} {reason}.", f"Give {spec.title!r} a value of its type.")
        self.store(key, value)

    def _spec(self, key: str) -> Setting:
        if key not in self._specs:
            raise RioError("not_found", f"There is no setting {key!a}.", "Use a key that settings.schema lists.")
        return self._specs[key]

    # -- what is in the file -------------------------------------------------------------------------------------

    def stored(self, key: str) -> Any:
        """What the file has for this key, declared or not; None where it has nothing."""
        self._refresh()
        found: Any = self._values
        for part in key.split("."):
            if not isinstance(found, Mapping) or part not in found:
                return None
            found = found[part]
        return found

    def store(self, key: str, value: Any) -> None:
        """Write a value for this key, None to remove it. Everything else in the file stays as it is.

        Raises RioError (`io`).
        """
        self._refresh(keep_bad_aside=True)
        store(self._path, self._changed(key, value).encode())
        self._seen = None  # size and time may be those of the file before
        self._refresh()
        self._bus.publish(SettingsChanged(key=key))

    def _changed(self, key: str, value: Any) -> str:
        import tomlkit
        from tomlkit.exceptions import TOMLKitError

        *tables, last = key.split(".")
        wanted = tomllib.loads(self._text)
        try:
            document: Any = tomlkit.parse(self._text)
            self._put(document, tables, last, value, tomlkit.table)
            text = tomlkit.dumps(document)
            self._put(wanted, tables, last, value, dict)
            if tomllib.loads(text) == wanted:
                return text
        except (TOMLKitError, tomllib.TOMLDecodeError, TypeError, KeyError, ValueError):
            pass
        raise RioError(
            "io",
            f"{key} cannot be set without touching the rest of {self._path}.",
            "Set it there by hand; nothing was changed.",
        )

    def _put(self, document: Any, tables: list[str], last: str, value: Any, table: Callable[[], Any]) -> None:
        for name in tables:
            if not isinstance(document.get(name), Mapping):
                if name in document:
                    raise TypeError(name)
                if value is None:
                    return
                document[name] = table()
            document = document[name]
        if value is None:
            document.pop(last, None)
        else:
            document[last] = value

    # -- reading -----------------------------------------------------------------------------------------------

    def _refresh(self, *, keep_bad_aside: bool = False) -> None:
        """Read the file when it is another one than the last time."""
        try:
            status = os.stat(self._path)
            seen: object = (status.st_mtime_ns, status.st_size, status.st_ino)
        except OSError as error:
            seen = error.errno
        if seen == self._seen and not keep_bad_aside:
            return
        self._seen = seen
        try:
            text = _read(self._path)
            self._values = _parse(text)
            self._text = text
        except FileNotFoundError:
            self._text, self._values = "", {}
        except OSError as error:
            self._notice(
                f"{self._path} cannot be read: {error.strerror}. The settings from before, or defaults, count."
            )
        except ValueError as error:
            self._bad(str(error), keep_aside=keep_bad_aside)

    def _bad(self, reason: str, *, keep_aside: bool) -> None:
        if not keep_aside:
            # Someone may be in the middle of editing it.
            self._notice(f"{self._path}: {reason}. The settings from before count until this is corrected.")
            return
        aside = next(path for n in range(1, 1_000_000) if not os.path.lexists(path := f"{self._path}.bad-{n}"))
        try:
            os.rename(self._path, aside)
        except OSError as error:
            self._notice(f"{self._path}: {reason}. It cannot be put aside: {error.strerror}. Defaults count.")
        else:
            self._notice(f"{self._path}: {reason}. The file is kept as {aside}; defaults count.")
        self._text, self._values, self._seen = "", {}, None

    def _notice(self, text: str) -> None:
        if text not in self.notices:
            self.notices.append(text)

    def _at(self, key: str) -> str:
        """The line of a key, as `:7`, where it stands in the usual form."""
        *tables, last = key.split(".")
        table = ""
        for number, line in enumerate(self._text.split("\n"), 1):
            if header := re.match(r"\s*\[([^\[\]]+)\]", line):
                table = re.sub(r"[\s\"']", "", header[1])
            elif re.match(rf"\s*[\"']?{re.escape(last)}[\"']?\s*=", line) and table == ".".join(tables):
                return f":{number}"
        return ""


def _read(path: Path) -> str:
    """The text of the file. Raises OSError, ValueError."""
    data = fetch(path, LARGEST)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"it is not UTF-8 at line {line}") from None


def _parse(text: str) -> dict[str, Any]:
    """The values in the text. Raises ValueError, whose text names the line."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        last = text.count("\n") + 1
        raise ValueError(str(error).replace("at end of document", f"at line {last}, the last")) from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
