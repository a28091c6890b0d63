"""Where a view is in a text: the line at its top, and how far that line is scrolled out. No widgets.

Heights of lines are asked for one by one where the view is; the height of the whole text is never needed.
"""

from collections.abc import Callable
from typing import Final

MOST: Final = 1 << 30
"""A scroll bar counts in 32 bits: of a taller text, one step is several pixels."""


class Place:
    """The top of a view, in lines and pixels."""

    def __init__(self, row_height: int) -> None:
        self.row_height = row_height
        self.line = 0
        self.offset = 0

    def move(self, pixels: int, total: int, rows: Callable[[int], int]) -> None:
        """Scroll by pixels through lines that have `rows` rows each."""
        offset = self.offset + pixels
        line = self.line
        while offset < 0 and line > 0:
            line -= 1
            offset += rows(line) * self.row_height
        while line < total - 1 and offset >= (height := rows(line) * self.row_height):
            offset -= height
            line += 1
        self.line = line
        self.offset = min(max(0, offset), max(0, rows(line) * self.row_height - 1))

    def jump(self, line: int, offset: int = 0) -> None:
        """Go to a line."""
        self.line, self.offset = max(0, line), offset

    def last(self, height: int, total: int, rows: Callable[[int], int]) -> tuple[int, int]:
        """The line and offset at the top when the end of the text is at the bottom of a view of this height."""
        number = total
        while height > 0 and number > 0:
            number -= 1
            height -= rows(number) * self.row_height
        return number, max(0, -height)

    def step(self, total: int) -> int:
        """Pixels of one step of the scroll bar."""
        return max(1, -(-total * self.row_height // MOST))

    def bar(self, line: int, offset: int, total: int, rows: Callable[[int], int]) -> int:
        """The value of the scroll bar when this line is at the top, scrolled out so far."""
        if total <= 0:
            return 0
        return (line * self.row_height + offset // max(1, rows(min(line, total - 1)))) // self.step(total)

    def from_bar(self, value: int, total: int, rows: Callable[[int], int]) -> None:
        """Go where the scroll bar says."""
        pixels = value * self.step(total)
        line = min(pixels // self.row_height, max(0, total - 1))
        self.line = line
        self.offset = (pixels - line * self.row_height) * rows(line)
        self.offset = min(self.offset, rows(line) * self.row_height - 1)
