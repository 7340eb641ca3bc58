"""Leaderboard files of every tool of the field: found, recognised, read and written."""
