"""Reading for tools: capped while reading, text only, and no secrets."""

import os
from dataclasses import dataclass
from typing import Final

from rio_core._engine.workspace.confine import Root
from rio_core._engine.workspace.failures import told
from rio_core._engine.workspace.files import open_regular
from rio_core._engine.workspace.protect import looks_secret
from rio_core.protocol.errors import RioError

__all__ = ["Content", "is_binary", "read_capped", "read_up_to"]

HEAD: Final = 8192
"""Bytes from which is told whether a file is text."""

_MARKS: Final = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")  # UTF-16 and UTF-32, whose text holds NUL bytes
_CONTROLS: Final = bytes(set(range(0x20)) - set(b"\b\t\n\f\r\x1b"))
_BLOCK: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class Content:
    """The beginning of a file. `names` lead to the real file; `cut` says that the file went on."""

    names: tuple[str, ...]
    data: bytes
    cut: bool


def read_capped(root: Root, path: str, cap: int, *, secrets: bool = False) -> Content:
    """At most `cap` bytes of a text file.

    What counts is what was read: neither a file without a size, as in /proc, nor one that grows gives more (P09).

    Raises:
        RioError: besides what `Root.open_file` raises, `unsupported` for a binary file (F4) and, unless `secrets`,
            `protected` for one that by its real name holds passwords or keys (F6).
    """
    with root.place(path) as place:
        names = root.real_names(place)
        handle = open_regular(place)
        try:
            if not secrets and looks_secret(names):
                raise RioError(
                    "protected",
                    f"{place.shown} usually holds passwords or keys, so tools do not read it.",
                    "Open it in the editor yourself, and pass on what may be seen.",
                )
            with told(place.shown):
                data = read_up_to(handle, cap + 1)
        finally:
            os.close(handle)
        if is_binary(data):
            raise RioError("unsupported", f"{place.shown} is a binary file.", "Name a text file.")
        return Content(names, data[:cap], len(data) > cap)


def read_up_to(handle: int, count: int) -> bytes:
    """The next bytes of a file, fewer than `count` only at its end."""
    blocks = []
    while count > 0 and (block := os.read(handle, min(count, _BLOCK))):
        blocks.append(block)
        count -= len(block)
    return b"".join(blocks)


def is_binary(data: bytes) -> bool:
    """Whether bytes that begin a file are no text: a NUL without a mark of UTF-16 or UTF-32, or many controls."""
    head = data[:HEAD]
    if head.startswith(_MARKS):
        return False
    if b"\0" in head:
        return True
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return controls > 16 and controls * 20 > len(head)
