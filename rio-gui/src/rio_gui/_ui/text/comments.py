"""What makes a line a comment, by the name of the file."""

from pathlib import PurePosixPath
from typing import Final

_BY_SIGN: Final = {
    "#": "py pyi sh bash zsh toml yaml yml rb pl r cfg conf mk cmake tf nim jl ex exs dockerfile makefile gitignore",
    "//": "c h cc cpp cxx hh hpp hxx java js jsx mjs ts tsx go rs swift kt kts scala cs php dart scss less zig json5",
    "--": "sql lua hs elm ada adb ads vhd",
    ";": "ini asm s el lisp clj scm",
    "%": "tex sty bib erl m",
    '"': "vim",
}
_SIGNS: Final = {name: sign for sign, names in _BY_SIGN.items() for name in names.split()}


def line_comment(path: str | None) -> str | None:
    """The sign that begins a comment in a file of this name; None where it is not known."""
    if path is None:
        return None
    name = PurePosixPath(path).name.lower()
    return _SIGNS.get(name.rpartition(".")[2])
