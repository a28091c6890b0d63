"""JSON as the service must get it: no lone surrogate, no NaN, no infinity."""

import json
import re
from typing import Any, NoReturn

__all__ = ["Joiner", "encode", "parse", "sound"]

_SURROGATE = re.compile("[\ud800-\udfff]")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_read = json.JSONDecoder(parse_constant=_refuse).raw_decode


def parse(text: str) -> Any:
    """The value. Raises ValueError for what is not JSON, also where it is nested too deeply."""
    text = text.strip(" \t\r\n")
    try:
        value, end = _read(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if end != len(text):
        raise ValueError("something stands behind the value")
    return value


def sound(value: Any) -> Any:
    """The value with each pair of surrogates joined and each lone one as U+FFFD. Raises ValueError for infinity."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _read(_whole(text))[0] if _SURROGATE.search(text) else value


def encode(value: Any) -> bytes:
    """The value as UTF-8; the same value gives the same bytes. Raises ValueError for NaN and infinity."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _whole(text).encode()


def _whole(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class Joiner:
    """Joins the two halves of a character that came in two pieces of text."""

    __slots__ = ("_half",)

    def __init__(self) -> None:
        self._half = ""

    def feed(self, text: str) -> str:
        """What can be shown by now."""
        if not self._half and text.isascii():
            return text
        text = self._half + text
        self._half = ""
        if not _SURROGATE.search(text):
            return text
        if "\ud800" <= text[-1] <= "\udbff":
            self._half, text = text[-1], text[:-1]
        return _whole(text)

    def close(self) -> str:
        """What is left: half a character, as U+FFFD."""
        return "\ufffd" if self._half else ""
