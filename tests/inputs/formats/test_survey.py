"""Which runs carry documents: one that leaves them out of a response hides nothing by it."""

from __future__ import annotations

import json

import pytest

from tests.reading import Write, citing, reading

CARRIED = citing("[0]")
BARE = citing("[0]", "").replace('"narrative_id": "1"', '"narrative_id": "2"')


@pytest.mark.parametrize("null", [False, True], ids=["absent", "null"])
def test_documents_left_out_of_one_response_are_not_there(null: bool, write: Write) -> None:
    bare = f'{BARE[:-1]}, "documents": null}}' if null else BARE
    found = reading(write(f"{bare}\n{CARRIED}\n"))
    assert [response.documents_given for response in found.responses] == [True, True]
    assert found.kinds == ["documents_withheld", "document_missing"]
    assert "carries no documents for 1 citations; elsewhere the run does" in str(found.findings[0])


def test_so_are_those_of_a_run_in_two_files(write: Write) -> None:
    found = reading(write(BARE, "a.jsonl"), write(CARRIED, "b.jsonl"))
    assert found.responses[0].documents_given


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param('"run_id": "r"', '"run_id": "s"', id="another run"),
        pytest.param('"team_id": "t"', '"team_id": "u"', id="another team"),
        pytest.param('"run_id": "r"', '"run_id": null', id="no run_id"),
    ],
)
def test_another_run_hides_nothing(old: str, new: str, write: Write) -> None:
    files = write(BARE.replace(old, new), "a.jsonl"), write(CARRIED, "b.jsonl")
    first, second = reading(*files).responses
    assert (first.documents_given, second.documents_given) == (False, True)


def test_without_run_ids_runs_are_known_by_their_files(write: Write) -> None:
    bare, carried = (text.replace('"run_id": "r"', '"run_id": ""') for text in (BARE, CARRIED))
    files = write(bare, "a/x.jsonl"), write(carried, "b/x.jsonl")
    assert not reading(*files).responses[0].documents_given


UNNAMED = CARRIED.replace('"narrative_id": "1"', '"narrative_id": "2"').replace("[0]", '["a"]')


@pytest.mark.parametrize(
    ("elsewhere", "unnamed"),
    [
        pytest.param(CARRIED, False, id="it gives ids elsewhere, and hides them here"),
        pytest.param("", True, id="it never gives ids"),
        pytest.param(
            CARRIED.replace('"run_id": "r"', '"run_id": "s"'), True, id="another run does"
        ),
    ],
)
def test_ids_left_out_of_one_response_are_the_runs_doing(
    elsewhere: str, unnamed: bool, write: Write
) -> None:
    record = json.loads(UNNAMED) | {"references": [], "documents": [{"text": "Filler."}]}
    response = reading(write(f"{json.dumps(record)}\n{elsewhere}\n")).responses[0]
    assert response.documents_unnamed == unnamed
    assert (response.has("a") is None) == unnamed
