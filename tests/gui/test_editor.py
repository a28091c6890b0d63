"""The editor widget on a real core: what a person does with keys, mouse and input methods, and what is then on disk."""

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import QClipboard, QDropEvent, QGuiApplication, QInputMethodEvent, QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gui.harness import call, wait
from rio_core.protocol.ops.buffer import ReplaceParams
from rio_gui._ui.document.edits import Position

CTRL = Qt.KeyboardModifier.ControlModifier
ALT = Qt.KeyboardModifier.AltModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def test_typing_is_painted_at_once_and_reaches_the_core(opened):
    hand = opened("one\ntwo\n")
    QTest.keyClicks(hand.editor, "a")
    assert hand.document.lines.get(0).text == "aone"  # before any answer
    hand.type("b\nc")
    assert hand.text() == "ab\ncone\ntwo\n"
    assert hand.caret == (1, 1)
    assert hand.document.dirty
    assert hand.save() == b"ab\ncone\ntwo\n"
    wait(lambda: not hand.document.dirty, "clean")


def test_A04_nul_and_A01_bytes_that_are_not_utf8_survive_an_edit_beside_them(opened):
    hand = opened(b"abc\0def\nghi\n")
    hand.keys("Down")
    hand.type("x")
    assert hand.save() == b"abc\0def\nxghi\n"
    assert hand.document.total == 3


@pytest.mark.parametrize(
    ("content", "expected"), [(b"a\r\nb\r\n", b"a\r\nx\r\n\r\nb\r\n"), (b"a\rb\r", b"a\rx\r\rb\r")]
)
def test_new_lines_end_like_the_others(opened, content, expected):
    hand = opened(content)
    hand.keys("End")
    hand.type("\nx\n")
    assert hand.save() == expected


def test_undo_and_redo_bring_text_and_caret_back(opened):
    hand = opened("one two\n")
    hand.editor.go_to(0, 3)
    hand.type(" and a half")
    assert hand.text() == "one and a half two\n"
    while hand.document.dirty:
        hand.do("undo")
    assert hand.text() == "one two\n"
    assert hand.caret == (0, 3)
    for _ in range(5):
        hand.do("redo")
    assert hand.text() == "one and a half two\n"
    assert hand.caret == (0, 14)


def test_keys_that_are_typed_before_an_undo_is_answered_stay(opened):
    hand = opened("")
    hand.type("abc")
    hand.editor.do("undo")
    QTest.keyClicks(hand.editor, "xyz")
    hand.settle()
    assert hand.text() == "xyz"


def test_moving_and_selecting_by_keys(opened):
    hand = opened("def f(x):\n    return x\n\nend")
    hand.keys("Ctrl+End")
    assert hand.caret == (3, 3)
    hand.keys("Ctrl+Home", "Down", "Home")
    assert hand.caret == (1, 4)
    hand.keys("Home")
    assert hand.caret == (1, 0)
    hand.keys("Ctrl+Right", "Ctrl+Right", "Shift+End")
    assert hand.selection == ((1, 11), (1, 12))
    hand.keys("Left")
    assert hand.selection == ((1, 11), (1, 11))
    hand.keys("Up", "Down")
    assert hand.caret == (1, 11)
    hand.do("select_all")
    assert hand.selection == ((0, 0), (3, 3))
    hand.keys("Del")
    assert hand.text() == ""


def test_the_caret_keeps_its_x_through_shorter_lines(opened):
    hand = opened("a long line\nb\nanother line\n")
    hand.keys("End", "Down")
    assert hand.caret == (1, 1)
    hand.keys("Down")
    assert hand.caret == (2, 11)


def test_A27_one_key_passes_and_removes_a_whole_character(opened):
    hand = opened("x🠔y👩‍👩‍👧‍👦z\n")
    hand.keys("Right", "Del")
    assert hand.text() == "xy👩‍👩‍👧‍👦z\n"
    hand.keys("Right", "Right")
    assert hand.caret == (0, 2 + len("👩‍👩‍👧‍👦"))
    hand.keys("Backspace")
    assert hand.text() == "xyz\n"
    assert hand.save() == b"xyz\n"


def test_S26_a_sign_beyond_the_first_plane_eats_nothing(opened):
    hand = opened("f('🚫')")
    hand.keys("End")
    hand.type(" # ok\nnext")
    assert hand.text() == "f('🚫') # ok\nnext"


def test_A41_S42_a_key_that_carries_text_types_it_whatever_its_modifiers(opened):
    hand = opened("")
    for char, modifiers in (("@", CTRL | ALT), ("ó", CTRL | ALT), ("[", CTRL | ALT), ("€", CTRL | ALT | SHIFT)):
        QTest.sendKeyEvent(QTest.KeyAction.Click, hand.editor, Qt.Key.Key_2, char, modifiers)
    hand.settle()
    assert hand.text() == "@ó[€"


def test_A41_no_key_of_the_editor_is_an_access_letter_or_a_typed_one():
    from rio_gui._ui.editor.keys import COMMAND_KEYS, MOTION_KEYS

    for key in [*COMMAND_KEYS, *MOTION_KEYS]:
        parts = key.split("+")
        assert not ("Alt" in parts and len(parts[-1]) <= 1), key


def test_A41_the_editor_claims_typed_keys_before_any_shortcut(opened):
    hand = opened("")
    event = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_Q, CTRL | ALT, "@")
    event.ignore()
    QApplication.sendEvent(hand.editor, event)
    assert event.isAccepted()


def test_dead_keys_and_input_methods(opened):
    hand = opened("ab")
    hand.keys("Right")
    hand.compose(preedit="漢🚫")
    assert hand.text() == "ab"
    plain = hand.editor.caret_rect(Position(0, 1)).left()
    assert plain > hand.editor.gutter_width() + 3 * hand.editor.layouts.char_width  # behind what is composed
    hand.compose(commit="漢字")
    assert hand.text() == "a漢字b"
    assert hand.caret == (0, 3)
    hand.compose(preedit="´")
    hand.compose(commit="é")
    assert hand.text() == "a漢字éb"


def test_an_input_method_is_answered_in_utf16_and_may_replace(opened):
    hand = opened("x🚫y")
    hand.keys("End")
    query = Qt.InputMethodQuery
    assert hand.editor.inputMethodQuery(query.ImSurroundingText) == "x🚫y"
    assert hand.editor.inputMethodQuery(query.ImCursorPosition) == 4
    assert hand.editor.inputMethodQuery(query.ImAnchorPosition) == 4
    assert hand.editor.inputMethodQuery(query.ImCursorRectangle).height() == hand.editor.layouts.row_height
    event = QInputMethodEvent("", [])
    event.setCommitString("zz", -3, 2)  # the sign is two units long
    QApplication.sendEvent(hand.editor, event)
    assert hand.text() == "xzzy"


def test_composing_takes_the_place_of_the_selection(opened):
    hand = opened("abc")
    hand.keys("Shift+End")
    hand.compose(preedit="k")
    assert hand.text() == ""
    hand.compose(commit="か")
    assert hand.text() == "か"


def test_clipboard(opened):
    hand = opened("one\ntwo\nthree\n")
    hand.select((0, 1), (1, 2))
    hand.do("copy")
    assert hand.clipboard() == "ne\ntw"
    hand.do("cut")
    assert hand.text() == "oo\nthree\n"
    hand.keys("Ctrl+End")
    hand.do("paste")
    assert hand.text() == "oo\nthree\nne\ntw"
    hand.do("undo")
    assert hand.text() == "oo\nthree\n"
    QGuiApplication.clipboard().setText("a\r\nb\rc")
    hand.do("paste")
    assert hand.text() == "oo\nthree\na\nb\nc"


def test_more_than_the_window_knows_is_copied_whole(opened):
    text = "".join(f"line {n} with some words\n" for n in range(20_000))
    hand = opened(text)
    QGuiApplication.clipboard().setText("")
    hand.do("select_all", "copy")
    wait(hand.clipboard, "the clipboard")
    assert hand.clipboard() == text
    hand.do("cut")
    wait(lambda: hand.document.total == 1, "the removal")
    assert hand.text() == ""
    hand.do("undo")
    assert hand.text() == text


def test_pasted_text_with_half_a_character_is_made_whole(opened):
    hand = opened("")
    hand.editor.insert_text("a\ud83db")
    assert hand.text() == "ab"


def test_lines_commands(opened):
    hand = opened("a\nb\nc\n", name="x.py")
    hand.do("duplicate")
    assert hand.text() == "a\na\nb\nc\n"
    hand.do("move_lines_down")
    assert hand.text() == "a\nb\na\nc\n"
    hand.do("toggle_comment")
    assert hand.text() == "a\nb\n# a\nc\n"
    hand.do("toggle_comment", "delete_lines")
    assert hand.text() == "a\nb\nc\n"
    hand.keys("Ctrl+Home")
    hand.do("join_lines")
    assert hand.text() == "a b\nc\n"
    hand.do("select_all", "tab")
    assert hand.text() == "    a b\n    c\n"
    hand.keys("Shift+Tab")
    assert hand.text() == "a b\nc\n"


def test_indentation_is_found_in_the_text(opened):
    hand = opened("a:\n  b\n  c\n")
    assert hand.editor.indent.width == 2
    hand.keys("Ctrl+End", "Tab")
    assert hand.text().endswith("\n  ")


def test_brackets_and_going_to_them(opened):
    hand = opened("f(a, (b), c)\n")
    hand.keys("Right")
    assert hand.editor.brackets == (Position(0, 1), Position(0, 11))
    hand.do("to_bracket")
    assert hand.caret == (0, 12)


def test_overwriting(opened):
    hand = opened("abc\n")
    hand.keys("Ins")
    hand.type("X")
    assert hand.text() == "Xbc\n"
    hand.keys("Ins")
    hand.type("Y")
    assert hand.text() == "XYbc\n"


def test_mouse_clicks_put_the_caret_and_select(opened):
    hand = opened("alpha beta gamma\nsecond line\n")
    hand.click((0, 8))
    assert hand.caret == (0, 8)
    hand.click((1, 3), SHIFT)
    assert hand.selection == ((0, 8), (1, 3))
    view = hand.editor.viewport()
    QTest.mouseDClick(view, Qt.MouseButton.LeftButton, pos=hand.point((0, 8)))
    hand.settle()
    assert hand.selection == ((0, 6), (0, 10))
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=hand.point((0, 8)))
    hand.settle()
    assert hand.selection == ((0, 0), (1, 0))
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPoint(3, hand.point((1, 0)).y()))
    hand.settle()
    assert hand.selection == ((1, 0), (2, 0))


def test_dragging_the_mouse_selects(opened):
    hand = opened("alpha beta gamma\nsecond line\n")
    view = hand.editor.viewport()
    QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=hand.point((0, 2)))
    QTest.mouseMove(view, hand.point((1, 4)))
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=hand.point((1, 4)))
    hand.settle()
    assert hand.selection == ((0, 2), (1, 4))


def test_the_selection_is_moved_as_one_step(opened):
    hand = opened("one two three\n")
    hand.select((0, 0), (0, 4))
    hand.editor.queue.run(lambda: hand.editor.move_selection(Position(0, 8)))
    assert hand.text() == "two one three\n"
    assert hand.selection == ((0, 4), (0, 8))
    hand.do("undo")
    assert hand.text() == "one two three\n"


def test_dropped_text_goes_where_it_is_dropped(opened):
    hand = opened("ab\n")
    data = QMimeData()
    data.setText("xyz")
    point = QPointF(hand.point((0, 1)))
    event = QDropEvent(point, Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    hand.editor.dropEvent(event)  # Qt delivers it only while something is really dragged
    assert hand.text() == "axyzb\n"


def test_the_primary_selection_where_the_system_has_one(opened):
    hand = opened("ab\n")
    if QGuiApplication.clipboard().supportsSelection():
        QGuiApplication.clipboard().setText("P", QClipboard.Mode.Selection)
        QTest.mouseClick(hand.editor.viewport(), Qt.MouseButton.MiddleButton, pos=hand.point((0, 1)))
        assert hand.text() == "aPb\n"
    else:
        QTest.mouseClick(hand.editor.viewport(), Qt.MouseButton.MiddleButton, pos=hand.point((0, 1)))
        assert hand.text() == "ab\n"


def test_wrapped_lines_hang_and_the_caret_goes_by_rows(opened):
    hand = opened("    " + "word " * 60 + "\nnext\n")
    hand.do("toggle_wrap")
    shape = hand.editor.shape_of(0)
    assert shape.rows > 2
    assert shape.layout.lineAt(1).x() >= 4 * hand.editor.layouts.char_width
    hand.keys("Down")
    assert hand.caret[0] == 0
    assert hand.editor.caret_rect(Position(*hand.caret)).top() == hand.editor.layouts.row_height
    hand.keys("End")
    row, _ = shape.place(hand.caret[1])
    assert row == 1
    for _ in range(shape.rows - 1):
        hand.keys("Down")
    assert hand.caret[0] == 1
    hand.do("toggle_wrap")
    assert hand.editor.shape_of(0).rows == 1


def test_zoom_and_blanks_change_the_picture_and_nothing_else(opened):
    hand = opened("a\tb c\n")
    height = hand.editor.layouts.row_height
    hand.do("zoom_in", "zoom_in", "toggle_blanks")
    assert hand.editor.layouts.row_height > height
    hand.do("zoom_reset")
    assert hand.editor.layouts.row_height == height
    assert hand.text() == "a\tb c\n"
    assert not hand.document.dirty


def test_a_read_only_file_takes_no_edit_and_says_so(opened):
    hand = opened("abc\n")
    hand.document.info.read_only = True
    hand.type("x")
    hand.keys("Backspace", "Del", "Tab", "Return")
    hand.do("paste")
    assert {error.kind for error in hand.failures} == {"read_only"}
    assert hand.text() == "abc\n"


def test_a_gutter_row_is_level_with_its_text_row(opened):
    hand = opened("M\n" * 40)
    image = hand.editor.viewport().grab().toImage()
    ratio = image.devicePixelRatio()
    width = round(hand.editor.gutter_width() * ratio)
    page = image.pixelColor(image.width() - 3, image.height() // 2).rgb()
    gutter = image.pixelColor(1, image.height() // 2).rgb()
    for row in range(2, 8):
        top = round(row * hand.editor.layouts.row_height * ratio)
        bottom = round((row + 1) * hand.editor.layouts.row_height * ratio)

        def last_inked(columns, ground, top=top, bottom=bottom):
            return max(y for y in range(top, bottom) for x in columns if image.pixelColor(x, y).rgb() != ground)

        in_text = last_inked(range(width + 3, width + 12), page)
        in_gutter = last_inked(range(4, width - 3), gutter)
        assert abs(in_text - in_gutter) <= 1


def test_a_selection_is_painted_without_seams_over_rows_and_mixed_directions(opened):
    hand = opened("MMMMMMMM\n" * 6 + "abc שלום def\n")
    hand.do("select_all")
    image = hand.editor.viewport().grab().toImage()
    ground = hand.editor.colors.selection.rgb()
    x = hand.editor.gutter_width() + 5
    for at in (round(x + 1.5 * hand.editor.layouts.char_width), round(x + 8.1 * hand.editor.layouts.char_width)):
        rows = [y for y in range(6 * hand.editor.layouts.row_height) if image.pixelColor(at, y).rgb() == ground]
        seams = {y % hand.editor.layouts.row_height for y in range(6 * hand.editor.layouts.row_height)} - {
            y % hand.editor.layouts.row_height for y in rows
        }
        assert not {0, hand.editor.layouts.row_height - 1} & seams
    row = hand.editor.layouts.row_height * 6 + hand.editor.layouts.row_height // 2
    assert any(image.pixelColor(at, row).rgb() == ground for at in range(x, x + 80))


def test_lines_in_the_middle_of_a_large_file(opened):
    text = "".join(f"line {n}\n" for n in range(200_000))
    hand = opened(text)
    assert len(hand.document.lines) < 3_000
    hand.editor.go_to(100_000, 4)
    hand.type("X")
    assert hand.document.lines.get(100_000).text == "lineX 100000"
    hand.keys("Ctrl+End")
    hand.type("last")
    hand.keys("Ctrl+Home", "PgDown", "PgDown")
    hand.type("Y")
    place = hand.caret
    after = hand.text().split("\n")
    assert after[100_000] == "lineX 100000"
    assert after[-1] == "last"
    assert after[place[0]] == f"Yline {place[0]}"
    assert len(hand.document.lines) < 3_000


def test_A25_one_long_line_is_shown_and_edited_by_its_columns(opened):
    hand = opened("abcdefghij" * 200_000)
    assert hand.document.lines.get(0).length == 2_000_000
    hand.keys("End")
    assert hand.caret == (0, 2_000_000)
    hand.type("END\n")
    assert hand.document.total == 2
    hand.keys("Backspace", "Home")
    hand.type("🚫")
    hand.editor.go_to(0, 1_000_000)
    hand.settle()
    rect = hand.editor.caret_rect(Position(0, 1_000_000))
    assert 0 < rect.left() < hand.editor.viewport().width()
    hand.type("M")
    hand.keys("Backspace", "Left", "Del", "Ctrl+Right")
    text = hand.text()
    assert text == ("🚫" + "abcdefghij" * 200_000)[:999_999] + ("🚫" + "abcdefghij" * 200_000)[1_000_000:] + "END"
    assert len(hand.document.lines.get(0).text) < 50_000


def test_A25_a_long_line_is_copied_whole(opened):
    text = "".join(f"{n:07} " for n in range(50_000))
    hand = opened(f"first\n{text}\nlast")
    QGuiApplication.clipboard().setText("")
    hand.do("select_all", "copy")
    wait(hand.clipboard, "the clipboard")
    assert hand.clipboard() == f"first\n{text}\nlast"


def test_A25_a_line_of_nul_characters(opened):
    hand = opened(b"\0" * 300_000)
    hand.keys("Right", "Del", "End")
    hand.type("x")
    assert hand.save() == b"\0" * 299_999 + b"x"


def test_a_change_from_elsewhere_moves_the_caret_with_its_text(opened, core):
    hand = opened("one\ntwo\nthree\n")
    hand.editor.go_to(2, 3)
    hand.settle()
    call(
        core, "buffer.replace", ReplaceParams(hand.document.buffer, hand.document.revision, (0, 0), (1, 0), "0\n1\n2\n")
    )
    assert hand.text() == "0\n1\n2\ntwo\nthree\n"
    assert hand.caret == (4, 3)


def test_typed_text_that_the_core_refuses_is_handed_back(opened, core):
    hand = opened("one two three\n")
    hand.select((0, 4), (0, 7))
    done = []
    # In the core before the key; in the window after it.
    core.call(
        "buffer.replace",
        ReplaceParams(hand.document.buffer, hand.document.revision, (0, 2), (0, 9), "X"),
        done.append,
        pytest.fail,
    )
    QTest.keyClicks(hand.editor, "lost?")
    wait(lambda: hand.refusals, "the refusal")
    assert hand.text() == "onXhree\n"
    assert hand.refusals[0][0] == ["lost?"]
    assert hand.refusals[0][1].kind == "stale"
    hand.type("on")
    assert hand.text().count("on") == 2


def test_an_editor_whose_lines_have_not_come_queues_what_is_typed(opened):
    hand = opened("".join(f"line {n}\n" for n in range(50_000)))
    hand.editor.move_caret("document_end")
    QTest.keyClicks(hand.editor, "abc")
    hand.editor.do("newline")
    QTest.keyClicks(hand.editor, "def")
    assert not hand.editor.queue.empty
    hand.settle()
    assert hand.text().endswith("line 49999\nabc\ndef")
