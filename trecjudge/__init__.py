"""The framework behind run_judge.py: read runs, judge them item by item, score, write files."""

__version__ = "0.1.0"
