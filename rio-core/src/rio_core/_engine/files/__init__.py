"""Files: the only place where the core writes one.

reading   regular files in blocks, and the stamp by which a change on disk is seen
writing   saving, and private files
inplace   overwriting where a rename would lose something
errors    what the system refuses, with the next action
"""

from rio_core._engine.files.reading import Reading, Stamp, is_same, read, status_of
from rio_core._engine.files.writing import save, stamp_if_written, write_private

__all__ = ["Reading", "Stamp", "is_same", "read", "save", "stamp_if_written", "status_of", "write_private"]
