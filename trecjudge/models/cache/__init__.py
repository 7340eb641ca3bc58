"""The SQLite cache of replies by exact request (`store`), shared by several processes.

`schema` says what is in a file, `cache_file` opens one and sets a damaged one aside, `readonly`
reads the caches of others and their manifests, `request_locks` tells what is asked elsewhere, and
`upkeep` does what the command `cache` offers.
"""
