"""Everything between a judge and a model: prompts by DSPy, HTTP, cache, retries and limits.

`model` is what judges see and imports no model library; the rest is loaded only where a model is
used.
"""
