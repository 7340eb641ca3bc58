"""Which sentences can be nuggets."""

from __future__ import annotations

from trecjudge.evaluation.banks.extracting import is_telling


def test_which_sentences_can_be_nuggets() -> None:
    cases = [
        ("The Dunmoor works opened in 1902.", True),
        ("It opened in the spring of 1902.", False),
        ("Opened in 1902.", False),
        ("When did the Dunmoor works open its doors?", False),
        ("Home | About | Kettles | Works | Contact us today.", False),
        ("The Dunmoor works opened in 1902", False),
        ("word " * 60 + "end.", False),
    ]
    wrong = [(text, found) for text, telling in cases if (found := is_telling(text)) is not telling]
    assert not wrong
