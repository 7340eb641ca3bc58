"""The only door to a model: prompts by DSPy, transport by aiohttp, a cache, retries and limits.

`model` is what judges see and imports no model library; the rest is loaded only where a model is
used.
"""
