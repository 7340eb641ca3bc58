"""The framework behind run_judge.py: read runs, judge them item by item, score, write files."""
