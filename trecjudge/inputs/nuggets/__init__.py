"""Banks of nuggets: their formats (a row each of `registry`), read, written, and labels of them."""
