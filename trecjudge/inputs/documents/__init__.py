"""Documents: as runs carry them (`record`), and given beside the runs (`store`)."""
