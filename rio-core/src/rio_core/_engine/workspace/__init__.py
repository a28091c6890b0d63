"""The project's files: one root, confined by opening; listing, capped reading, searching; what is protected and why."""
