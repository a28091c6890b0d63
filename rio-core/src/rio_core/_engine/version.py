"""The version of this distribution."""

from typing import Final

__all__ = ["VERSION"]

VERSION: Final = "0.1.0"
"""Kept equal to pyproject.toml by a test: reading the installed metadata would cost 40 ms of every start."""
