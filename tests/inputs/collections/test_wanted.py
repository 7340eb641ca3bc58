"""Which documents runs ask for."""

from __future__ import annotations

import json

import pytest

from tests.reading import Write
from trecjudge.findings import ignore
from trecjudge.inputs.collections.wanted import WantedDocuments
from trecjudge.inputs.runs import RunReader

DOCUMENTS = {"c": {"docid": "c", "text": "Carried."}}


def record(**more: object) -> str:
    run = {"metadata": {"run_id": "r", "team_id": "t", "narrative_id": "1"}}
    return json.dumps(run | more)


@pytest.mark.parametrize(
    ("written", "cited", "named", "possible"),
    [
        pytest.param(
            {"references": ["a", "b"], "answer": [{"text": "One.", "citations": [1]}]},
            ["b"],
            ["b", "a"],
            ["a", "b"],
            id="by index",
        ),
        pytest.param(
            {"references": ["a"], "answer": [{"text": "One.", "citations": ["a", "z"]}]},
            ["a", "z"],
            ["a", "z"],
            ["a", "z"],
            id="by id",
        ),
        pytest.param(
            {"references": ["a"], "answer": [{"text": "One.", "citations": ["0"]}]},
            ["a"],
            ["a"],
            ["0", "a"],
            id="a number as text may be an id",
        ),
        pytest.param(
            {"references": ["a"], "answer": [{"text": "One.", "citations": []}]},
            [],
            ["a"],
            ["a"],
            id="references only",
        ),
        pytest.param(
            {
                "references": ["c"],
                "documents": DOCUMENTS,
                "answer": [{"text": "One.", "citations": ["c"]}],
            },
            ["c"],
            ["c"],
            ["c"],
            id="what the run carries may be there with another text",
        ),
    ],
)
def test_what_a_response_asks_for(
    written: dict[str, object],
    cited: list[str],
    named: list[str],
    possible: list[str],
    write: Write,
) -> None:
    path = write(record(**written))
    wanted = WantedDocuments.of(lambda store: RunReader([path], ignore, store=store))
    assert (list(wanted.cited), list(wanted.named)) == (cited, named)
    assert set(possible) <= set(wanted.possible)
