"""Attesting: does a document support a sentence?"""
