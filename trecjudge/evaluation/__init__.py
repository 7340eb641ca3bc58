"""What the statistics commands work on and show: files in, tables out, the figures from `stats`."""
