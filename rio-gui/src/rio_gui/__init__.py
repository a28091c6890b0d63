"""The window of rio. What plugins may use is in `rio_gui.api`; everything else is private."""
