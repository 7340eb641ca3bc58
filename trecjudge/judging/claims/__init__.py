"""Judging claims: finding them in a response, and checking them against its documents."""
