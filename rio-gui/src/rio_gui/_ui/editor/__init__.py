"""The editor widget: a view that lays out and paints only the lines on the screen."""
