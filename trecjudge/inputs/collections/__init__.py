"""Collections too large to hold: only the documents that are wanted are read, and kept."""
