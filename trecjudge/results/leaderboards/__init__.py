"""Leaderboard files of every tool of the field: found, told apart, read and written."""
