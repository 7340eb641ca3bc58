"""The items of a job that people should label first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commandline import command, sample
from trecjudge.errors import InputError
from trecjudge.evaluation.candidates import label_for_calibration
from trecjudge.evaluation.candidates import label_next as chosen
from trecjudge.inputs.labels import ItemKey
from trecjudge.stats.labelling import LabelCandidate

NAMES = ("topic_id", "run_id", "sentence_index", "doc_id")


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the support judge on sample data."""
    folder = tmp_path_factory.mktemp("job")
    sample("rag", folder, "-q", "--judge", "support")
    return folder


@pytest.fixture(scope="module")
def banks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return banks for the sample data."""
    path = tmp_path_factory.mktemp("banks") / "banks.jsonl"
    texts = ("The kettle works opened in 1902", "Tin is soft")
    nuggets = [{"text": text, "importance": "vital"} for text in texts]
    every = [{"qid": str(topic), "query": "q", "nuggets": nuggets} for topic in (11, 12, 13)]
    path.write_text("\n".join(map(json.dumps, every)))
    return path


def label_next(
    job: Path, budget: int, labelled: dict[ItemKey, str], measure: str = "", at_random: bool = False
) -> list[tuple[float, LabelCandidate]]:
    return chosen(job, budget, labelled, measure, at_random).items


def key(candidate: LabelCandidate) -> ItemKey:
    c = candidate
    return (c.topic_id, c.run_id, c.sentence_index, c.doc_id)


def test_the_most_useful_come_first(job: Path) -> None:
    found = label_next(job, 100, {})
    gains = [gain for gain, _ in found]
    assert gains == sorted(gains, reverse=True)
    assert len(found) == 33
    assert label_next(job, 5, {}) == found[:5]


def test_an_item_that_weighs_more_comes_before_its_like(job: Path) -> None:
    (uncited,) = [c for _, c in label_next(job, 100, {}) if c.run_id == "uncited"]
    others = [c for _, c in label_next(job, 100, {}) if c.run_id == "careful"]
    # It is the only citation of its response: all of that hangs on it.
    assert uncited.reach == pytest.approx(1 / 3)
    assert all(other.reach < uncited.reach for other in others)


def test_what_labels_would_buy_is_told_from_those_there_are(job: Path) -> None:
    every = [key(c) for _, c in label_next(job, 100, {})]
    assert "--labels" in chosen(job, 5, {}).why
    assert chosen(job, 5, dict.fromkeys(every[:3], "full")).why == (
        "3 labels are too few, 20 are needed"
    )
    labels = dict.fromkeys(every[::2] + every[1:9:2], "full")
    assert chosen(job, 5, labels).why == "all 21 labels say the same"
    found = chosen(job, 5, labels | {every[0]: "none"}).forecast
    assert found is not None and found.labels == 5
    assert found.width_then < found.width_now


def test_only_items_that_the_judge_takes_labels_on_are_listed(tmp_path: Path, banks: Path) -> None:
    """Argue takes them on citations, and matches nuggets itself; F1 needs all citations of one."""
    sample("rag", tmp_path, "-q", "--judge", "argue", "--nuggets", banks)
    every = label_next(tmp_path, 1000, {}, at_random=True)
    assert len(every) == 38 and all(c.doc_id and not c.nugget for _, c in every)
    labels = tmp_path / "labels.jsonl"
    rows = [dict(zip(NAMES, key(c), strict=True)) | {"label": c.label} for _, c in every]
    labels.write_text("\n".join(map(json.dumps, rows)))
    command("job", "rescore", tmp_path, "--human", labels)
    lines = map(json.loads, next(tmp_path.glob("*.leaderboard.jsonl")).open())
    human = [(one["mean"], one["human"]) for one in lines if one["measure"] == "F1"]
    assert human and all(by and by["mean"] == by["low"] == mean for mean, by in human)


def test_what_is_labelled_is_left_out(job: Path) -> None:
    first = label_next(job, 3, {})
    rest = label_next(job, 100, {key(c): "full" for _, c in first})
    assert len(rest) == 30
    assert not {key(c) for _, c in first} & {key(c) for _, c in rest}


def test_labels_in_unknown_words_stop_until_they_are_mapped(job: Path, tmp_path: Path) -> None:
    (_, one), *_ = label_next(job, 1, {})
    fields = ("topic_id", "run_id", "sentence_index", "doc_id")
    labels = tmp_path / "l.jsonl"
    labels.write_text(json.dumps(dict(zip(fields, key(one), strict=True)) | {"label": "so so"}))
    done = command("labels", "next", job, "--human", labels)
    assert done.status == 1 and "--map 'so so'=LABEL" in done.err
    done = command(
        "labels", "next", job, "--human", labels, "--map", "so so=partial", "--budget", 1
    )
    assert (done.status, "gain: on WEIGHTED_PRECISION of judge support" in done.out) == (0, True)


def test_an_item_has_what_helps_to_label_it(job: Path) -> None:
    for _, candidate in label_next(job, 5, {}):
        assert candidate.text
        assert candidate.label in ("full_support", "partial_support", "no_support")
        assert candidate.reason


def test_items_can_be_drawn_at_random(job: Path) -> None:
    drawn = label_next(job, 12, {}, at_random=True)
    assert drawn == label_next(job, 12, {}, at_random=True)
    assert len({key(c) for _, c in drawn}) == 12
    assert drawn != label_next(job, 12, {})
    every = label_next(job, 100, {}, at_random=True), label_next(job, 100, {})
    assert [key(c) for _, c in every[0]] == [key(c) for _, c in every[1]]
    assert [{c.sampled for _, c in own} for own in every] == [{"random"}, {"ranking"}]


def test_a_sample_is_one_of_responses(job: Path) -> None:
    every = {(c.run_id, c.topic_id) for _, c in label_next(job, 100, {}, at_random=True)}
    drawn = [(c.run_id, c.topic_id) for _, c in label_next(job, len(every), {}, at_random=True)]
    assert sorted(drawn) == sorted(every)


def test_a_citation_of_no_document_cannot_be_labelled(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q")
    found = label_next(tmp_path, 100, {})
    assert len(found) == 38  # of 39 citations one is out of range
    assert all(candidate.doc_id for _, candidate in found)


def test_by_another_measure(job: Path) -> None:
    assert label_next(job, 100, {}, "HARD_RECALL")
    with pytest.raises(InputError, match="unknown measure 'X'; there are: EXPECTED_PRECISION"):
        label_next(job, 1, {}, "X")


def test_a_judge_that_takes_no_labels(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q", "--judge", "length")
    with pytest.raises(InputError, match="its judge takes no labels of people"):
        label_next(tmp_path, 1, {})


def test_nothing_was_judged_there(tmp_path: Path) -> None:
    (tmp_path / "lb.txt").write_text("a all M 1\n")
    with pytest.raises(InputError, match=r"no NAME\.judgments\.jsonl in it; give the --out-dir"):
        label_next(tmp_path, 1, {})


def test_labels_to_calibrate_by_are_drawn_from_what_words_weighed(job: Path) -> None:
    every = label_for_calibration(job, 100, {})
    drawn = label_for_calibration(job, 5, {})
    assert drawn == label_for_calibration(job, 5, {})
    assert {key(c) for c in drawn} < {key(c) for c in every}
    assert all(c.text and c.label and c.share is not None and 0 <= c.share <= 1 for c in every)
    assert not {key(c) for c in drawn} & {
        key(c) for c in label_for_calibration(job, 100, {key(c): "full" for c in drawn})
    }


def test_without_words_there_is_nothing_to_calibrate(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q", "--judge", "length")
    with pytest.raises(InputError, match="no item to label has `expected`"):
        label_for_calibration(tmp_path, 5, {})
