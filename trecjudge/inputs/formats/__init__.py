"""Run formats: rows of `registry`, and modules found in this folder.

A format is a module with `NAME`, `DATASET` (`rag`, `ragtime`, `dragun` or `any`), `SUMMARY` (one
line), `claims(record)` and `draft(record)`; nothing else needs to know of it. Formats are asked in
order of `RANK` (100 where a module has none), then of their names.
"""
