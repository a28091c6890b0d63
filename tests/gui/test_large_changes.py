"""Changes that are too long to be told: the window reads again, and keeps the caret inside the text."""

from PySide6.QtWidgets import QApplication

from rio_core.protocol.ops.buffer import ReplaceParams
from rio_gui._ui.document.edits import Position

LINE = b"a line of some thirty letters\n"


def test_a_file_of_70_mb_is_deleted_and_brought_back(opened):
    count = 70_000_000 // len(LINE)
    hand = opened(LINE * count)
    hand.keys("Ctrl+End")
    hand.do("select_all")
    hand.keys("Delete")
    assert hand.text() == ""
    assert hand.caret == (0, 0)
    hand.do("undo")
    assert hand.document.total == count + 1
    assert hand.selection == ((0, 0), (count, 0))
    hand.keys("Ctrl+Home")
    hand.type("x")
    assert hand.document.lines.get(0).text == "x" + LINE.decode().rstrip()
    assert not hand.refusals
    hand.do("redo", "undo")
    hand.keys("Ctrl+Z")
    assert hand.save() == LINE * count


def test_a_long_paste_is_one_step(opened):
    hand = opened("head\ntail")
    text = "line of a paste\n" * 200_000
    hand.keys("Down")
    QApplication.clipboard().setText(text)
    hand.do("paste")
    assert hand.caret == (200_001, 0)
    hand.type("x")
    assert hand.text() == f"head\n{text}xtail"
    hand.do("undo", "undo")
    assert hand.text() == "head\ntail"
    assert hand.caret == (1, 0)
    hand.do("redo")
    assert hand.text() == f"head\n{text}tail"


def test_what_is_typed_while_the_text_is_replaced_elsewhere_is_handed_back(opened):
    hand = opened("word\n" * 1_000)
    document = hand.document
    params = ReplaceParams(document.buffer, document.revision, (0, 0), (1_000, 0), "y" * 2_000_000)
    hand.link.call("buffer.replace", params, lambda _: None, hand.failures.append)
    hand.editor.selection = (Position(5, 2), Position(5, 2))
    hand.editor.type_text("typed")
    hand.settle()
    assert not hand.failures
    assert hand.document.total == 1
    assert hand.caret[0] == 0
    assert [texts for texts, _ in hand.refusals] == [["typed"]]
