"""Judging item by item: the Judge protocol, several judges in one pass, the runner."""
