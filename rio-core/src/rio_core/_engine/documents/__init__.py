"""Documents: exact text, encodings, edits with revisions, undo, and the files behind them.

lines     the one line rule
text      chunked storage
encoding  bytes to text and back
edits     positions, edits, and carrying an edit over what came since
hunks     a new text as the few edits that make it
undo      the undo stack
buffer    a document: everything that changes one goes through it
store     all documents, and their files
"""
