"""All that a person sees: pages, tables, charts, progress, closing lines."""
