"""Finding and replacing in the window: keys in, text and marks out."""

import pytest
from PySide6.QtGui import QFont, QFontDatabase, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel

from gui.harness import call, wait
from rio_core.protocol.ops.buffer import TextParams
from rio_gui._ui.window.commands import MENUS
from rio_gui._ui.window.find_bar import History
from rio_gui._ui.window.main_window import MainWindow


class Desk:
    """A window with a file, and what a person does there."""

    def __init__(self, core, path):
        font = QFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        font.setPointSizeF(10)
        self.core = core
        self.window = MainWindow(core, font)
        self.window.show()
        self.window.activateWindow()
        self.open(path)

    def open(self, path, *where):
        self.window.tabs.open(str(path), *where)
        wait(lambda: any(e.document.info.path == str(path) for e in self.window.tabs.editors()), "the tab")
        wait(lambda: all(line.shape for line in self.editor.visible_lines()), "its lines")

    @property
    def editor(self):
        return self.window.tabs.current()

    @property
    def finder(self):
        return self.window.finding.finder

    @property
    def bar(self):
        return self.finder.bar

    def key(self, *names, widget=None):
        for name in names:
            self.window.activateWindow()
            QApplication.processEvents()
            target = widget or self.window.focusWidget()
            combination = QKeySequence(name)[0]
            QTest.keyClick(target, combination.key(), combination.keyboardModifiers())
            self.settle()

    def type(self, text):
        QTest.keyClicks(self.window.focusWidget(), text)
        self.settle()

    def settle(self):
        finding = self.window.finding._finder

        def settled():
            idle = finding is None or not (finding._pause.isActive() or finding.bar._stop.isEnabled())
            return idle and (self.editor is None or (self.editor.document.settled and self.editor.queue.empty))

        wait(settled, "the end of the search")

    def check(self, *names):
        for name in names:
            self.bar.options[name].click()
            self.settle()

    def replace_with(self, text):
        self.bar.replacement.setEditText(text)

    @property
    def selection(self):
        return tuple(map(tuple, self.editor.selection))

    @property
    def count(self):
        return self.bar.count.text()

    @property
    def marks(self):
        return [tuple(map(tuple, hit)) for hit in self.finder._marks.hits]

    @property
    def text(self):
        self.settle()
        return call(self.core, "buffer.text", TextParams(self.editor.document.buffer)).text


@pytest.fixture
def desk(core, tmp_path, qapp):
    desks = []

    def make(text, *where):
        path = tmp_path / "file.txt"
        path.write_bytes(text.encode())
        desks.append(Desk(core, path))
        if where:
            desks[-1].editor.go_to(*where)
        desks[-1].settle()
        return desks[-1]

    yield make
    for made in desks:
        window = made.window
        for editor in window.tabs.editors():
            editor.document._dirty_in_core = editor.document.dirty = False
        window.close()
        wait(lambda at=window: not at.isVisible(), "the end of the window")
        window.deleteLater()
        QApplication.processEvents()


def test_what_is_typed_is_found_from_the_caret_on_and_counted(desk):
    d = desk("foo\nbar foo\nfoo\n", 1, 0)
    d.key("Ctrl+F")
    d.type("foo")
    assert d.selection == ((1, 4), (1, 7))
    assert d.count == "2 of 3"
    assert d.marks == [((0, 0), (0, 3)), ((1, 4), (1, 7)), ((2, 0), (2, 3))]
    d.key("Return")
    assert (d.selection, d.count) == (((2, 0), (2, 3)), "3 of 3")
    d.key("Return")
    assert (d.selection, d.count) == (((0, 0), (0, 3)), "1 of 3")
    d.key("Shift+Return")
    assert (d.selection, d.count) == (((2, 0), (2, 3)), "3 of 3")
    d.type("x")
    assert d.count == "No match"


def test_escape_puts_the_caret_back_where_it_was(desk):
    d = desk("one\ntwo\nthree\n", 1, 2)
    d.key("Ctrl+F")
    d.type("three")
    assert d.selection == ((2, 0), (2, 5))
    d.key("Esc")
    assert d.selection == ((1, 2), (1, 2))
    assert d.window.focusWidget() is d.editor
    assert not d.bar.isVisible()


def test_escape_after_going_to_a_hit_stays_there(desk):
    d = desk("one\ntwo\ntwo\n")
    d.key("Ctrl+F")
    d.type("two")
    d.key("Return", "Esc")
    assert d.selection == ((2, 0), (2, 3))


def test_f3_goes_on_without_the_bar_and_is_modeless(desk):
    d = desk("a b a b a\n")
    d.key("Ctrl+F")
    d.type("a")
    d.key("Esc", "F3")
    assert d.selection == ((0, 0), (0, 1))
    d.key("F3")
    assert d.selection == ((0, 4), (0, 5))
    d.key("Shift+F3")
    assert d.selection == ((0, 0), (0, 1))
    d.type("x")
    assert d.text == "x b a b a\n"
    d.key("F3")
    assert d.selection == ((0, 4), (0, 5))


def test_marks_follow_what_is_typed_while_the_bar_stays(desk):
    d = desk("foo foo\n")
    d.key("Ctrl+F")
    d.type("foo")
    d.editor.setFocus()
    d.key("Home")
    d.type("x")
    assert d.marks == [((0, 1), (0, 4)), ((0, 5), (0, 8))]
    d.type("foo")
    assert len(d.marks) == 3
    assert d.bar.isVisible()


def test_the_options_count(desk):
    d = desk("Foo foo food\n")
    d.key("Ctrl+F")
    d.type("foo")
    assert d.count == "1 of 3"
    d.check("case")
    assert len(d.marks) == 2
    d.check("word")
    assert d.marks == [((0, 4), (0, 7))]
    d.check("case", "word", "regex")
    d.bar.pattern.setEditText("fo+d?$")
    d.settle()
    assert d.marks == [((0, 8), (0, 12))]


def test_an_unfinished_expression_is_said_in_the_bar(desk):
    d = desk("(a)\n")
    d.key("Ctrl+F")
    d.check("regex")
    d.bar.pattern.setEditText("(")
    d.settle()
    assert "cannot be searched for" in d.count
    d.bar.pattern.setEditText("(a)")
    d.settle()
    assert "match" in d.count or "of" in d.count
    assert len(d.marks) == 1


def test_the_selected_text_is_what_is_to_be_found(desk):
    d = desk("foo bar\nbar\n")
    d.key("Ctrl+Shift+Right", "Ctrl+F")
    assert d.bar.pattern.currentText().strip() == "foo"


def test_replace_one_after_the_other(desk):
    d = desk("foo foo foo\n")
    d.key("Ctrl+H")
    d.type("foo")
    d.replace_with("foofoo")
    d.finder.replace()
    d.settle()
    assert d.text == "foofoo foo foo\n"
    assert d.selection == ((0, 7), (0, 10))
    d.finder.replace()
    d.settle()
    d.finder.replace()
    assert d.text == "foofoo foofoo foofoo\n"
    d.settle()
    assert d.count == "No more to the end"
    d.editor.setFocus()
    d.key("Ctrl+Z")
    assert d.text == "foofoo foofoo foo\n"


def test_A16_S22_replace_all_is_the_whole_text_and_one_step(desk):
    d = desk("foo\nfoo\nfoo\n", 1, 2)
    d.key("Ctrl+H")
    d.bar.pattern.setEditText("foo")
    d.finder.leave()
    d.editor.go_to(1, 2)
    d.key("Ctrl+H")
    d.replace_with("x")
    d.settle()
    d.editor.setFocus()
    d.editor.go_to(1, 2)
    d.finder.replace_all()
    d.settle()
    assert d.text == "x\nx\nx\n"
    assert d.count == "3 replaced"
    d.key("Ctrl+Z", widget=d.editor)
    assert d.text == "foo\nfoo\nfoo\n"
    assert d.selection == ((1, 2), (1, 2))
    d.key("Ctrl+Y", widget=d.editor)
    assert d.text == "x\nx\nx\n"


def test_replace_all_in_a_large_text_keeps_window_and_core_equal(desk):
    d = desk("a b\n" * 200_000, 100_000, 2)
    d.key("Ctrl+H")
    d.bar.pattern.setEditText("a")
    d.replace_with("long\u20ac")
    d.settle()
    before = d.selection
    d.finder.replace_all()
    wait(lambda: d.count == "200000 replaced", "the replacement")

    def shown():
        lines = [d.editor.document.lines.get(line.number) for line in d.editor.visible_lines()]
        return {line and line.text for line in lines}

    wait(lambda: shown() == {"long\u20ac b"}, "the new lines")
    assert d.editor.document.total == 200_001
    d.key("Ctrl+Z", widget=d.editor)
    wait(lambda: shown() == {"a b"}, "the old ones")
    assert d.selection == before


def test_S23_only_in_the_selection_and_that_does_not_grow(desk):
    d = desk("a\n" * 6)
    d.key("Shift+Down", "Shift+Down", "Shift+Down", "Ctrl+H")
    assert d.bar.checked("within")
    d.bar.pattern.setEditText("a")
    d.replace_with("aa")
    d.settle()
    d.finder.replace_all()
    assert d.text == "aa\n" * 3 + "a\n" * 3
    d.finder.replace_all()
    assert d.text == "aaaa\n" * 3 + "a\n" * 3
    d.check("within")
    d.finder.replace_all()
    assert d.text == "a" * 8 + "\n" + "a" * 8 + "\n" + "a" * 8 + "\n" + "aa\n" * 3


@pytest.mark.parametrize("pattern", [".*", "^", "$", "x*", "(?=a)"])
def test_A19_replace_repeated_does_what_replace_all_does(desk, pattern):
    d = desk("a\n\nb")
    d.key("Ctrl+H")
    d.check("regex")
    d.bar.pattern.setEditText(pattern)
    d.replace_with(">")
    d.settle()
    d.finder.replace_all()
    all_at_once = d.text
    d.settle()
    d.key("Ctrl+Z", "Ctrl+Home", widget=d.editor)
    assert d.text == "a\n\nb"
    presses = 0
    d.finder.next() if pattern == "$" else None
    d.settle()
    while d.count != "No more to the end":
        d.finder.replace()
        d.settle()
        presses += 1
        assert presses < 10
    assert d.text == all_at_once


def test_A21_one_types_and_stops_while_an_expression_runs_for_ever(desk):
    d = desk("x" * 200 + "\n")
    d.key("Ctrl+F")
    d.check("regex")
    d.bar.pattern.setEditText("^(.*)+ ")
    wait(d.bar._stop.isEnabled, "the search")
    d.editor.setFocus()
    QTest.keyClicks(d.editor, "typed ")
    wait(lambda: d.editor.document.settled, "the answer to what was typed")
    wait(d.bar._stop.isEnabled, "the next search")
    d.bar._stop.click()
    wait(lambda: d.count == "The search was stopped.", "the word")
    assert d.text.startswith("typed xxx")


def test_history_keeps_what_was_used(desk):
    d = desk("a b\n")
    d.key("Ctrl+F")
    for text in ("a", "b", "a"):
        d.bar.pattern.setEditText(text)
        d.settle()
        d.finder.next()
        d.settle()
    assert [d.bar.pattern.itemText(n) for n in range(d.bar.pattern.count())] == ["a", "b"]


def test_a_history_ends_somewhere(qapp):
    history = History("x")
    for number in range(100):
        history.setEditText(str(number))
        history.remember()
    assert (history.count(), history.itemText(0), history.currentText()) == (30, "99", "99")
    history.deleteLater()


def test_marks_are_painted_in_a_colour_that_text_can_be_read_on(desk):
    d = desk("aaa bbb\n", 0, 7)
    d.key("Ctrl+F")
    d.type("aaa")
    d.editor.go_to(0, 7)
    d.settle()
    image = d.editor.viewport().grab().toImage()
    colors = {image.pixelColor(x, 4).name() for x in range(image.width())}
    assert d.editor.colors.found.name() in colors


def test_every_access_letter_of_the_bar_is_its_own(desk):
    d = desk("")
    d.key("Ctrl+H")
    widgets = [widget for kind in (QLabel, QAbstractButton) for widget in d.bar.findChildren(kind)]
    letters = [w.text()[w.text().index("&") + 1].lower() for w in widgets if "&" in w.text()]
    letters += [title[title.index("&") + 1].lower() for title in MENUS.values()]
    assert len(set(letters)) == len(letters)
    for box in d.bar.findChildren(QAbstractButton):
        assert not box.text() or "&" in box.text()


def test_tab_goes_through_the_fields_then_the_options_then_the_buttons(desk):
    d = desk("a\n")
    d.key("Ctrl+H")
    seen = []
    for _ in range(7):
        QTest.keyClick(d.window.focusWidget(), "\t")
        seen.append(d.window.focusWidget())
    options = list(d.bar.options.values())
    assert seen == [d.bar.replacement, *options, d.bar._previous, d.bar._next]


def test_another_tab_is_searched_when_it_comes_forward(desk, tmp_path):
    d = desk("a\n")
    (tmp_path / "other").write_text("b a a\n")
    d.key("Ctrl+F")
    d.type("a")
    d.open(tmp_path / "other")
    d.settle()
    assert d.marks == [((0, 2), (0, 3)), ((0, 4), (0, 5))]
    d.window.tabs.close_editor(d.editor)
    wait(lambda: d.window.tabs.count() == 1, "the end of the tab")
    d.settle()
    assert d.marks == [((0, 0), (0, 1))]


# In files


@pytest.fixture
def project(desk, tmp_path):
    (tmp_path / "p").mkdir()
    for name, text in {"a.py": "x\nfoo(1)\n", "b.py": "Foo\nfoo foo\n", "c.txt": "foo\n"}.items():
        (tmp_path / "p" / name).write_text(text)
    d = desk("outside\n")
    d.window.open_project(str(tmp_path / "p"))
    wait(d.window.actions_["search.find_in_files"].isEnabled, "the project")
    return d


def test_hits_in_files_are_listed_and_opened_one_after_the_other(project):
    d = project
    d.key("Ctrl+Shift+F")
    dock = d.window.finding.files
    assert dock.isVisible()
    d.type("foo")
    dock._glob.setText("*.py")
    d.key("Return")
    wait(dock._hits, "the hits")
    assert [item.text(0) for item in dock._hits()] == ["2: foo(1)", "1: Foo", "2: foo foo"]
    assert dock._said.text() == "3 lines in 2 files"

    def at(name, place):
        front = d.window.tabs.current()
        return front is not None and d.window.tabs.name(front) == name and tuple(front.selection[1]) == place

    d.key("Return", widget=dock._list)
    wait(lambda: at("a.py", (1, 0)), "the first hit")
    d.key("F4")
    wait(lambda: at("b.py", (0, 0)), "the next")
    d.key("F4")
    wait(lambda: at("b.py", (1, 0)), "the third")
    d.key("Shift+F4")
    wait(lambda: at("b.py", (0, 0)), "the one before")
    assert dock.isVisible()


def test_a_search_in_files_that_cannot_be_done_keeps_the_list(project):
    d = project
    d.key("Ctrl+Shift+F")
    dock = d.window.finding.files
    d.type("foo")
    d.key("Return")
    wait(dock._hits, "the hits")
    dock._regex.click()
    dock._pattern.setEditText("(")
    dock.search()
    wait(lambda: not dock._stop.isEnabled(), "the answer")
    assert "pattern" in dock._said.text() or "ripgrep" in dock._said.text()
    assert dock._hits()
