"""Banks of nuggets: their formats (a row each of `bank_formats`), their files, and labels."""
