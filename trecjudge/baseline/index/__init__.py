"""Where chunks of documents are kept and searched: one SQLite file, or PostgreSQL."""
