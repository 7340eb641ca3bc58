"""A judge tried on labelled items before a job: what is asked, what stops, what is written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commandline import SAMPLES, Done, command, sample
from tests.endpoint import Answer, Endpoint, attesting, serving

LABELS = SAMPLES / "rag" / "labels.jsonl"
PAIRS = [
    ("A bridge opened in 1932.", "The bridge was opened in 1932.", "full_support"),
    ("A bridge opened in 1932.", "Bananas are yellow fruit.", "no_support"),
    ("Bananas are yellow.", "Bananas are yellow fruit.", "full"),
    ("Bananas are yellow.", "The bridge was opened in 1932.", "NONE"),
]


def pair_lines(flip: bool = False) -> str:
    """Return labelled pairs, each a line; `flip` turns every label around."""
    other = {"full_support": "NONE", "full": "no_support", "no_support": "full", "NONE": "FULL"}
    return "".join(
        json.dumps({"sentence": s, "passage": d, "label": other[label] if flip else label}) + "\n"
        for s, d, label in PAIRS
    )


def workflow(folder: Path, **audit: Any) -> Path:
    """Write a workflow of the citation judge with this audit."""
    path = folder / "w.yml"
    path.write_text(yaml.safe_dump({"judge": "citation", "audit": audit}))
    return path


def config(folder: Path) -> dict[str, Any]:
    """Return the config of the job `x`."""
    found: dict[str, Any] = yaml.safe_load((folder / "x.config.yml").read_text())
    return found


def test_without_a_model_pairs_are_judged_and_the_figures_kept(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text(pair_lines())
    path = workflow(tmp_path, labels="p.jsonl", min={"accuracy": 1, "judged": 1})
    done = sample("rag", tmp_path, "--workflow", path)
    assert done.status == 0, done.err
    line = next(line for line in done.out.splitlines() if line.startswith("audit: "))
    assert line.startswith("audit: judge citation on 4 labelled items of 1 topic: accuracy 1.000")
    audit = config(tmp_path)["audit"]
    assert (audit["items"], audit["unjudged"], audit["broken"]) == (4, 0, [])
    assert (audit["figures"]["kappa"], audit["figures"]["judged"]) == (1.0, 1.0)
    assert str(tmp_path / "p.jsonl") in config(tmp_path)["inputs_sha256"]
    # The judgments are those of the runs only.
    assert "audit-" not in (tmp_path / "x.judgments.jsonl").read_text()
    events = [json.loads(line) for line in (tmp_path / "x.log").read_text().splitlines()]
    tried = [event for event in events if event.get("run_id", "").startswith("audit-")]
    assert len(tried) == 8 and all(event["audit"] is True for event in tried)
    assert [event["items"] for event in events if event["event"] == "audit"] == [4]


def test_below_its_bound_nothing_else_is_judged(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text(pair_lines(flip=True))
    path = workflow(tmp_path, labels="p.jsonl", min={"kappa": 0.2})
    done = sample("rag", tmp_path, "--workflow", path)
    assert done.status == 1
    last = done.err.splitlines()[-1]
    assert last == (
        f"error: audit: judge citation on 4 items of 1 topic of {tmp_path / 'p.jsonl'}:"
        " kappa is -1.0000, must be at least 0.2; nothing else was judged"
    )
    assert [p.name for p in tmp_path.glob("x.*")] == ["x.log.part"]


def test_the_report_shows_the_figures(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text(pair_lines())
    path = workflow(tmp_path, labels="p.jsonl")
    assert sample("rag", tmp_path, "--workflow", path, "--report").status == 0
    page = (tmp_path / "x.report.html").read_text()
    assert "Audit: the judge on labelled items" in page


def test_a_job_can_be_compared_with_the_job_before(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text(pair_lines())
    assert sample("rag", tmp_path, "--workflow", workflow(tmp_path, labels="p.jsonl")).status == 0
    (tmp_path / "old.yml").write_bytes((tmp_path / "x.config.yml").read_bytes())
    (tmp_path / "p.jsonl").write_text(pair_lines(flip=True))
    path = workflow(tmp_path, labels="p.jsonl", baseline="old.yml", max_drop={"accuracy": 0.1})
    done = sample("rag", tmp_path, "--workflow", path)
    assert (done.status, "accuracy is 0.0000, was 1.0000" in done.err) == (1, True)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """Run an endpoint that supports everything; the environment leads there."""
    with serving(attesting(), monkeypatch) as found:
        yield found


def judged(folder: Path, path: Path, *flags: str) -> Done:
    """Judge the sample data by a workflow and a model, one item a request."""
    given = ("--use-env-llm", "--cache-dir", folder / "cache", "--set", "group=1")
    return sample("rag", folder, "--workflow", path, *given, *flags)


def test_a_bad_judge_costs_no_more_than_its_audit(tmp_path: Path, endpoint: Endpoint) -> None:
    (tmp_path / "p.jsonl").write_text(pair_lines())
    done = judged(tmp_path, workflow(tmp_path, labels="p.jsonl", min={"accuracy": 0.9}))
    assert (done.status, len(endpoint.requests)) == (1, 4), done.err
    assert "accuracy is 0.5000, must be at least 0.9" in done.err


def test_a_baseline_that_lacks_a_figure_costs_nothing(tmp_path: Path, endpoint: Endpoint) -> None:
    (tmp_path / "p.jsonl").write_text(pair_lines())
    (tmp_path / "old.yml").write_text("audit: {figures: {accuracy: 0.9}}")
    path = workflow(tmp_path, labels="p.jsonl", baseline="old.yml", max_drop={"kappa": 0.1})
    done = judged(tmp_path, path)
    assert (done.status, endpoint.requests) == (1, [])
    assert "old.yml: unknown figure 'kappa'; there are: accuracy" in done.err


def test_labels_of_another_judge_are_told_by_their_file(tmp_path: Path) -> None:
    path = workflow(tmp_path, labels=str(LABELS))
    done = sample("rag", tmp_path, "--workflow", path, "--judge", "length")
    assert done.status == 1
    assert f"audit: {LABELS} and the judgments of length have no item in common" in done.err


def test_what_the_audit_asked_is_not_asked_again(tmp_path: Path, endpoint: Endpoint) -> None:
    path = workflow(tmp_path, labels=str(LABELS))
    plan = judged(tmp_path, path, "--plan", "--json")
    done = judged(tmp_path, path)
    assert done.status == 0, done.err
    assert len(endpoint.requests) == json.loads(plan.out)["calls"]
    audit = config(tmp_path)["audit"]
    assert (audit["items"], audit["topics"]) == (38, 3)
    # All is supported, says this model, where a document is there; people say it of 23 of 38.
    assert audit["figures"]["accuracy"] == pytest.approx(23 / 38, abs=1e-6)


def test_voters_are_tried_as_one_judge(tmp_path: Path, endpoint: Endpoint) -> None:
    (tmp_path / "p.jsonl").write_text(pair_lines())
    path = workflow(tmp_path, labels="p.jsonl", min={"accuracy": 0.9})
    path.write_text(path.read_text() + "voters: {a: {samples: 3}}\n")
    done = judged(tmp_path, path)
    assert (done.status, len(endpoint.requests)) == (1, 12), done.err
    assert "accuracy is 0.5000, must be at least 0.9" in done.err


def test_without_one_judgment_there_is_no_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "p.jsonl").write_text(pair_lines())
    with serving(lambda body, number: Answer("no label at all"), monkeypatch):
        done = judged(tmp_path, workflow(tmp_path, labels="p.jsonl"))
    assert done.status == 1
    assert "audit: none of 4 items was judged: parse: " in done.err
    assert not (tmp_path / "x.judgments.jsonl").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param(
            '{"topic_id": "none", "run_id": "r", "sentence_index": 0, "doc_id": "d", "label": "f"}',
            "no label is on a response of these runs: there topic 'none', run 'r'",
            id="of other runs",
        ),
        pytest.param('{"sentence": "A.", "document": "B."}', "no labelled pair in it", id="bare"),
        pytest.param("{}", "no labels in it", id="neither"),
        pytest.param("", "no labels in it", id="empty"),
    ],
)
def test_labels_that_are_on_nothing_stop_the_job(line: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text(line)
    done = sample("rag", tmp_path, "--workflow", workflow(tmp_path, labels="p.jsonl"))
    assert (done.status, message in done.err) == (1, True), done.err


def test_by_itself(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text(pair_lines())
    path = workflow(tmp_path, labels="p.jsonl", min={"kappa": 0.9})
    kept = command("judges", "audit", "--workflow", path)
    assert kept.status == 0, kept.err
    assert kept.out.splitlines()[0].startswith("4 of 4 items have the same label (100.0%)")
    assert kept.out.splitlines()[-1] == "audit: judge citation, 0 items unjudged, 0 bounds broken"
    (tmp_path / "q.jsonl").write_text(pair_lines(flip=True))
    broken = command("judges", "audit", tmp_path / "q.jsonl", "--workflow", path, "--json")
    assert broken.status == 1
    found = json.loads(broken.out)
    assert found["broken"] == ["kappa is -1.0000, must be at least 0.9"]


def test_a_number_beyond_all_labels_is_told_in_a_line(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.jsonl"
    row = {"sentence": "It is tin.", "document": "It is tin.", "topic_id": "1"}
    rows = [row | {"label": label} for label in ("full", 10**30, "none")]
    pairs.write_text("".join(f"{json.dumps(one)}\n" for one in rows))
    done = command("judges", "audit", pairs, "--judge", "citation")
    assert "bug:" not in done.err and "is no label of support" in done.err


def test_labels_without_texts_need_the_runs() -> None:
    done = command("judges", "audit", LABELS)
    assert (done.status, "give the runs that they are on" in done.err) == (1, True)
    folder = SAMPLES / "rag"
    given = ("--rag-responses", folder / "runs", "--documents", folder / "documents.jsonl")
    done = command("judges", "audit", LABELS, *given, "--judge", "support", "--json")
    assert (done.status, json.loads(done.out)["items"]) == (0, 33)


def test_without_labels_there_is_nothing_to_try() -> None:
    done = command("judges", "audit")
    assert (done.status, "give a file of labels" in done.err) == (1, True)


def test_of_several_judges_that_take_labels_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "w.yml"
    for audit, status in ((str(LABELS), 1), ({"labels": str(LABELS), "judge": "support"}, 0)):
        path.write_text(yaml.safe_dump({"judge": ["citation", "support"], "audit": audit}))
        done = sample("rag", tmp_path, "-q", "--workflow", path)
        assert done.status == status
        assert status == 0 or "several judges take labels: citation, support" in done.err


def test_labels_of_several_people_in_other_words_are_read_from_a_table(tmp_path: Path) -> None:
    words = {"full_support": "gut", "partial_support": "gut", "no_support": "schlecht"}
    rows = ["topic_id;run_id;sentence_index;doc_id;annotator;label"]
    for line in map(json.loads, LABELS.read_text().splitlines()):
        key = ";".join(str(line[k]) for k in ("topic_id", "run_id", "sentence_index", "doc_id"))
        rows += [f"{key};{who};{words[line['label']]}" for who in ("p", "q")]
    table = tmp_path / "people.csv"
    table.write_text("\n".join(rows))
    runs = SAMPLES / "rag"
    given = ("--rag-responses", runs / "runs", "--documents", runs / "documents.jsonl")
    assert "--map gut=LABEL" in command("judges", "audit", table, *given).err
    done = command("judges", "audit", table, *given, "--map", "gut=full,schlecht=none", "--json")
    assert (done.status, json.loads(done.out)["figures"]["kappa"] > 0.9) == (0, True)


def test_a_map_of_the_labels_of_pairs_names_their_file(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text(pair_lines().replace("full_support", "good").replace("no_support", "bad"))
    done = command("judges", "audit", pairs, "--judge", "citation", "--map", "good=full,bad=none")
    assert (done.status, f"{pairs}: bad -> no_support" in done.err) == (0, True)
