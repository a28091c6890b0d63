"""The text as patterns see it: every line end is one LF, so `$` is never between a CR and its LF (A20)."""

from bisect import bisect_left

from rio_core._engine.documents.lines import crlf_places, original, to_lf

__all__ = ["Seen"]


class Seen:
    """A text with LF for every line end, and the way between its offsets and those of the text as it is."""

    __slots__ = ("_places", "_starts", "plain")

    def __init__(self, text: str) -> None:
        self.plain = to_lf(text)
        self._places = crlf_places(text) if len(self.plain) < len(text) else []
        self._starts = [place + index for index, place in enumerate(self._places)]

    def original(self, offset: int) -> int:
        """The offset in the text of one in `plain`."""
        return original(offset, self._places) if self._places else offset

    def seen(self, offset: int) -> int:
        """The offset in `plain` of one in the text, which is not between a CR and its LF."""
        return offset - bisect_left(self._starts, offset)
