"""A season: a shared task from the submissions to the archive, step by step, in one folder."""
