"""A judge tried on labelled items before a job spends anything: is it still as good as it was?"""
