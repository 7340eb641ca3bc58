"""Runs made: answers from what was retrieved, with citations, and where each is from."""
