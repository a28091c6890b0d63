"""Characters of a line as people see them, by the rules of Unicode Standard Annex 29 that Qt has."""

from PySide6.QtCore import QTextBoundaryFinder

from rio_gui._ui.text.columns import plain


def behind(text: str, column: int) -> int:
    """The column behind the character that begins at a column."""
    if column >= len(text):
        return len(text)
    if text[column : column + 2].isascii():
        return column + 1
    columns = plain(text)
    finder = QTextBoundaryFinder(QTextBoundaryFinder.BoundaryType.Grapheme, text)
    finder.setPosition(columns.unit(column))
    return max(column + 1, columns.column(finder.toNextBoundary()))


def before(text: str, column: int) -> int:
    """The column at which the character before a column begins."""
    if column <= 1 or text[max(0, column - 2) : column].isascii():
        return max(0, column - 1)
    columns = plain(text)
    finder = QTextBoundaryFinder(QTextBoundaryFinder.BoundaryType.Grapheme, text)
    finder.setPosition(columns.unit(column))
    return min(column - 1, columns.column(max(0, finder.toPreviousBoundary())))


def snapped(text: str, column: int) -> int:
    """The column itself where a character begins, else the beginning of the character that it is in."""
    if column <= 0 or column >= len(text) or text[column - 1 : column + 1].isascii():
        return column
    columns = plain(text)
    finder = QTextBoundaryFinder(QTextBoundaryFinder.BoundaryType.Grapheme, text)
    finder.setPosition(columns.unit(column))
    return column if finder.isAtBoundary() else columns.column(max(0, finder.toPreviousBoundary()))
