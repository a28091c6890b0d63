"""The window's copy of a document that the core owns: the lines it has seen, and the edits not yet answered. No Qt."""
