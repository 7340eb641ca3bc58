"""Evaluation against people: reads files, and takes the figures from `stats`."""
