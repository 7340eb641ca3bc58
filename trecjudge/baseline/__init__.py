"""The other half of judging: documents indexed, retrieved, and answered from with citations."""
