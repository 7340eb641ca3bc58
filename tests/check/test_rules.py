"""The rules as data: loaded, checked, and the track recognised from a record."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.check.samples import GONE, GOOD, changed
from trecjudge.check.rules import all_tracks, load_rules, track_named, track_of
from trecjudge.errors import InputError
from trecjudge.inputs.formats.registry import all_formats, format_of

TRACK = """
every_track: {}
tracks:
  mine:
    dataset: rag
    formats: [rag25]
    sentences: answer
    citations: {kinds: [index]}
    verdicts: {}
"""


def test_every_format_of_a_track_has_one() -> None:
    used = {name for track in all_tracks().values() for name in track.formats}
    assert used == {format_.NAME for format_ in all_formats()} - {"qa"}


def test_there_is_a_sample_of_every_track() -> None:
    assert set(GOOD) == set(all_tracks())


@pytest.mark.parametrize("track", GOOD)
def test_the_track_is_told_from_a_record(track: str) -> None:
    claimed = format_of(GOOD[track])
    assert claimed is not None
    assert track_of(claimed[0].NAME, GOOD[track]).name == track


def responses_of(track: str) -> dict[str, object]:
    """Return the good record of a track with its sentences under `responses`."""
    record = changed(track)
    return {"responses": record.pop("answer"), **record}


@pytest.mark.parametrize(
    ("format_name", "record", "dataset", "wanted"),
    [
        ("rag25", changed("rag26", metadata__narrative_id="1"), "auto", "rag26"),
        ("rag25", changed("rag26", references=[]), "auto", "rag26"),
        ("ragtime", responses_of("rag26"), "auto", "rag26"),
        ("rag25", {"metadata": {}, "answer": []}, "auto", "rag25"),
        ("ragtime", changed("ragtime26", metadata__topic_id="7"), "auto", "ragtime26"),
        ("ragtime", {"metadata": {"topic_id": "1001"}, "responses": []}, "auto", "ragtime25"),
        ("ragtime", changed("dragun25", metadata__use_starter_kit=GONE), "auto", "dragun25"),
        ("ragtime", {"metadata": {"topic_id": "1001"}, "responses": []}, "dragun", "ragtime25"),
        ("ragtime", {"metadata": {"topic_id": "181"}, "responses": []}, "auto", "biogen25"),
        ("of a plug-in", {"metadata": {}, "answer": []}, "auto", "of a plug-in"),
    ],
    ids=[
        "RAG 2026 by its references",
        "RAG 2026 by its topic",
        "RAG 2026 by its topic, in the format of RAGTIME",
        "RAG 2025 has no marks",
        "RAGTIME 2026 by run_desc",
        "RAGTIME 2025 has no marks",
        "DRAGUN by its topic",
        "no track of the dataset has the format",
        "BioGen by its topic",
        "no track has the format",
    ],
)
def test_the_track_among_those_of_a_format(
    format_name: str, record: dict[str, object], dataset: str, wanted: str
) -> None:
    assert track_of(format_name, record, dataset).name == wanted


def test_an_unknown_track_is_an_error_with_the_choices() -> None:
    with pytest.raises(InputError, match="unknown track 'rag52'; did you mean 'rag2"):
        track_named("rag52")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("sentences: answer", "sentences: answer\n    lenght: {}", "lenght: Unexpected keyword"),
        ("kinds: [index]", "kinds: [index], most: 3", "citations.most: Unexpected keyword"),
        ("kinds: [index]", "kinds: [number]", "citations.kinds.0: Input should be 'index' or 'id'"),
        ("verdicts: {}", "verdicts: {too_long: bad}", "verdicts.too_long"),
        ("verdicts: {}", "verdicts: {too_lang: refused}", "kind of finding 'too_lang'"),
        ("[rag25]", "[rag52]", "unknown format 'rag52'; did you mean 'rag25'"),
    ],
    ids=["key", "key below", "value", "verdict", "rule", "format"],
)
def test_what_is_unknown_in_the_rules_is_an_error(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "rules.yml"
    path.write_text(TRACK.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load_rules(path)


def test_a_track_overrides_what_holds_for_every_track() -> None:
    assert all_tracks()["rag24"].verdicts["topic_text_missing"] == "refused"
    assert all_tracks()["rag25"].verdicts["topic_text_missing"] == "warned"
    assert all_tracks()["longeval26"].verdicts["topic_text_missing"] is None
