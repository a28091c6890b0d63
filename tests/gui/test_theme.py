"""Text can be read on every ground, with every palette of the system."""

import pytest
from PySide6.QtGui import QColor, QPalette

from rio_gui._ui.theme import READABLE, contrast, theme

PALETTES = {
    "light": ("#000000", "#ffffff", "#308cc6", "#ffffff"),
    "dark": ("#eeeeee", "#1e1e1e", "#264f78", "#ffffff"),
    "grey": ("#808080", "#909090", "#888888", "#8a8a8a"),
    "amber": ("#ffb000", "#000000", "#ffb000", "#000000"),
    "paper": ("#5b4636", "#f4ecd8", "#c9b99a", "#5b4636"),
    "same": ("#ffffff", "#ffffff", "#ffffff", "#ffffff"),
}


@pytest.mark.parametrize("name", PALETTES)
def test_A42_contrast_is_enough_everywhere(name):
    text, base, highlight, highlighted = map(QColor, PALETTES[name])
    palette = QPalette()
    for role, color in (
        (QPalette.ColorRole.Text, text),
        (QPalette.ColorRole.Base, base),
        (QPalette.ColorRole.Highlight, highlight),
        (QPalette.ColorRole.HighlightedText, highlighted),
    ):
        palette.setColor(role, color)
    colors = theme(palette)
    for ink, ground in (
        (colors.text, colors.page),
        (colors.text, colors.current_line),
        (colors.text, colors.bracket_ground),
        (colors.text, colors.found),
        (colors.text, colors.gutter),
        (colors.gutter_text, colors.gutter),
        (colors.selected_text, colors.selection),
        (colors.sign, colors.sign_ground),
        (colors.caret, colors.page),
    ):
        assert contrast(ink, ground) >= READABLE


def test_contrast_is_as_the_guidelines_count_it():
    assert contrast(QColor("black"), QColor("white")) == pytest.approx(21)
    assert contrast(QColor("#777777"), QColor("white")) == pytest.approx(4.48, abs=0.01)
