"""Finding and replacing in a document.

seen      the text as patterns see it, with one kind of line end
pattern   what is looked for, compiled
template  the replacement of a regular expression
hits      which matches count, and collecting them
literal   plain text, looked for in the core's own process, window by window
child     regular expressions, in a process that can be killed
finder    both, with one answer and one time limit
"""
