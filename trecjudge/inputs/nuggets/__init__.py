"""Banks of nuggets: one module for each format, found by walking this folder.

A format is a module with `NAME`, `SUMMARY` (one line), `FILE_NAME` (of a topic's file in a folder),
`claims(record)`, `nuggets(entry)` and `record(bank)`; nothing else needs to know of it. Formats are
asked in order of `RANK` (100 where a module has none), then of their names.
"""
