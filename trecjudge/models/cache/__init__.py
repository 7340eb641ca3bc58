"""The SQLite cache: `replies` by exact request, `batches` under way, `upkeep` of the file.

`schema` says what a sound file is, `salvage` saves what can be read of a damaged one (`pages`),
`foreign` reads those of others, `manifest` and `verify` say what a published one holds.
"""
