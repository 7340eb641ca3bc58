"""Text without a model: words, numbers, sentences and what they tell, in any script."""
