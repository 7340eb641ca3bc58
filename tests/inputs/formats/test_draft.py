"""Where a record keeps its parts."""

from __future__ import annotations

import json

import pytest

from trecjudge.inputs.formats.draft import ABSENT, from_metadata, metadata_of


def test_parts_are_found_and_nothing_is_interpreted() -> None:
    draft = from_metadata(
        {
            "metadata": {"team_id": 1, "run_id": ["r"], "topic_id": 7.5, "narrative": "n"},
            "answer": "as written",
            "references": None,
            "documents": 5,
        },
        "answer",
    )
    assert (draft.run_id, draft.team_id, draft.topic_ids) == (
        ["r"],
        1,
        (("metadata.topic_id", 7.5),),
    )
    assert (draft.sentences, draft.references, draft.documents) == ("as written", None, 5)
    assert draft.narrative == "n"


def test_what_is_not_there_is_absent_not_null() -> None:
    draft = from_metadata({"metadata": {}}, "answer")
    assert (draft.run_id, draft.team_id, draft.references, draft.documents) == (ABSENT,) * 4
    assert (draft.topic_ids, draft.sentences, repr(ABSENT)) == ((), None, "absent")


@pytest.mark.parametrize(
    ("record", "wanted"),
    [
        pytest.param(
            '{"metadata": {"request_id": "8", "topic_id": "7"}, "narrative_id": "9"}',
            [("metadata.topic_id", "7"), ("metadata.request_id", "8"), ("narrative_id", "9")],
            id="in order of precedence",
        ),
        pytest.param('{"topic_id": 0}', [("topic_id", 0)], id="zero is an id"),
        pytest.param('{"metadata": {"topic_id": null}}', [], id="null is none"),
    ],
)
def test_topic_ids(record: str, wanted: list[tuple[str, object]]) -> None:
    assert list(from_metadata(json.loads(record), "answer").topic_ids) == wanted


def test_ids_beside_the_metadata_are_looked_at() -> None:
    draft = from_metadata({"run_id": "r", "team_id": "t"}, "answer")
    assert (draft.run_id, draft.team_id) == ("r", "t")


def test_the_text_of_the_topic_beside_the_metadata_is_looked_at() -> None:
    assert from_metadata({"narrative": "n"}, "answer").narrative == "n"


@pytest.mark.parametrize("metadata", [None, [], "x", 5])
def test_metadata_that_is_no_object_is_nothing(metadata: object) -> None:
    assert metadata_of({"metadata": metadata}) == {}
