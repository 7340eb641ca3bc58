"""All that a person sees: pages, tables, charts, progress, what a job ends with."""
