"""Attestation: whether a document supports a sentence."""
