"""Words held against words: a sentence or a topic against a document, without a model."""
