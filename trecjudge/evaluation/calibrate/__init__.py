"""Fitting the offline attester to human labels, and measuring it on unseen topics."""
