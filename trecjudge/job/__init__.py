"""A job: its workflow, judges, settings and inputs, and the order of its steps."""
