"""Uncertainty, tests, correlation and agreement: pure functions on arrays and leaderboard rows."""
