"""Words that make a statement less than certain."""

from __future__ import annotations

from trecjudge.text.forms import word_form

_WORDS = """
may might could possibly perhaps maybe likely probably suggest suggests appear appears seem seems
potential potentially alleged allegedly reportedly claim claims believe believed estimate estimated
может возможно вероятно ربما قد vielleicht möglicherweise könnte peut-être quizás podría
"""
HEDGES = frozenset(map(word_form, _WORDS.split()))
"""The forms of the words that hedge."""
