"""The SQLite cache: `replies` by exact request, `batches` under way, `upkeep` of the file.

`schema` has the tables and checks of a file, `salvage` saves what can be read of a damaged one
(`pages`), `foreign` reads the caches of others, `manifest` and `verify` describe published ones.
"""
