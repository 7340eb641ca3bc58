"""Fitting the offline attester to human labels, and saying how good it is on unseen topics."""
