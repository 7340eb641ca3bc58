"""CheckThat! 2026 task 3: an article that cites addresses inside its text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trecjudge.findings import Finding
from trecjudge.inputs.formats.checkthat26 import ARTICLE, cut_marks
from trecjudge.inputs.formats.registry import format_of
from trecjudge.inputs.runs import RunReader


@pytest.mark.parametrize(
    ("article", "wanted"),
    [
        pytest.param(
            "A is (source: https://e.org/a). B is (source: https://e.org/b; http://c.net/d?e=1).",
            {"A is.": ["https://e.org/a"], "B is.": ["https://e.org/b", "http://c.net/d?e=1"]},
            id="before the full stop",
        ),
        pytest.param(
            "A is. (Source: https://e.org/a) B is.",
            {"A is.": ["https://e.org/a"], "B is.": []},
            id="behind it",
        ),
        pytest.param(
            "(source: https://e.org/a) A is.", {"A is.": ["https://e.org/a"]}, id="before all"
        ),
        pytest.param(
            "A is (source: https://e.org/a_(b)).",
            {"A is.": ["https://e.org/a_(b)"]},
            id="an address with brackets",
        ),
        pytest.param(
            "A is (source: https://e.org/a) and so is B (source: https://e.org/a).",
            {"A is and so is B.": ["https://e.org/a"]},
            id="once for a sentence",
        ),
        pytest.param(
            "A is (source: the minister). B is (source: https://e.org/b).",
            {"A is.": [], "B is.": ["https://e.org/b"]},
            id="a mark without an address cites nothing",
        ),
    ],
)
def test_what_sentences_of_an_article_cite(
    article: str, wanted: dict[str, list[str]], tmp_path: Path
) -> None:
    (tmp_path / "run.jsonl").write_text(json.dumps({"id": 42, ARTICLE: article}))
    found: list[Finding] = []
    ((_, response),) = RunReader([tmp_path / "run.jsonl"], found.append)
    assert (response.run_id, response.topic_id) == ("run", "42")
    cited = {s.text.strip(): [c.doc_id for c in s.citations] for s in response.sentences}
    assert cited == wanted
    counted = {"marks_counted", "marks_in_all"}
    assert {finding.kind for finding in found} - counted <= {"documents_not_given"}


def test_it_is_known_by_its_article_and_marks_are_cut_in_time() -> None:
    found = format_of({"id": 1, ARTICLE: ""})
    assert found is not None
    assert found[0].NAME == "checkthat26"
    hostile = "(source:" * 20_000 + "(source: https://e.org/a" * 20_000
    assert cut_marks(hostile) == (hostile, [])
