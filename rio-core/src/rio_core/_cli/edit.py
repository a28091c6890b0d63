"""Changing a proposal's text in the user's own editor."""

import os
import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import anyio

from rio_core.protocol import RioError, visible_line

__all__ = ["edit_text"]

_ACTION = "Set EDITOR to your editor's command, or approve, reject or choose hunks instead."


async def edit_text(text: str, path: str, environment: Mapping[str, str] = os.environ) -> str:
    """The text as the user leaves it in $VISUAL, $EDITOR or vi, in a private file with the suffix of `path`.

    Editors end the last line when they save: where `text` did not end in a line end, one that was added is taken off.
    Raises RioError when there is no such editor, when it fails, or when its text cannot be used.
    """
    argv = _command(environment)
    suffix = "".join(char for char in PurePosixPath(path).suffix if char.isalnum() or char == ".")
    with tempfile.TemporaryDirectory(prefix="rio-") as folder:  # made with mode 0700
        file = Path(folder, f"proposal{suffix}")
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError:
            raise RioError("encoding", "The text cannot be written as UTF-8 for an editor.", _ACTION) from None
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
        await _run([*argv, str(file)], folder)
        return _read(file, text)


def _command(environment: Mapping[str, str]) -> list[str]:
    command = environment.get("VISUAL") or environment.get("EDITOR") or "vi"
    try:
        argv = shlex.split(command)
    except ValueError:
        argv = []
    if not argv:
        raise RioError("not_found", f"{visible_line(command)} is no command of an editor.", _ACTION)
    return argv


async def _run(argv: list[str], folder: str) -> None:
    try:
        # In the private folder, so that an editor reads no settings from the project.
        process = await anyio.open_process(argv, stdin=None, stdout=None, stderr=None, cwd=folder)
    except OSError as error:
        message = f"The editor {visible_line(argv[0])} cannot be started: {error.strerror or error}."
        raise RioError("not_found", message, _ACTION) from None
    async with process:
        status = await process.wait()
    if status:
        raise RioError("io", f"The editor {visible_line(argv[0])} ended with status {status}.", "Edit again.")


def _read(file: Path, before: str) -> str:
    try:
        text = file.read_bytes().decode("utf-8")
    except OSError as error:
        message = f"The edited text is not there: {error.strerror or error}."
        raise RioError("io", message, "Edit again and save under the same name.") from None
    except UnicodeDecodeError:
        raise RioError("encoding", "The edited text is not UTF-8.", "Edit again and save it as UTF-8.") from None
    text = text.replace("\r\n", "\n")
    if text.endswith("\n") and not before.endswith("\n"):
        text = text[:-1]
    return text
