"""Vectors and scores of texts from an endpoint, asked for through the door of the chat model."""
