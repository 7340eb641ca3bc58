"""Prompts made better by labels of people, and measured on topics that were held out."""
