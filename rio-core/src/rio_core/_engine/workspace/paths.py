r"""Paths as text: how ops and tools name a file, checked before anything is opened.

A path on the wire is relative to the project root with `/`, or absolute. Bytes that are not UTF-8 travel as surrogate
escapes (PEP 383), so every name that the system can hold can be named, listed and opened. A model is shown such names
in the escaped form of `visible_line` and may answer with either form.
"""

import os
import re
from collections.abc import Sequence
from typing import Final

from rio_core.protocol.errors import RioError
from rio_core.protocol.visible import visible_line

__all__ = ["MAX_NAME", "MAX_PATH", "model_name", "parse", "render", "shown", "unescape"]

MAX_NAME: Final = 255
"""Bytes of one name: NAME_MAX of Linux."""
MAX_PATH: Final = 4096
"""Bytes of a path: PATH_MAX of Linux."""

_SHOWN: Final = 200
_HOME = re.compile(r"~(?:[A-Za-z_][A-Za-z0-9_.-]*)?")
_ESCAPE = re.compile(r"\\(?:([\\ntr])|x([0-9A-Fa-f]{2})|u\{([0-9A-Fa-f]{1,6})\})")
_SIMPLE = {"\\": "\\", "n": "\n", "t": "\t", "r": "\r"}


def shown(path: str) -> str:
    """A path as messages name it: one line, hidden characters escaped, a very long one cut in the middle."""
    text = visible_line(path)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN // 2]}…{text[-_SHOWN // 2 :]}"


def parse(path: str) -> tuple[str, ...]:
    """The names that a path leads through, without empty ones and `.`; `..` is kept, for only opening can follow it.

    Of an absolute path these are the names below `/`. `.` has no names: it is the root itself. A path that begins with
    `~/` or `~user` would leave the project if it were expanded, and it is not: `./~user` names such a file.

    Raises:
        RioError: `bad_message` when no file can have that name, `outside` for a path into a home folder.
    """
    if not path:
        raise _bad("The path is empty.")
    try:
        raw = os.fsencode(path)
    except UnicodeEncodeError as error:
        raise _bad(f"{shown(path)} holds a character that no file name can hold.") from error
    if b"\0" in raw:
        raise _bad(f"{shown(path)} holds a NUL byte.")
    if len(raw) > MAX_PATH:
        raise _bad(f"{shown(path)} is longer than {MAX_PATH} bytes.")
    raw_names = [name for name in raw.split(b"/") if name not in (b"", b".")]
    if any(len(name) > MAX_NAME for name in raw_names):
        raise _bad(f"{shown(path)} holds a name longer than {MAX_NAME} bytes.")
    names = tuple(os.fsdecode(name) for name in raw_names)
    if path.startswith("~") and _HOME.fullmatch(names[0]) and path != "~":
        raise RioError(
            "outside",
            f"{shown(path)} leads out of the project.",
            "Use a path inside the project; for a file whose name begins with ~, put ./ before it.",
        )
    return names


def render(names: Sequence[str]) -> str:
    """The relative path of names; `parse` gives the same names back."""
    path = "/".join(names) or "."
    return f"./{path}" if path.startswith("~") else path


def model_name(path: str) -> str:
    r"""A path as a model reads it: `\xE9` for a byte that is not UTF-8, `\u{202E}` and `\n` for hidden characters.

    A backslash is doubled, so that no two names look the same; `unescape` is the way back.
    """
    return visible_line(path)


def unescape(text: str) -> str:
    """The path that `model_name` shows as this text. What would be a separator or NUL is left as it stands."""
    return _ESCAPE.sub(_unescape, text)


def _unescape(match: re.Match[str]) -> str:
    simple, byte, point = match.groups()
    if simple:
        return _SIMPLE[simple]
    value = int(byte or point, 16)
    if value in (0, 0x2F) or value > 0x10FFFF or 0xD800 <= value <= 0xDFFF:
        return match[0]
    return chr(value + 0xDC00) if byte and value >= 0x80 else chr(value)


def _bad(message: str) -> RioError:
    return RioError("bad_message", message, "Give a relative path inside the project, such as src/main.py.")
