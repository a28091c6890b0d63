import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rio_core._engine.workspace.paths import model_name, parse, render, shown, unescape
from rio_core.protocol.errors import RioError
from support.profiles import examples

raw_names = st.binary(min_size=1, max_size=30).filter(lambda raw: not set(raw) & {0, 0x2F} and raw not in (b".", b".."))
names = raw_names.map(os.fsdecode)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".", ()),
        ("a//b/./c/", ("a", "b", "c")),
        ("a/../b", ("a", "..", "b")),
        ("/a/b", ("a", "b")),
        ("~", ("~",)),
        ("a/~/b", ("a", "~", "b")),
        ("./~user/x", ("~user", "x")),
        ("~$report.docx", ("~$report.docx",)),
        ("caf\udce9", ("caf\udce9",)),
        ("a\nb", ("a\nb",)),
    ],
)
def test_names_of_a_path(path: str, expected: tuple[str, ...]) -> None:
    assert parse(path) == expected


@pytest.mark.parametrize("path", ["", "a\0b", "a/\ud800", "x" * 256, "é" * 128, "a/" * 2049, "x" * 5000])
def test_P13_what_no_file_can_be_called_is_refused_in_one_plain_line(path: str) -> None:
    with pytest.raises(RioError) as caught:
        parse(path)
    assert caught.value.kind == "bad_message"
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 300


@pytest.mark.parametrize("path", ["~/x.txt", "~root/x", "~root", "~/", "~/../x"])
def test_C3_a_home_folder_is_outside(path: str) -> None:
    with pytest.raises(RioError) as caught:
        parse(path)
    assert caught.value.kind == "outside"


@given(st.lists(names, max_size=5))
@examples(ci=200, deep=2000)
def test_S31_a_rendered_path_gives_its_names_back(parts: list[str]) -> None:
    assert parse(render(parts)) == tuple(parts)


@given(st.lists(names, min_size=1, max_size=3))
@examples(ci=200, deep=2000)
def test_T6_what_a_model_reads_is_plain_and_leads_back(parts: list[str]) -> None:
    path = "/".join(parts)
    seen = model_name(path)
    assert seen.isprintable()
    seen.encode()
    assert unescape(seen) == path


@pytest.mark.parametrize("text", [r"a\x00", r"a\x2Fb", r"a\u{2F}b", r"a\u{D800}", r"a\u{110000}", r"a\q", "a\\"])
def test_escapes_that_name_nothing_stay_as_they_stand(text: str) -> None:
    assert unescape(text) == text


def test_a_long_path_is_shown_cut() -> None:
    assert len(shown("x" * 5000)) <= 201
