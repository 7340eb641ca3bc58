"""What a reader is told of each measure of the judges here."""

from __future__ import annotations

import pytest

from trecjudge.judging.judge import judge_class
from trecjudge.settings.plugins import judge_folders

SETTINGS = {
    "support": [{}, {"compat": "argue"}, {"compat": "alce"}],
    "rubric": [{}, {"task": "questions"}],
}
OF_OTHERS = {"autojudge"}
"""Judges whose measures are those of the code that they run."""
CASES = [
    (name, given)
    for name in sorted(set(judge_folders()) - OF_OTHERS)
    for given in SETTINGS.get(name, [{}])
]


@pytest.mark.parametrize(("name", "given"), CASES, ids=str)
def test_every_measure_says_what_it_counts(name: str, given: dict[str, str]) -> None:
    measures = judge_class(name)(**given).measures.measures
    assert measures
    for measure in measures:
        said = measure.description
        assert said.endswith("."), measure.name
        assert "From 0 " in said, measure.name
        way = "lower is better" if measure.lower_is_better else ("higher is better", "neither ")
        assert any(each in said for each in (way if isinstance(way, tuple) else (way,)))
