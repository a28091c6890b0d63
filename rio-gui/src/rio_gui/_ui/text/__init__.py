"""What a line of text is: columns and units, characters as people see them, words, indentation. No widgets."""
