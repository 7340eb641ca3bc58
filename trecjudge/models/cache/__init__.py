"""The SQLite cache: `replies` by exact request, `batches` under way, `upkeep` of the file."""
