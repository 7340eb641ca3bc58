"""Model replies by exact request, in SQLite: `store` reads and writes, `upkeep` looks after."""
