"""`calibrate`, and what its file does when it is used."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import Done, command, judge
from tests.reading import lines_of
from trecjudge.evaluation.calibrate.pairs import LabelledPair, read_pairs
from trecjudge.findings import Finding
from trecjudge.judging.offline.support import read_calibration, shipped_calibration

Write = Callable[..., Path]

NOUNS = "harbour bridge tower market castle garden mill station theatre library".split()  # noqa: SIM905
RUN = {
    "metadata": {"team_id": "t", "run_id": "r", "topic_id": "1"},
    "responses": [{"text": "The old tower was sold in spring.", "citations": ["d"]}],
    "documents": {"d": {"text": "In spring an old tower was sold by the town council."}},
}


def labelled(topic: str, noun: str, other: str) -> list[dict[str, str]]:
    """Return a full, a partial and an unsupported pair."""
    text = f"The {noun} of the town was built by masons. It burned down in the war."
    full, partial = f"Masons built the town's {noun}.", f"Masons built the {noun} and the {other}."
    none = f"Poets praised the {other}."
    given = zip((full, partial, none), ("FULL", "PARTIAL", "NONE"), strict=True)
    return [{"topic_id": topic, "sentence": s, "passage": text, "label": x} for s, x in given]


LABELS = [
    record
    for topic in "abcd"
    for noun, other in zip(NOUNS, NOUNS[1:] + NOUNS[:1], strict=True)
    for record in labelled(topic, noun, f"{other} {topic}")
]


def spread(topics: int) -> list[dict[str, str]]:
    """Return the labels over so many topics."""
    return [r | {"topic_id": str(n // 3 % topics)} for n, r in enumerate(LABELS)]


@pytest.fixture
def calibrated(write: Write, tmp_path: Path) -> Path:
    out = tmp_path / "c.json"
    done = command(
        "judges", "calibrate", "--labels", write(lines_of(*LABELS), "labels.jsonl"), "--out", out
    )
    assert done.status == 0
    return out


def test_the_report(write: Write, tmp_path: Path) -> None:
    labels = write(lines_of(*LABELS, {"sentence": "No passage."}), "labels.jsonl")
    done = command("judges", "calibrate", "--labels", labels, "--out", tmp_path / "c.json")
    assert done.status == 3
    assert done.out.splitlines()[0].startswith("4 topics held out one by one")
    assert "AUC supported or not" in done.out
    assert "(0." not in done.out
    assert "\nno interval over 4 topics: of fewer than 6 it would not hold\n" in done.out
    assert "error: 1 x label_unusable; the first:" in done.out
    assert "labels: 120, of them 0 on copies, which are in no fit" in done.out
    assert done.out.endswith(f"use it with --calibration {tmp_path / 'c.json'}\n")


def test_the_report_as_json(write: Write, tmp_path: Path) -> None:
    labels = write(lines_of(*LABELS[:60]), "labels.jsonl")
    done = command(
        "judges", "calibrate", "--labels", labels, "--out", tmp_path / "c.json", "--json"
    )
    report = json.loads(done.out)
    assert (report["labels"], report["groups"], report["held_out"]) == (
        60,
        5,
        "groups of documents",
    )
    first = report["fitted"][0]
    assert first["name"] == "AUC supported or not"
    assert 0.9 < first["value"] <= 1
    assert (first["low"], first["high"]) == (None, None)
    assert report["no_interval"].startswith("no interval over 5 groups of documents: of fewer")
    assert sum(part["pairs"] for part in report["reliability"]) == 60


def test_six_topics_have_intervals(write: Write, tmp_path: Path) -> None:
    labels = write(lines_of(*spread(6)), "labels.jsonl")
    done = command(
        "judges", "calibrate", "--labels", labels, "--out", tmp_path / "c.json", "--json"
    )
    report = json.loads(done.out)
    assert report["no_interval"] is None
    error = report["fitted"][-1]
    assert error["low"] < error["value"] < error["high"]


def judged(out: Path) -> dict[str, Any]:
    text = (out / "x.judgments.jsonl").read_text(encoding="utf-8")
    records = map(json.loads, text.splitlines())
    return next(record for record in records if record["record"] == "judgment")


def test_a_calibration_changes_the_judgment_and_stands_in_the_config(
    write: Write, tmp_path: Path, calibrated: Path
) -> None:
    runs = write(lines_of(RUN), "runs/r.jsonl").parent
    before, after = tmp_path / "before", tmp_path / "after"
    assert judge(runs, before, "--judge", "citation").status == 0
    assert judge(runs, after, "--judge", "citation", "--calibration", calibrated).status == 0
    values = [judged(out)["expected"] for out in (before, after)]
    assert values[0] != values[1]
    assert all(0 <= value <= 1 for value in values)
    config = (after / "x.config.yml").read_text(encoding="utf-8")
    assert f"calibration: {calibrated}" in config
    assert f"{calibrated}: " in config.partition("inputs_sha256")[2]


def refused(*arguments: str | Path) -> str:
    done: Done = command(*arguments)
    assert (done.status, done.out) == (1, "")
    return done.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "no labelled pairs in it", id="empty"),
        pytest.param(lines_of({"sentence": "A."}), "no labelled pairs in it", id="no passage"),
        pytest.param(lines_of(*LABELS[:30]), "30 labels of pairs that words", id="too few"),
        pytest.param(
            lines_of(*LABELS[:2], *LABELS[:1]) * 20, "all labels are on one document", id="one text"
        ),
        pytest.param(lines_of(*LABELS[::3]) * 2, "full and of no support", id="one kind"),
    ],
)
def test_labels_that_are_not_enough(text: str, message: str, write: Write, tmp_path: Path) -> None:
    labels = write(text, "labels.jsonl")
    assert message in refused("calibrate", "--labels", labels, "--out", tmp_path / "c.json")
    assert not (tmp_path / "c.json").exists()


def test_labels_of_runs_are_joined_with_their_documents(write: Write, tmp_path: Path) -> None:
    runs, labels = [], []
    for record in LABELS:
        topic = record["topic_id"] + str(len(runs))
        metadata = {"team_id": "t", "run_id": "r", "topic_id": topic}
        cited = {"text": record["sentence"], "citations": [f"d{topic}"]}
        documents = {f"d{topic}": {"text": record["passage"]}}
        runs.append({"metadata": metadata, "responses": [cited], "documents": documents})
        place = {"topic_id": topic, "run_id": "r", "sentence_index": 0, "doc_id": f"d{topic}"}
        labels.append(place | {"label": record["label"]})
    labels.append(labels[0] | {"topic_id": "elsewhere"})
    found = json.loads(
        command(
            *("calibrate", "--labels", write(lines_of(*labels), "labels.jsonl"), "--json"),
            *(
                "--rag-responses",
                write(lines_of(*runs), "runs/r.jsonl"),
                "--out",
                tmp_path / "c.json",
            ),
        ).out
    )
    assert (found["labels"], found["groups"]) == (120, 120)
    assert "1 of 121 labels, such as that of ('elsewhere'" in found["findings"][0]


def test_labels_of_other_runs(write: Write) -> None:
    label = {"topic_id": "9", "run_id": "z", "sentence_index": 0, "doc_id": "d", "label": "full"}
    labels, runs = write(lines_of(label), "labels.jsonl"), write(lines_of(RUN), "runs/r.jsonl")
    message = refused("calibrate", "--labels", labels, "--rag-responses", runs)
    assert "1 of 1 labels, such as that of ('9', 'z', 0, 'd'), are not full" in message


@pytest.mark.parametrize(
    ("text", "message"),
    [("{}", "is no calibration"), (None, "cannot be read: there is no such file")],
    ids=["another file", "no file"],
)
def test_a_calibration_that_is_none(
    text: str | None, message: str, write: Write, tmp_path: Path
) -> None:
    path = tmp_path / "c.json" if text is None else write(text, "c.json")
    runs = write(lines_of(RUN), "runs/r.jsonl")
    done = judge(runs, tmp_path / "out", "--judge", "citation", "--calibration", path)
    assert (done.status, message in done.err) == (1, True)


def test_a_judge_that_takes_no_calibration(write: Write, tmp_path: Path, calibrated: Path) -> None:
    runs = write(lines_of(RUN), "runs/r.jsonl")
    done = judge(runs, tmp_path / "out", "--judge", "length", "--calibration", calibrated)
    assert "judge 'length' takes no calibration" in done.err


@pytest.mark.parametrize(
    ("record", "weights", "kinds"),
    [
        ({"sentence": "A.", "passage": "B.", "label": "full support"}, [1.0], []),
        ({"sentence": "A.", "document": "B.", "labels": ["PARTIAL", "none"]}, [0.5, 0.0], []),
        ({"sentence": "A.", "text": "B.", "label": "full", "label_2": "no"}, [1.0, 0.0], []),
        ({"sentence": "A.", "text": "B.", "labels": ["FULL", "good"]}, [1.0], ["label_unusable"]),
        ({"claim": "A.", "evidence": ["B.", "C."], "label": 2}, [1.0], []),
        ({"sentence": "A.", "text": "B.", "label": 3}, [], ["label_unusable"]),
        ({"sentence": " ", "text": "B.", "label": "full"}, [], ["label_unusable"]),
        ({"sentence": 3, "text": "B.", "label": "full"}, [], ["label_unusable"]),
    ],
    ids=[
        "one label",
        "two",
        "two people",
        "one of two",
        "a grade",
        "no grade",
        "an empty sentence",
        "no text",
    ],
)
def test_a_record(
    record: dict[str, Any], weights: list[float], kinds: list[str], write: Write
) -> None:
    known = {"topic_id": 7, "sentence": "S.", "passage": "P.", "label": "full"}
    findings: list[Finding] = []
    first, *rest = read_pairs(write(lines_of(known, record), "l.jsonl"), findings.append)
    assert first == LabelledPair("7", "S.", "P.", 1.0)
    assert [pair.weight for pair in rest] == weights
    assert [finding.kind for finding in findings] == kinds


def documents_of(count: int) -> dict[str, Any]:
    texts = (f"Die Brücke {number} und die Mühle." for number in range(count))
    return {f"d{number}": {"text": text} for number, text in enumerate(texts)}


def test_without_labels_the_words_of_the_runs_are_counted(write: Write, tmp_path: Path) -> None:
    cited = {"text": "Die Brücke.", "citations": ["d1"]}
    records = [
        RUN | {"metadata": RUN["metadata"] | {"topic_id": topic}, "responses": [cited]}
        for topic in ("1", "2")
    ]
    runs = write(lines_of(*(r | {"documents": documents_of(30)} for r in records)), "runs/r.jsonl")
    out = tmp_path / "words.json"
    done = command("judges", "calibrate", "--rag-responses", runs, "--out", out)
    assert (done.status, "words of 30 documents; weights as shipped" in done.out) == (0, True)
    own, shipped = read_calibration(out), shipped_calibration()
    assert own.weights == shipped.weights
    assert shipped.frequencies.weight("muhl", "Mühle") == 1.0
    assert own.frequencies.weight("muhl", "Mühle") < 0.01
    counted = json.loads(
        command("judges", "calibrate", "--rag-responses", runs, "--json", "--out", out).out
    )
    assert (counted["documents"], counted["path"]) == (30, str(out))


def test_too_few_documents_to_count(write: Write) -> None:
    runs = write(lines_of(RUN), "runs/r.jsonl")
    message = refused("calibrate", "--rag-responses", runs)
    assert "1 documents with text; at least 20 are needed" in message


def test_neither_labels_nor_runs() -> None:
    assert "give --labels FILE, or only --rag-responses" in refused("calibrate")


def test_a_topic_without_which_nothing_can_be_fitted_is_left_out(
    write: Write, tmp_path: Path
) -> None:
    of_one = [r | {"topic_id": "only"} for r in LABELS if r["label"] == "none"]
    rest = [r for r in LABELS if r["label"] != "none"]
    labels = write(lines_of(*of_one, *rest), "labels.jsonl")
    done = command("judges", "calibrate", "--labels", labels, "--out", tmp_path / "c.json")
    assert done.status == 0
    assert (tmp_path / "c.json").exists()
