"""Banks of nuggets made: from documents, from runs, from topics; merged, traced, and edited."""
