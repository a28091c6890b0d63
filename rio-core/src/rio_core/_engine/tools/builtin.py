"""The tools that every turn has."""

from typing import Annotated

from msgspec import Meta, Struct

from rio_core._engine.tools.reads import Reads
from rio_core._engine.tools.toolbox import Answered, Draft, Tool, Toolbox

__all__ = ["toolbox"]

Path = Annotated[str, Meta(description="Path relative to the project's root, with `/`.")]


class ListInput(Struct, forbid_unknown_fields=True):
    """Input of fs_list."""

    path: Annotated[str, Meta(description="Folder, relative to the project's root. The root itself by default.")] = "."


class ReadInput(Struct, forbid_unknown_fields=True):
    """Input of fs_read."""

    path: Path
    first: Annotated[int, Meta(ge=1, description="First line to read, from 1.")] = 1
    count: Annotated[int, Meta(ge=1, description="How many lines to read.")] = 2000


class SearchInput(Struct, forbid_unknown_fields=True):
    """Input of fs_search."""

    pattern: Annotated[str, Meta(min_length=1, description="Text to find; a regular expression with `regex`.")]
    path: Annotated[str, Meta(description="Folder or file to search in. The whole project by default.")] = "."
    regex: Annotated[bool, Meta(description="Whether `pattern` is a regular expression.")] = False
    glob: Annotated[str | None, Meta(description="Only files whose path fits, such as `*.py` or `src/**/*.c`.")] = None


class NoInput(Struct, forbid_unknown_fields=True):
    """Input of a tool that takes none."""


class BufferInput(Struct, forbid_unknown_fields=True):
    """Input of buffer_text."""

    buffer: Annotated[str, Meta(description="Id of the buffer, from buffer_list.")]
    first: Annotated[int, Meta(ge=1, description="First line to read, from 1.")] = 1
    count: Annotated[int, Meta(ge=1, description="How many lines to read.")] = 2000


class EditInput(Struct, forbid_unknown_fields=True):
    """Input of propose_edit."""

    path: Path
    old: Annotated[
        str, Meta(description="The exact text to replace. It must occur exactly once; empty only for an empty file.")
    ]
    new: Annotated[str, Meta(description="The text to put in its place, taken literally.")]


class CreateInput(Struct, forbid_unknown_fields=True):
    """Input of propose_create."""

    path: Path
    text: Annotated[str, Meta(description="The whole text of the new file.")]


async def _propose_edit(given: EditInput) -> Answered | Draft:
    return Draft(kind="edit", path=given.path, old=given.old, new=given.new)


async def _propose_create(given: CreateInput) -> Answered | Draft:
    return Draft(kind="create", path=given.path, old="", new=given.text)


def toolbox(reads: Reads) -> Toolbox:
    """The built-in tools, reading through `reads`."""

    async def fs_list(given: ListInput) -> Answered:
        return await reads.list(given.path)

    async def fs_read(given: ReadInput) -> Answered:
        return await reads.file(given.path, given.first, given.count)

    async def fs_search(given: SearchInput) -> Answered:
        return await reads.search(given.pattern, given.path, regex=given.regex, glob=given.glob)

    async def buffer_list(given: NoInput) -> Answered:
        return reads.buffers()

    async def buffer_text(given: BufferInput) -> Answered:
        return await reads.buffer(given.buffer, given.first, given.count)

    return Toolbox(
        [
            Tool("fs_list", "List a folder of the project.", "read", ListInput, fs_list),
            Tool(
                "fs_read",
                "Read a text file of the project, or what the editor holds of it, as numbered lines.",
                "read",
                ReadInput,
                fs_read,
            ),
            Tool("fs_search", "Search the text files of the project.", "read", SearchInput, fs_search),
            Tool("buffer_list", "List what is open in the editor.", "read", NoInput, buffer_list),
            Tool(
                "buffer_text", "Read what is open in the editor, as numbered lines.", "read", BufferInput, buffer_text
            ),
            Tool(
                "propose_edit",
                "Propose to replace a piece of text in a file. The user decides; the result says what was done.",
                "write",
                EditInput,
                _propose_edit,
            ),
            Tool(
                "propose_create",
                "Propose a new file. The user decides; the result says what was done.",
                "write",
                CreateInput,
                _propose_create,
            ),
        ]
    )
