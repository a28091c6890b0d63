"""The parts of the window. Private."""
