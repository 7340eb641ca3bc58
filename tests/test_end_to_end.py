"""The main job on the sample data of each dataset: ranking, files, repeatability, rescore."""

from __future__ import annotations

import json
import re
from pathlib import Path

import orjson
import pytest
import yaml

from tests.commandline import SAMPLES, command, judge, sample
from tests.endpoint import attesting, serving
from trecjudge.results.leaderboards.reading import read_rows
from trecjudge.results.trec import read_qrels

DATASETS = ("rag", "ragtime", "dragun")
STEADY = ("leaderboard.txt", "leaderboard.jsonl", "qrels", "judgments.jsonl")
GOOD = (
    '{"metadata": {"team_id": "teamx", "run_id": "%s", "topic_id": "%s"}, "responses": '
    '[{"text": "A kettle whistles when steam rushes through a narrow gap.", "citations": ["k"]}], '
    '"documents": {"k": {"id": "k", "text": "Steam forced through a small gap in the spout makes '
    'a kettle whistle."}}}\n'
)


def files(folder: Path, name: str = "x") -> dict[str, bytes]:
    endings = tuple(f".{kind}" for kind in STEADY)
    paths = (path for path in folder.glob(f"{name}.*") if path.name.endswith(endings))
    return {path.name: path.read_bytes() for path in paths}


def means(folder: Path, measure: str) -> dict[str, float]:
    rows = read_rows(folder / "x.leaderboard.txt", lambda finding: pytest.fail(str(finding)))
    return {run: value for _, (run, topic, m, value) in rows if (topic, m) == (None, measure)}


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_ranking_is_visibly_right(dataset: str, tmp_path: Path) -> None:
    done = sample(dataset, tmp_path, "--json", "--dataset", dataset)
    summary = json.loads(done.out)
    assert (done.status, summary["exit_status"]) == (0, 0)
    assert [run["run_id"] for run in summary["runs"]] == ["careful", "uncited", "careless"]
    support = means(tmp_path, "CITATION_SUPPORT")
    assert support["careful"] > 0.8
    assert support["careless"] < 0.3


@pytest.mark.parametrize("dataset", DATASETS)
def test_offline_labels_agree_with_the_sample_labels(dataset: str, tmp_path: Path) -> None:
    sample(dataset, tmp_path, "-q")
    lines = (SAMPLES / dataset / "labels.jsonl").read_bytes().splitlines()
    labels = {
        (r["run_id"], r["topic_id"], r["sentence_index"], r["doc_id"]): r["label"]
        for r in map(orjson.loads, lines)
    }
    judgments = (tmp_path / "x.judgments.jsonl").read_bytes().splitlines()
    found = [r for r in map(orjson.loads, judgments) if r["record"] == "judgment" and r["doc_id"]]
    keys = [(r["run_id"], r["topic_id"], r["sentence_index"], r["doc_id"]) for r in found]
    assert sorted(keys) == sorted(labels)
    same = sum(labels[key] == r["label"] for key, r in zip(keys, found, strict=True))
    assert same >= 0.9 * len(labels)


@pytest.mark.parametrize("dataset", DATASETS)
def test_two_runs_write_the_same_bytes_and_so_does_rescore(dataset: str, tmp_path: Path) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    sample(dataset, first, "-q")
    sample(dataset, second, "-q")
    assert files(first) == files(second)
    before = files(first)
    (first / "x.leaderboard.txt").unlink()
    (first / "x.leaderboard.jsonl").unlink()
    (first / "x.qrels").unlink()
    assert command("job", "rescore", first / "x.judgments.jsonl", "-q").status == 0
    assert files(first) == before


def test_the_log_has_what_was_given_and_its_outcome(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q")
    events = [orjson.loads(line) for line in (tmp_path / "x.log").read_bytes().splitlines()]
    names = [event["event"] for event in events]
    assert (names[0], names[-1]) == ("session_start", "session_end")
    given, found = (
        next(e for e in events if e["event"] == f"CITATION_{x}") for x in ("INPUT", "OUTPUT")
    )
    assert list(given) == [
        "event", "timestamp", "run_id", "topic_id", "judge", "sentence_index", "citation_id",
        "citation_exists", "sentence",
    ]  # fmt: skip
    added = {
        "citation_supports", "label", "grade", "reason", "evidence", "attester",
    }  # fmt: skip
    assert added <= set(found)
    assert names.count("CITATION_INPUT") == names.count("CITATION_OUTPUT") == 39
    (finding,) = [event for event in events if event["event"] == "FINDING"]
    assert (finding["kind"], finding["sentence"]) == ("citation_out_of_range", 2)


def test_document_text_stays_out_of_the_files(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q", "--no-document-text")
    quote = b"charges in four"
    assert quote not in (tmp_path / "x.log").read_bytes()
    for line in (tmp_path / "x.judgments.jsonl").read_bytes().splitlines():
        evidence = orjson.loads(line).get("evidence")
        assert not evidence or not evidence["quote"]


def test_without_a_log(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q", "--no-debug-log")
    assert not (tmp_path / "x.log").exists()


def test_pooled_qrels(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q", "--qrels-pool")
    rows = list(read_qrels(tmp_path / "x.qrels", lambda finding: pytest.fail(str(finding))))
    assert {row.iteration for row in rows} == {"0"}
    pairs = [(row.topic_id, row.doc_id) for row in rows]
    assert pairs == sorted(set(pairs))


def test_first_topics_and_runs(tmp_path: Path) -> None:
    done = sample("rag", tmp_path, "--json", "--max-topics", "1", "--max-runs", "2")
    summary = json.loads(done.out)
    assert (summary["topics"], len(summary["runs"])) == (1, 2)
    assert "topic_unknown" not in summary["findings"]


def test_the_config_makes_it_repeatable(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q", "--set", "partial=0.25")
    config = yaml.safe_load((tmp_path / "x.config.yml").read_text())
    assert config["judges"]["citation"] == {
        "attester": "auto",
        "calibration": "",
        "group": 1,
        "partial": 0.25,
    }
    assert len(config["inputs_sha256"]) == 5
    assert config["inputs"] == {
        "topics": str(SAMPLES / "rag" / "topics.jsonl"),
        "runs": [str(SAMPLES / "rag" / "runs")],
        "documents": [str(SAMPLES / "rag" / "documents.jsonl")],
        "own_documents": False,
        "dataset": "auto",
        "document_text": True,
    }
    assert config["counts"]["items_judged"] == config["counts"]["items_expected"] == 39


def test_every_point_of_a_sweep_has_files_of_its_own(tmp_path: Path) -> None:
    workflow = SAMPLES.parent / "workflows" / "citation.yml"
    done = sample("rag", tmp_path, "--json", "--workflow", workflow, "--sweep", "partial")
    assert [job["name"] for job in json.loads(done.out)["jobs"]] == [
        f"x.partial-{value}" for value in (0.0, 0.25, 0.5, 0.75, 1.0)
    ]
    assert (tmp_path / "x.partial-0.5.leaderboard.txt").exists()


def test_a_sweep_of_one_of_two_judges_moves_its_own_measure(tmp_path: Path) -> None:
    workflow = tmp_path / "w.yml"
    sweep = "sweeps: {p: {citation.partial: [0, 1e-1, 1E0]}}"
    workflow.write_text(
        f"judge: [citation, length]\nsettings: {{length: {{limit: 90}}}}\n{sweep}\n"
    )
    assert sample("rag", tmp_path, "-q", "--workflow", workflow, "--sweep", "p").status == 0
    settings = [
        yaml.safe_load(path.read_text())["judges"]
        for path in sorted(tmp_path.glob("x.*.config.yml"))
    ]
    assert {found["citation"]["partial"] for found in settings} == {0.0, 0.1, 1.0}
    assert [found["length"]["limit"] for found in settings] == [90, 90, 90]


def test_a_point_that_cannot_be_stops_all_before_anything_is_written(tmp_path: Path) -> None:
    workflow = tmp_path / "w.yml"
    workflow.write_text("sweeps: {p: {partial: [0.5, 7]}}")
    done = sample("rag", tmp_path / "out", "--workflow", workflow, "--sweep", "p")
    assert (done.status, "partial: 7 is too large; give a number from 0 to 1" in done.err) == (
        1,
        True,
    )
    assert not (tmp_path / "out").exists()


def test_a_judge_beside_those_whose_measures_a_workflow_shows(tmp_path: Path) -> None:
    beside = ("--workflow", "attribution_dragun", "--also", "length", "--set", "length.limit=90")
    summary = json.loads(sample("dragun", tmp_path, "--json", *beside).out)
    assert summary["ranked_by"] == "EXPECTED_ATTRIBUTION"
    shown = ["ATTRIBUTION_RATE", "EXPECTED_ATTRIBUTION", "CONTRADICTION_RATE", "DOCUMENT_COVERAGE"]
    assert list(summary["measures"]) == [*shown, "LENGTH", "FITS"]
    before = files(tmp_path)
    assert command("job", "rescore", tmp_path / "x.judgments.jsonl", "-q", "--trust").status == 0
    assert files(tmp_path) == before


def test_a_cut_line_is_reported_the_rest_judged_and_the_status_is_3(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    text = GOOD % ("mal", "t1") + '{"metadata": {"team_id": "teamx"\n' + GOOD % ("mal", "t2")
    (tmp_path / "runs" / "mal.jsonl").write_text(text)
    done = judge(tmp_path / "runs", tmp_path / "out")
    assert done.status == 3
    assert "mal.jsonl:2: is not JSON" in done.err
    assert "1 run, 2 of 2 responses, 2 of 2 items judged" in done.out


def test_a_missing_response_counts_as_on_missing_says(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"request_id": "t1"}\n{"request_id": "t2"}\n')
    (tmp_path / "part.jsonl").write_text(GOOD % ("part", "t1"))
    done = judge(tmp_path / "part.jsonl", tmp_path / "out", topics=tmp_path / "t.jsonl")
    assert done.status == 0
    assert "run 'part' has no response on 1 of 2 topics: t2" in done.err
    assert means(tmp_path / "out", "CITATION_SUPPORT") == {"part": 0.5}


def test_runs_without_document_text_are_not_scored_but_reported(tmp_path: Path) -> None:
    done = judge(SAMPLES / "dragun" / "runs", tmp_path)
    assert done.status == 3
    assert "the runs carry no document text. Supply it with --documents FILE" in done.out
    assert means(tmp_path, "CITATION_SUPPORT") == {}
    assert means(tmp_path, "AVG_CITATIONS")["careful"] == pytest.approx(17 / 3)


def test_strict_stops_before_anything_is_judged(tmp_path: Path) -> None:
    done = sample("rag", tmp_path, "--strict")
    assert done.status == 1
    assert "error: --strict: 1 findings; the first: " in done.err
    assert "careless.jsonl:2: sentence 3 cites 9, references has 5" in done.err
    assert not (tmp_path / "x.judgments.jsonl").exists()


def test_a_model_that_always_says_yes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    for run in ("a", "b"):
        (runs / f"{run}.jsonl").write_text(GOOD % (run, "1"))
    (runs / "uncited.jsonl").write_text(
        '{"metadata": {"team_id": "tx", "run_id": "uncited", "topic_id": "1"}, "responses": '
        '[{"text": "Steam makes the whistle.", "citations": []}], "documents": {}}\n'
    )
    with serving(attesting(evidence="a small gap"), monkeypatch):
        done = judge(runs, tmp_path / "out", "--use-env-llm")
    assert done.status == 0
    for measure in ("CITATION_ACCURACY", "CITATION_SUPPORT"):
        assert means(tmp_path / "out", measure) == {"a": 1.0, "b": 1.0, "uncited": 0.0}
    log = (tmp_path / "out" / "x.log").read_text()
    assert '"event":"MODEL_CALL"' in log
    assert "sk-secret" not in log + (tmp_path / "out" / "x.config.yml").read_text()


def test_a_new_judge_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "judges" / "echo"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(
        "from dataclasses import dataclass\n"
        "from trecjudge.measures import LeaderboardSpec, MeasureSpec\n"
        "from trecjudge.records import Item, judgment_of\n"
        "@dataclass(frozen=True)\nclass Echo:\n    'Says yes.'\n"
        "    measures = LeaderboardSpec((MeasureSpec('YES', lambda r, j: len(j)),))\n"
        "    def pool(self, topic, response):\n"
        "        yield Item(topic, response.run_id, response.text)\n"
        "    async def judge(self, item, model):\n"
        "        return judgment_of(item, label='yes')\n"
    )
    monkeypatch.chdir(tmp_path)
    assert re.search(r"echo +Says yes\.", command("judges").out)
    assert sample("rag", tmp_path / "out", "-q", "--judge", "echo").status == 0
    assert set(means(tmp_path / "out", "YES").values()) == {1.0}
    outside = sample("rag", tmp_path / "out", "-q", "--judge", "judges.length:LengthJudge")
    assert outside.status == 0
    judgments = tmp_path / "out" / "x.judgments.jsonl"
    assert b'"judges.length:LengthJudge"' in judgments.read_bytes()
    assert command("job", "rescore", judgments, "-q").status == 0


def test_own_measures_and_prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "counted_by_us.py").write_text(
        "def sentences(response, judgments):\n    return len(response.sentences)\n"
    )
    (tmp_path / "w.yml").write_text(
        "measures: [counted_by_us:sentences]\nprompts:\n"
        "  attest: Does the {document} prove the {sentence}?\n"
    )
    with serving(attesting(), monkeypatch) as endpoint:
        done = sample("rag", tmp_path, "-q", "--workflow", tmp_path / "w.yml", "--use-env-llm")
    assert done.status == 0
    assert means(tmp_path, "SENTENCES")["careful"] == pytest.approx(17 / 3)
    system = endpoint.requests[0]["messages"][0]["content"]
    assert "Does the `document` prove the `sentence`?" in system
    assert command("job", "rescore", tmp_path / "x.judgments.jsonl", "-q", "--trust").status == 0


def test_check_reports_and_mends(tmp_path: Path) -> None:
    folder = SAMPLES / "rag"
    topics = ("--rag-topics", folder / "topics.jsonl")
    done = command("check", folder / "runs", *topics, "--fix", tmp_path)
    assert done.status == 1
    assert "refused (citation_out_of_range): " in done.out
    assert "1 refused, 2 accepted" in done.out
    again = command("check", tmp_path, *topics, "--json")
    assert (again.status, json.loads(again.out)["totals"]["accepted"]) == (0, 3)


def test_the_main_job_checks_first_unless_told_not_to(tmp_path: Path) -> None:
    long = GOOD.replace("A kettle whistles", "A kettle " + "often " * 3000 + "whistles")
    (tmp_path / "r.jsonl").write_text(long % ("r", "1"))
    (tmp_path / "t.jsonl").write_text('{"topic_id": "1", "request_id": "1", "limit": 2000}\n')
    given = (tmp_path / "r.jsonl", tmp_path / "out", "--json")
    found = json.loads(judge(*given, topics=tmp_path / "t.jsonl").out)["findings"]
    assert (found["too_long"], found["references_missing"]) == (1, 1)
    found = json.loads(judge(*given, "--no-check", topics=tmp_path / "t.jsonl").out)["findings"]
    assert "too_long" not in found
    strict = judge(*given, "--strict", topics=tmp_path / "t.jsonl")
    assert (strict.status, strict.out) == (1, "")


def test_one_topic_and_one_run(tmp_path: Path) -> None:
    done = sample("rag", tmp_path, "--json", "--topic", "12", "--run", "careful")
    summary = json.loads(done.out)
    assert (summary["topics"], [run["run_id"] for run in summary["runs"]]) == (1, ["careful"])
    unknown = sample("rag", tmp_path, "--topic", "99")
    assert (unknown.status, "unknown topic '99'" in unknown.err) == (1, True)


def test_several_judges_write_one_set_of_files(tmp_path: Path) -> None:
    both = ("--judge", "citation", "--also", "length", "--set", "length.limit=90")
    done = sample("rag", tmp_path, "--json", *both)
    summary = json.loads(done.out)
    assert summary["judge"] == "citation,length"
    assert (summary["ranked_by"], summary["ranks_for"]) == (
        "EXPECTED_CITATION_SUPPORT",
        "CITATION_SUPPORT",
    )
    assert {"CITATION_SUPPORT", "LENGTH", "FITS"} <= set(summary["measures"])
    before = files(tmp_path)
    assert command("job", "rescore", tmp_path / "x.judgments.jsonl", "-q", "--trust").status == 0
    assert files(tmp_path) == before


def test_labels_of_a_human_as_the_judge(tmp_path: Path) -> None:
    labels = SAMPLES / "rag" / "labels.jsonl"
    done = sample("rag", tmp_path, "--json", "--judgments-from", labels)
    summary = json.loads(done.out)
    assert (done.status, summary["unjudged"]) == (0, 0)
    support = means(tmp_path, "CITATION_SUPPORT")
    assert support["uncited"] == pytest.approx(1 / 3)
    refused = sample("rag", tmp_path, "--judge", "length", "--judgments-from", labels)
    assert "judge 'length' takes no labels of others" in refused.err


def test_a_shipped_workflow_by_its_name(tmp_path: Path) -> None:
    done = sample("dragun", tmp_path, "--json", "--workflow", "citation_dragun")
    assert (done.status, json.loads(done.out)["judge"]) == (0, "citation")
    config = yaml.safe_load((tmp_path / "x.config.yml").read_text())
    assert config["judges"]["citation"]["partial"] == 0.5
