"""From judgments to numbers: means, bounds, corrections by people, review."""
