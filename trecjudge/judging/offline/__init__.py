"""Comparison by words, without a model: of a sentence or a topic with a document."""
