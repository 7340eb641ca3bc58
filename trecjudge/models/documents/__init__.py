"""Documents wherever they are: every kind of `--documents` opened, and services asked for some."""
