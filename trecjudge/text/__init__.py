"""Text without a model: tokens, sentences, and a lexical test of support."""
