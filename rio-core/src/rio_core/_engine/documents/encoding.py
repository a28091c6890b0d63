"""From bytes to text and back, exactly.

A byte-order mark decides; else the bytes are UTF-8 if they are strictly that; else each byte is the Latin-1
character of its number, which holds anything and gives it back. Text is encoded chunk by chunk and never in
the place of what it cannot hold.
"""

import codecs
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

from rio_core._engine.documents.text import CHUNK, Text
from rio_core.protocol.errors import RioError

MARKS: Final[dict[str, bytes]] = {
    "utf-8": codecs.BOM_UTF8,
    "utf-32-le": codecs.BOM_UTF32_LE,  # before UTF-16, whose mark it begins with
    "utf-32-be": codecs.BOM_UTF32_BE,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}
"""The encodings that have a byte-order mark, in the order in which marks are looked for."""

_LONGEST_MARK: Final = max(map(len, MARKS.values()))

# Text codecs of Python in which a character does not stand for itself alone, or that are notations.
_NOT_FOR_FILES: Final = {"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"}

_OTHERS: Final = "Choose another encoding, such as utf-8, utf-16-le, cp1252 or latin-1."


@dataclass(frozen=True, slots=True)
class Format:
    """How text is bytes: the encoding, whether a byte-order mark comes first, and whether that is known.

    `clean` is false where the bytes are in no encoding that could be found: they are shown as Latin-1.
    """

    encoding: str = "utf-8"
    bom: bool = False
    clean: bool = True


def find_codec(name: str) -> tuple[str, bool | None]:
    """The one name of a text encoding, and whether its name asks for a byte-order mark (None where it says nothing).

    Raises:
        RioError: `encoding`, for a name that is no encoding of text files.

    """
    try:
        "".encode(name)
        found = codecs.lookup(name)
        codecs.getincrementalencoder(name)
        codecs.getincrementaldecoder(name)
    except (LookupError, ValueError, UnicodeError) as error:
        raise RioError("encoding", f"{name!a} is not an encoding of text files.", _OTHERS) from error
    canonical = found.name.replace("_", "-")
    if canonical in _NOT_FOR_FILES:
        raise RioError("encoding", f"{canonical} is not an encoding of text files.", _OTHERS)
    if canonical in ("utf-16", "utf-32"):
        return f"{canonical}-le", True
    if canonical == "utf-8-sig":
        return "utf-8", True
    return ("latin-1" if canonical == "iso8859-1" else canonical), None


def decode(blocks: Iterable[bytes]) -> tuple[Text, Format]:
    """The text of a file, and how it was found in the bytes. `blocks` is read once, one block at a time."""
    head, rest = _with_head(blocks)
    marked = [(name, mark) for name, mark in MARKS.items() if head.startswith(mark)]
    for name, mark in [*marked, ("utf-8", b"")]:
        pieces, failed = _attempt(rest, name, mark)
        if failed is None:
            return Text(pieces), Format(name, bom=bool(mark))
        rest = chain([mark], _encoded_again(pieces, name), failed)
    return Text(block.decode("latin-1") for block in rest), Format("latin-1", clean=False)


def decode_as(blocks: Iterable[bytes], encoding: str) -> tuple[Text, Format]:
    """The text of a file in the encoding that the user chose.

    Raises:
        RioError: `encoding`, when the bytes are not in it, or when the text would not give the same bytes
        back.

    """
    from hashlib import blake2b

    name, wants_mark = find_codec(encoding)
    head, rest = _with_head(blocks)
    if wants_mark and name != "utf-8":
        family = name.removesuffix("-le")
        marked = (other for other in (f"{family}-le", f"{family}-be") if head.startswith(MARKS[other]))
        name = next(marked, "")
        if not name:
            raise RioError(
                "encoding", f"The file has no byte-order mark of {family}.", f"Choose {family}-le or {family}-be."
            )
    mark = MARKS.get(name, b"")
    mark = mark if mark and head.startswith(mark) else b""
    decoder = codecs.getincrementaldecoder(name)("strict")
    encoder = codecs.getincrementalencoder(name)("strict")
    read, again = blake2b(), blake2b(mark)
    pieces: list[str] = []
    try:
        for block in rest:
            read.update(block)
            pieces.append(decoder.decode(block[len(mark) :] if not pieces else block))
            again.update(encoder.encode(pieces[-1]))
        pieces.append(decoder.decode(b"", True))
        again.update(encoder.encode(pieces[-1], True))
    except UnicodeError as error:
        raise RioError("encoding", f"The file is not in {name}: {ascii(str(error))[1:-1]}.", _OTHERS) from error
    if read.digest() != again.digest():
        raise RioError("encoding", f"The file read as {name} would not be written back as it is.", _OTHERS)
    return Text(pieces), Format(name, bom=bool(mark))


def encode(text: Text, form: Format) -> list[bytes]:
    """The bytes of a whole text, in pieces.

    Raises:
        RioError: `encoding`, naming the first character that the encoding cannot hold.

    """
    encoder = codecs.getincrementalencoder(form.encoding)("strict")
    encoded = [MARKS[form.encoding]] if form.bom else []
    offset = 0
    try:
        for piece in text.chunks():
            encoded.append(encoder.encode(piece))
            offset += len(piece)
        encoded.append(encoder.encode("", True))
    except UnicodeEncodeError:
        raise _cannot_hold(text, offset, form.encoding) from None
    return encoded


def _cannot_hold(text: Text, offset: int, encoding: str) -> RioError:
    # The place that an encoder reports is not the text's where it held a character back to see the next one.
    piece = text.slice(offset, offset + 3 * CHUNK)
    found, character = next(
        (index, character) for index, character in enumerate(piece) if not _can_hold(character, encoding)
    )
    line, column = text.position(offset + found)
    shown = character if character.isprintable() else character.encode("unicode-escape").decode("ascii")
    return RioError(
        "encoding",
        f"{encoding} cannot hold '{shown}' (U+{ord(character):04X}) at line {line + 1}, column {column + 1}.",
        "Save as UTF-8 (set the encoding to utf-8), or take the character out.",
    )


def _can_hold(character: str, encoding: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _with_head(blocks: Iterable[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The blocks again, the first one long enough to hold any mark that there is."""
    source = iter(blocks)
    head = b""
    for block in source:
        head += block
        if len(head) >= _LONGEST_MARK:
            break
    return head, chain([head], source)


def _attempt(blocks: Iterator[bytes], name: str, mark: bytes) -> tuple[deque[str], Iterator[bytes] | None]:
    """The text of the blocks in one encoding, and from the first bytes that are not in it on the rest."""
    decoder = codecs.getincrementaldecoder(name)("strict")
    pieces: deque[str] = deque()
    skip = len(mark)
    waiting = b""
    for block in blocks:
        fresh, skip = block[skip:], max(0, skip - len(block))
        try:
            pieces.append(decoder.decode(fresh))
        except UnicodeDecodeError:
            return pieces, chain([waiting + fresh], blocks)
        waiting = decoder.getstate()[0]
    try:
        decoder.decode(b"", True)
    except UnicodeDecodeError:
        return pieces, iter([waiting])
    return pieces, None


def _encoded_again(pieces: deque[str], name: str) -> Iterator[bytes]:
    while pieces:
        yield pieces.popleft().encode(name)
