"""Bare pairs of a sentence and a document: read, judged by words, compared with labels."""
