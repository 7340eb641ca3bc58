"""NeuCLIR, BioGen and iKAT records, read."""

from __future__ import annotations

from tests.reading import Read


def test_neuclir(read: Read) -> None:
    found = read(
        '{"request_id": "304", "run_id": "zho", "collection_ids": ["neuclir/1/zho"],'
        ' "sentences": [{"text": "S.", "citations": ["a-1", "b-2"]}]}'
    )
    assert (found.answers, found.cited) == ([("zho", "304")], ["a-1", "b-2"])
    assert found.kinds == ["documents_not_given"]


def test_biogen_integers_are_ids(read: Read) -> None:
    found = read(
        '{"metadata": {"team_id": "t", "run_id": "r", "topic_id": 181}, "responses":'
        ' [{"text": "S.", "citations": [22802756, "34765068"]}]}'
    )
    assert (found.answers, found.cited) == ([("r", "181")], ["22802756", "34765068"])


def test_ikat_turns_are_topics(read: Read) -> None:
    found = read(
        '{"metadata": {"team_id": "t", "run_id": "r", "run_type": "automatic"}, "turn_id": "1_2",'
        ' "references": {"clueweb22-en0000-00-00000:1": 0.5}, "responses": [{"text": "S.",'
        ' "citations": {"clueweb22-en0000-00-00000:1": 0.5}, "ptkb_provenance": [1]}]}'
    )
    assert found.answers == [("r", "1_2")]
    assert found.citations[0].score == 0.5
