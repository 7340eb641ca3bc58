"""The commands beside the main job. Only they and run_judge.py print and exit."""
