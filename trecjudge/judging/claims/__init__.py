"""Judging claims: taking them from a response, and holding them against its documents."""
