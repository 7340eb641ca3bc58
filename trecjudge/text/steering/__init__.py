"""Text that tries to steer the judge: its patterns, and its disguises."""
