"""Passages for a question: by words, by vectors, by both; and whether any answers it."""
