"""Text without a model: words, numbers, sentences and their meaning, in any script."""
