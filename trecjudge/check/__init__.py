"""The input doctor: would the track's own validator take these runs, and can they be mended?

The rules of every track are data in `rules.yml`; a new track is an entry there.
"""
