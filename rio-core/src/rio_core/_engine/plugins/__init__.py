"""Plugins: found without importing them, loaded each alone, run away from the documents, and contained."""
