"""Text that would steer who judges: its kinds, and how it hides."""
