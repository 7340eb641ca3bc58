"""What a claim is about, by rules, and where that is counted."""

from __future__ import annotations

import pytest

from trecjudge.judging.claims.kinds import kind_not_stated, kind_of_claim
from trecjudge.records import Claim, Failure, Judgment


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Tokyo is larger than Osaka.", "comparison"),
        ("In 1990 it was twice as large as now.", "comparison"),
        ("It is the best of all.", "comparison"),
        ("More than 30 people died.", "number"),
        ("He lives in the west, like the rest.", "other"),
        ("It rose in 1990 because demand fell.", "cause"),
        ("The strike led to losses of $5 million.", "cause"),
        ("It was built in 1874.", "date"),
        ("The treaty was signed on 3 May.", "date"),
        ("In the 1980s it grew.", "date"),
        ("The army has 18 divisions.", "number"),
        ("It has twelve armies.", "number"),
        ("It was written by Vyasa.", "name"),
        ("Le traité fut signé à Paris.", "name"),
        ("The Bhagavad Gita teaches the path of dharma.", "other"),
        ("", "other"),
    ],
)
def test_kind_of_a_claim(text: str, kind: str) -> None:
    assert kind_of_claim(text) == kind


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("UNATTRIBUTED", "number"),
        ("unsupported", "number"),
        ("CONTRADICTED", None),
        ("AMBIGUOUS", None),
        ("ATTRIBUTED", None),
        (None, None),
    ],
)
def test_only_what_no_document_states_has_a_kind(label: str | None, kind: str | None) -> None:
    failure = None if label else Failure("transport", "reset")
    claim = Claim(0, "The army has 18 divisions.", 0)
    assert kind_not_stated(Judgment("r", "1", claim=claim, label=label, failure=failure)) == kind
    assert kind_not_stated(Judgment("r", "1", label=label, failure=failure)) is None
