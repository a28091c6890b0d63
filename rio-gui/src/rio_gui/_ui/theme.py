"""Colours of the editor, all made from the palette of the system, so that none can clash with it."""

from typing import Final, NamedTuple

from PySide6.QtGui import QColor, QPalette

READABLE: Final = 4.5
"""Contrast of text to its ground: WCAG 2.2, success criterion 1.4.3."""


class Theme(NamedTuple):
    """What the editor paints with. Every text colour is readable on every ground it is painted on."""

    text: QColor
    page: QColor
    current_line: QColor
    gutter: QColor
    gutter_text: QColor
    gutter_line: QColor
    selection: QColor
    selected_text: QColor
    blanks: QColor
    sign: QColor
    sign_ground: QColor
    bracket_ground: QColor
    found: QColor
    caret: QColor


def luminance(color: QColor) -> float:
    """Relative luminance (WCAG 2.2, definitions)."""

    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    red, green, blue = color.redF(), color.greenF(), color.blueF()
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)


def contrast(one: QColor, other: QColor) -> float:
    """Contrast ratio (WCAG 2.2, definitions), from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def mixed(one: QColor, other: QColor, share: float) -> QColor:
    """A colour between two; `share` is how much of the other is in it."""
    parts = zip((one.red(), one.green(), one.blue()), (other.red(), other.green(), other.blue()), strict=True)
    return QColor(*(round(a + (b - a) * share) for a, b in parts))


def readable(color: QColor, *grounds: QColor) -> QColor:
    """The colour, moved towards black or white as far as is needed to be read on all the grounds."""
    ends = (QColor(0, 0, 0), QColor(255, 255, 255))
    best = max(ends, key=lambda end: min(contrast(end, ground) for ground in grounds))
    for step in range(21):
        moved = mixed(color, best, step / 20)
        if min(contrast(moved, ground) for ground in grounds) >= READABLE:
            return moved
    return best


def ground(page: QColor, other: QColor, share: float, ink: QColor) -> QColor:
    """The page's colour with some of another one in it, as much as leaves the ink on it readable."""
    for step in range(11):
        color = mixed(page, other, share * (1 - step / 10))
        if contrast(ink, color) >= READABLE:
            return color
    return page


def theme(palette: QPalette) -> Theme:
    """The colours that go with a palette."""
    role = QPalette.ColorRole
    page = palette.color(role.Base)
    text = readable(palette.color(role.Text), page)
    selected_text = palette.color(role.HighlightedText)
    selection = readable(palette.color(role.Highlight), selected_text)
    dark = luminance(page) < 0.2
    gutter = ground(page, text, 0.05 if dark else 0.03, text)
    sign_ground = ground(page, QColor(255, 80, 0), 0.25, text)
    return Theme(
        text=text,
        page=page,
        current_line=ground(page, text, 0.08 if dark else 0.04, text),
        gutter=gutter,
        gutter_text=readable(mixed(text, page, 0.45), gutter),
        gutter_line=mixed(page, text, 0.18),
        selection=selection,
        selected_text=readable(selected_text, selection),
        blanks=mixed(page, text, 0.4),
        sign=readable(mixed(text, QColor(200, 60, 0), 0.6), sign_ground),
        sign_ground=sign_ground,
        bracket_ground=ground(page, selection, 0.3, text),
        found=ground(page, QColor(255, 200, 0), 0.4, text),
        caret=text,
    )
