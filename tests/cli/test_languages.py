"""Responses in other languages than English: said, and without probabilities until calibrated."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import Done, command, judge
from tests.reading import lines_of
from trecjudge.judging.offline.support import read_calibration

Write = Callable[..., Path]

NOUNS = "haven brug toren markt burcht tuin molen kerk school winkel".split()  # noqa: SIM905
DUTCH = {
    "metadata": {"team_id": "t", "run_id": "dutch", "topic_id": "1"},
    "responses": [
        {"text": "De oude toren werd in de lente door de stad verkocht.", "citations": ["n"]},
        {"text": "De dichter heeft nooit in een molen gewoond.", "citations": ["n"]},
    ],
    "documents": {"n": {"text": "In de lente werd de oude toren door de stad verkocht."}},
}
ENGLISH = {
    "metadata": {"team_id": "t", "run_id": "english", "topic_id": "1"},
    "responses": [{"text": "The old tower was sold in spring.", "citations": ["e"]}],
    "documents": {"e": {"text": "In spring the old tower was sold by the town."}},
}
OF_DUTCH = "with a label only, since the offline attester has no calibration there"


def labelled(noun: str, other: str, topic: str) -> list[dict[str, str]]:
    """Return a full, a partial and an unsupported pair."""
    text = f"De {noun} van de stad werd door metselaars gebouwd. In de oorlog is zij verbrand."
    full = f"Metselaars bouwden de {noun} van de stad."
    partial = f"Metselaars bouwden de {noun} en ook de {other} van de stad."
    given = {"FULL": full, "PARTIAL": partial, "NONE": f"Dichters waren op de {other} trots."}
    return [
        {"topic_id": topic, "sentence": sentence, "passage": text, "label": label}
        for label, sentence in given.items()
    ]


LABELS = [
    record
    for topic in "abcd"
    for noun, other in zip(NOUNS, NOUNS[1:] + NOUNS[:1], strict=True)
    for record in labelled(noun, f"{other} {topic}", topic)
]


@pytest.fixture
def calibrated(write: Write, tmp_path: Path) -> Path:
    out = tmp_path / "nl.json"
    done = command(
        "judges", "calibrate", "--labels", write(lines_of(*LABELS), "labels.jsonl"), "--out", out
    )
    assert "\nprobabilities for: nl\n" in done.out
    return out


def job(write: Write, tmp_path: Path, *flags: Any, runs: Any = (DUTCH, ENGLISH)) -> Done:
    path = write(lines_of(*runs), "runs/r.jsonl").parent
    return judge(path, tmp_path / "out", "--judge", "citation", "attribution", *flags)


def records(tmp_path: Path, kind: str) -> list[dict[str, Any]]:
    text = (tmp_path / "out" / f"x.{kind}.jsonl").read_text(encoding="utf-8")
    return list(map(json.loads, text.splitlines()))


def weighed(tmp_path: Path, run: str) -> list[tuple[str, float | None, str | None]]:
    """Return the judgments of a run on sentences: label, expected weight, withheld for."""
    return [
        (one["label"], one.get("expected"), one.get("uncalibrated"))
        for one in records(tmp_path, "judgments")
        if one["record"] == "judgment"
        and one["run_id"] == run
        and one["sentence_index"] is not None
    ]


def test_a_job_says_the_languages_and_that_there_are_no_probabilities(
    write: Write, tmp_path: Path
) -> None:
    done = job(write, tmp_path, "--report")
    header, *rows = (line.split() for line in done.out.splitlines()[1:4])
    assert header[-1] == "language"
    assert {row[1]: row[-1] for row in rows} == {"dutch": "nl", "english": "en"}
    assert "\nlanguage of 2 responses: en 1, nl 1\n" in done.out
    assert f"\nnote: no probabilities: 4 judgments (nl 4) {OF_DUTCH}" in done.out
    page = (tmp_path / "out" / "x.report.html").read_text()
    assert f"no probabilities: 4 judgments (nl 4) {OF_DUTCH}" in page
    assert '<td class="language">nl</td>' in page
    again = command("job", "rescore", tmp_path / "out" / "x").out
    assert OF_DUTCH in again and "language of 2 responses" in again


def test_judgments_have_a_label_and_no_weight(write: Write, tmp_path: Path) -> None:
    job(write, tmp_path)
    found = weighed(tmp_path, "dutch")
    labels = {"full_support", "no_support", "ATTRIBUTED", "UNATTRIBUTED"}
    assert (len(found), {label for label, *_ in found}) == (4, labels)
    assert {(expected, language) for _, expected, language in found} == {(None, "nl")}
    assert all(expected and not language for _, expected, language in weighed(tmp_path, "english"))
    lines = records(tmp_path, "leaderboard")
    by_run = {one["run_id"]: one for one in lines}
    assert by_run["dutch"]["languages"] == {"nl": 1} and by_run["dutch"]["withheld"] == {"nl": 4}
    assert not {"languages", "withheld"} & by_run["english"].keys()
    # What is measured by weights counts the labels: 1 of 2 claims.
    measured = {(one["run_id"], one["measure"]): one["mean"] for one in lines}
    assert measured["dutch", "EXPECTED_ATTRIBUTION"] == 0.5
    shown = command("show", tmp_path / "out" / "x", "--run", "dutch", "--topic", "1").out
    assert "\ndutch on 1, language nl\n" in shown
    assert shown.count("no weight to expect: not calibrated for nl") == 4


def test_nothing_is_said_of_english(write: Write, tmp_path: Path) -> None:
    done = job(write, tmp_path, "--report", runs=[ENGLISH])
    assert "language" not in done.out and "no probabilities" not in done.out
    assert "Language</th>" not in (tmp_path / "out" / "x.report.html").read_text()
    assert "language" not in command("show", tmp_path / "out" / "x", "--run", "english").out


def test_strict_says_no_probability(write: Write, tmp_path: Path) -> None:
    judge(
        write(lines_of(DUTCH), "runs/r.jsonl").parent,
        tmp_path / "out",
        *("--judge", "citation", "--set", "attester=strict"),
    )
    reasons = [one.get("reason", "") for one in records(tmp_path, "judgments")]
    assert any(reasons) and not any("P(" in reason for reason in reasons)


def test_labels_of_the_language_bring_probabilities_for_it_alone(
    write: Write, tmp_path: Path, calibrated: Path
) -> None:
    assert json.loads(calibrated.read_text())["languages"] == ["nl"]
    done = job(write, tmp_path, "--calibration", calibrated)
    assert all(0 <= (expected or 0) <= 1 for _, expected, _ in weighed(tmp_path, "dutch"))
    assert {language for *_, language in weighed(tmp_path, "dutch")} == {None}
    assert {language for *_, language in weighed(tmp_path, "english")} == {"en"}
    assert "no probabilities: 2 judgments (en 2)" in done.out


def test_too_few_labels_of_a_language_bring_none(write: Write, tmp_path: Path) -> None:
    english = {"sentence": "Masons built the tower.", "passage": "The tower is of stone."}
    labels = write(lines_of(*LABELS, english | {"label": "NONE"}), "labels.jsonl")
    done = command("judges", "calibrate", "--labels", labels, "--out", tmp_path / "c.json")
    assert "\nprobabilities for: nl\ntoo few labels for probabilities: en 1\n" in done.out
    assert read_calibration(tmp_path / "c.json").languages == {"nl"}


def test_a_calibration_without_languages_holds_for_all(
    write: Write, tmp_path: Path, calibrated: Path
) -> None:
    content = json.loads(calibrated.read_text())
    del content["languages"]
    calibrated.write_text(json.dumps(content))
    done = job(write, tmp_path, "--calibration", calibrated)
    assert "no probabilities" not in done.out
    assert all(expected is not None for _, expected, _ in weighed(tmp_path, "dutch"))


def test_items_to_label_are_those_that_lack_a_calibration(write: Write, tmp_path: Path) -> None:
    job(write, tmp_path, runs=[DUTCH])
    next_labels = tmp_path / "next.jsonl"
    flags = ("--for", "calibration", "--budget", "5", "--output", next_labels)
    assert command("labels", "next", tmp_path / "out" / "x", *flags).status == 0
    assert len(next_labels.read_text().splitlines()) == 2


def test_pairs_have_scores_in_place_of_probabilities(
    write: Write, tmp_path: Path, calibrated: Path
) -> None:
    path = write(lines_of(*LABELS[:30]), "p.jsonl")
    names = "AUC, full against the rest", "calibration error, P(full)"

    def run(output: str, *flags: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        done = command("judges", "pairs", path, "--output", tmp_path / output, "--json", *flags)
        first = json.loads((tmp_path / output).read_text().splitlines()[0])
        return json.loads(done.out), first

    found, first = run("a.jsonl")
    figures = {one["name"]: one["value"] for one in found["figures"]["figures"]}
    assert found["withheld"] == {"nl": 30} and first["language"] == "nl"
    assert [first[name] for name in ("expected", "p_full", "p_supported")] == [None] * 3
    assert 0 <= first["scores"]["p_full"] <= first["scores"]["p_supported"] <= 1
    assert figures[names[0]] is not None and figures[names[1]] is None
    text = command("judges", "pairs", path, "--output", tmp_path / "a.jsonl").out
    assert f"no probabilities: 30 pairs (nl 30) {OF_DUTCH}" in text
    # The same with a calibration: its figures, and the order compared with what has none.
    flags = ("--calibration", calibrated, "--against", tmp_path / "a.jsonl")
    found, first = run("b.jsonl", *flags)
    assert found["withheld"] == {} and first["scores"] is None and first["p_full"] is not None
    differences = {one["name"]: one for one in found["against"]["differences"]["figures"]}
    assert differences[names[0]]["difference"] is not None
    assert differences["Brier score, P(supported)"]["difference"] is None


def test_a_broken_list_of_languages(tmp_path: Path, calibrated: Path) -> None:
    content = json.loads(calibrated.read_text()) | {"languages": "nl"}
    calibrated.write_text(json.dumps(content))
    with pytest.raises(ValueError, match="'languages' is not a list of codes"):
        read_calibration(calibrated)
