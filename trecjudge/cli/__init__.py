"""The commands beside the main job; together with run_judge.py all that prints and exits."""
