"""A judge tried in every way at once, for its card."""
