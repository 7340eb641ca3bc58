"""Batches of requests at half the price (the Batch API), resumed by the same command."""
