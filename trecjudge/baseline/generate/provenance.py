"""Writes where each sentence of a run is from, to `NAME.provenance.jsonl` beside it."""
