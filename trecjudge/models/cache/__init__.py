"""The SQLite cache: `replies` by exact request, requests that other processes ask, and `upkeep`.

`schema` says what is in a file, `cache_file` opens one and sets a damaged one aside, `readonly`
reads the caches of others and their manifests.
"""
