"""A directory entry that is held by its folder's handle."""

import os
from dataclasses import dataclass
from types import TracebackType
from typing import Self


@dataclass
class Place:
    """A name in an open folder. No later rename or link swap above it can move it.

    `folder` is a directory descriptor (O_RDONLY | O_DIRECTORY | O_CLOEXEC) that this object owns. `name` is the last
    part, with undecodable bytes as surrogate escapes; after resolving it is not a symbolic link, and it may not exist.
    `shown` is how messages name it.
    """

    folder: int
    name: str
    shown: str

    def close(self) -> None:
        """Give the folder's handle back. Closing twice does nothing."""
        folder, self.folder = self.folder, -1
        if folder >= 0:
            os.close(folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
