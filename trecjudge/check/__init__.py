"""Check run files against the rules of their track, and write repaired copies.

The rules of every track are data in `rules.yml`; a new track is an entry there.
"""
