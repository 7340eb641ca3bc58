"""Jobs whose judges take claims from answers."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.commandline import Done, command, sample
from tests.endpoint import Answer, Script, serving, text_of
from tests.fakes import always, response
from trecjudge.errors import PluginError, WorkflowError
from trecjudge.judging.claims.by_model import Cascade, ModelDetector
from trecjudge.judging.claims.by_words import LexicalDetector
from trecjudge.judging.claims.judge import ClaimJudging
from trecjudge.judging.claims.search import Library
from trecjudge.judging.offline.support import format_calibration, shipped_calibration
from trecjudge.models.model import NoModel
from trecjudge.records import Document
from trecjudge.text.embeddings import embedder


def library(*texts: str) -> Library:
    """Return documents `d0`, `d1`, ... with these texts."""
    return Library([Document(f"d{number}", text) for number, text in enumerate(texts)])


@pytest.fixture
def without_the_extra(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make `wordllama` a package that is not installed."""
    monkeypatch.setitem(sys.modules, "wordllama", None)
    embedder.cache_clear()
    yield
    embedder.cache_clear()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"overlap": 1.5}, "overlap: 1.5 is too large; give a number from 0 to 1"),
        ({"similarity": -1}, "similarity: -1 is too small; give a number from 0 to 1"),
        ({"characters": 10}, "characters: 10 is too small; give a whole number of at least 500"),
        ({"rounds": 0}, "rounds: 0 is too small; give a whole number of at least 1"),
        ({"cascade": ["llm", "lexical"]}, "cascade is llm, lexical: .* llm last"),
        ({"cascade": ["lexical", "lexical"]}, "at most once each"),
        ({"cascade": ["auto"]}, "name lexical, semantic, llm"),
    ],
    ids=range(7),
)
def test_settings_that_cannot_be(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(WorkflowError, match=message):
        ClaimJudging(**settings)


def test_auto_takes_the_model_where_there_is_one() -> None:
    assert isinstance(ClaimJudging().detector_for(NoModel()), LexicalDetector)
    assert isinstance(ClaimJudging().detector_for(always("x")), ModelDetector)
    row = ClaimJudging(cascade=["lexical", "llm"]).detector_for(always("x"))
    assert isinstance(row, Cascade)
    assert ([detector.name for detector in row.cheap], row.last.name) == (["lexical"], "llm")


def test_a_share_is_asked_for_only_where_it_is_set() -> None:
    assert ClaimJudging().by_words() == LexicalDetector(None)
    assert ClaimJudging(overlap=0.7).by_words().threshold == 0.7
    assert ClaimJudging(calibration="own.json").by_words().calibration == "own.json"


@pytest.mark.usefixtures("without_the_extra")
def test_semantic_says_which_extra_it_needs() -> None:
    with pytest.raises(PluginError, match=r"pip install 'trecjudge\[semantic\]'"):
        ClaimJudging(detector="semantic")


@pytest.mark.usefixtures("without_the_extra")
def test_without_the_extra_passages_for_a_model_are_found_by_words() -> None:
    found = ClaimJudging().detector_for(always("x"))
    assert isinstance(found, ModelDetector)
    assert found.embedder is None


def test_where_no_document_was_given_nothing_is_paid_for() -> None:
    model = always("x")
    without = replace(response(("Kettles whistle.", ["d"])), documents_given=False)
    claims = asyncio.run(ClaimJudging(claims="llm").claims_of(without, model))
    assert ([claim.text for claim in claims], model.asked) == (["Kettles whistle."], [])


JUDGES = ("attribution", "faithfulness", "grounding")


def claims_reply(body: dict[str, Any], number: int) -> Answer:
    """Answer every question on claims: one claim a sentence, each stated by its documents."""
    asked = text_of(body)
    name = body["response_format"]["json_schema"]["name"]
    if name == "claims":
        lines = re.findall(r"^\[(\d+)\] (.*)$", asked, re.MULTILINE)
        made = [{"sentence": int(n), "claim": c, "importance": "vital"} for n, c in lines]
        return Answer(content=json.dumps({"claims": made}))
    if name == "attribute":
        fields = {"quotes": [nearest(asked)], "reason": "So.", "match": "INFERENCE"}
        return Answer(content=json.dumps(fields | {"verdict": "ATTRIBUTED"}))
    if name == "truths":
        text = asked.split("[[ ## text ## ]]", 1)[1].split("\n\n", 1)[0]
        return Answer(content=json.dumps({"truths": text.strip().split(". ")}))
    number = int(nearest(asked, "claims").partition(".")[0])
    verdict = {"number": 1, "reason": "So.", "truth": number, "verdict": "yes"}
    return Answer(content=json.dumps({"verdicts": [verdict]}))


def nearest(asked: str, field: str = "claim") -> str:
    """Return the line before a field that shares most words with it."""
    before, _, claim = asked.partition(f"[[ ## {field} ## ]]")
    words = set(claim.split())
    return max(before.splitlines(), key=lambda line: len(words.intersection(line.split())))


def with_model(
    script: Script, monkeypatch: pytest.MonkeyPatch, out: Path, *arguments: str
) -> tuple[Done, int]:
    """Judge the rag sample by a model; the outcome, and how many requests it took."""
    with serving(script) as endpoint:
        for name, value in endpoint.environment().items():
            monkeypatch.setenv(name, value)
        done = sample("rag", out, "--use-env-llm", "--json", *arguments)
    return done, len(endpoint.requests)


def judgments(out: Path) -> list[dict[str, Any]]:
    records = map(orjson.loads, (out / "x.judgments.jsonl").read_bytes().splitlines())
    return [record for record in records if record["record"] == "judgment"]


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("dataset", ["rag", "dragun"])
def test_the_ranking_is_visibly_right_and_rescore_repeats_it(
    judge: str, dataset: str, tmp_path: Path
) -> None:
    done = sample(dataset, tmp_path, "--json", "--workflow", f"{judge}_{dataset}")
    assert done.status == 0, done.err
    assert json.loads(done.out)["runs"][0]["run_id"] == "careful"
    before = (tmp_path / "x.leaderboard.txt").read_bytes()
    assert command("job", "rescore", tmp_path / "x.judgments.jsonl", "-q").status == 0
    assert (tmp_path / "x.leaderboard.txt").read_bytes() == before


def test_an_uncited_claim_is_judged_beside_documents_in_another_script(tmp_path: Path) -> None:
    done = sample("ragtime", tmp_path, "--json", "--judge", "attribution")
    assert (done.status, json.loads(done.out)["failures"]) == (0, {})
    texts = {j["claim"]["text"]: j["label"] for j in judgments(tmp_path) if j.get("claim")}
    assert texts["Taken together, these steps have given the craft a future."] == "UNATTRIBUTED"


@pytest.mark.parametrize("judge", JUDGES)
def test_with_a_model_every_claim_is_judged(
    judge: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = ("--set", "group=1") if judge == "faithfulness" else ()
    done, _ = with_model(claims_reply, monkeypatch, tmp_path, "--judge", judge, *group)
    assert done.status == 0, done.err
    summary = json.loads(done.out)
    rates = {run["run_id"]: run["means"][summary["ranked_by"]]["value"] for run in summary["runs"]}
    assert rates["careful"] > 0.6


@pytest.mark.parametrize("judge", JUDGES)
def test_a_calibration_of_ones_own_decides(judge: str, tmp_path: Path) -> None:
    never = replace(shipped_calibration(), supported=-90.0, full=-90.0)
    path = tmp_path / "never.json"
    path.write_text(format_calibration(never), encoding="utf-8")
    done = sample("rag", tmp_path, "-q", "--judge", judge, "--calibration", path)
    assert done.status == 0, done.err
    claims = [j for j in judgments(tmp_path) if j.get("claim")]
    assert {j["expected"] for j in claims if j.get("match") != "INFERENCE"} == {0.0}


def test_a_calibration_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text("{}", encoding="utf-8")
    done = sample("rag", tmp_path, "-q", "--judge", "grounding", "--calibration", path)
    assert done.status == 1
    assert "broken.json: is no calibration" in done.err


def test_a_workflow_that_sets_a_share_goes_on_as_before(tmp_path: Path) -> None:
    done = sample("rag", tmp_path, "-q", "--judge", "attribution", "--set", "overlap=0.7")
    assert done.status == 0, done.err
    claims = [j for j in judgments(tmp_path) if j.get("claim")]
    assert all("expected" not in j and "of its weight" in j["reason"] for j in claims[:1])


def test_two_judges_share_their_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = ("--cache-dir", str(tmp_path / "cache"))
    one, single = with_model(claims_reply, monkeypatch, tmp_path, "--judge", "attribution", *cache)
    fresh = ("--cache-dir", str(tmp_path / "other"))
    both = ("--judge", "attribution,grounding", *fresh)
    two, together = with_model(claims_reply, monkeypatch, tmp_path, *both)
    assert (one.status, two.status) == (0, 0)
    assert single == together


def test_a_cascade_counts_the_calls_that_it_spares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("--judge", "attribution", "--set", "claims=rules", "--set", "cascade=[lexical,llm]")
    done, requests = with_model(claims_reply, monkeypatch, tmp_path, *options)
    calls = json.loads(done.out)["calls"]
    by_words = [j for j in judgments(tmp_path) if j.get("claim") and j["attester"] == "lexical"]
    assert calls["spared"] == len(by_words) > 0
    assert requests == calls["calls"]


def test_a_plan_counts_questions_on_claims_that_are_not_known_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, requests = with_model(
        claims_reply, monkeypatch, tmp_path, "--judge", "attribution", "--plan"
    )
    plan = json.loads(done.out)
    assert requests == 0
    assert plan["calls"] > 9


def test_claims_that_cannot_be_listed_leave_a_response_unjudged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return Answer(content="no JSON at all")

    options = ("--judge", "attribution", "--max-topics", "1", "--set", "llm.tries=1")
    done, _ = with_model(script, monkeypatch, tmp_path, *options)
    summary = json.loads(done.out)
    assert (done.status, summary["failures"]) == (3, {"parse": 3})
    mean = summary["runs"][0]["means"]["ATTRIBUTION_RATE"]
    assert (mean["value"], mean["lowest"], mean["highest"]) == (None, 0.0, 1.0)


def test_document_text_stays_out_of_the_files(tmp_path: Path) -> None:
    done = sample("rag", tmp_path, "-q", "--judge", "attribution", "--no-document-text")
    assert done.status == 0
    for record in judgments(tmp_path):
        assert not any(source["excerpt"] for source in record.get("sources", ()))
        assert not any(fact["text"] for fact in record.get("facts", ()))


def test_grades_of_documents_give_what_was_retrieved(tmp_path: Path) -> None:
    sample("rag", tmp_path / "first", "-q", "--judge", "grounding")
    records = (tmp_path / "first" / "x.judgments.jsonl").read_bytes().splitlines()
    responses = [r for r in map(orjson.loads, records) if r["record"] == "response"]
    qrels = tmp_path / "qrels"
    third = {r["topic_id"]: r["references"][2] for r in responses if r["run_id"] == "careful"}
    qrels.write_text("".join(f"{topic} 0 {doc} 1\n" for topic, doc in third.items()) + "odd\n")
    done = sample("rag", tmp_path / "out", "--json", "--judge", "grounding", "--qrels", qrels)
    assert done.status == 3  # a line of the grades cannot be read
    assert "qrels:4: has 1 columns, not 4" in done.err
    best = next(r for r in json.loads(done.out)["runs"] if r["run_id"] == "careful")
    assert best["means"]["RETRIEVAL_HIT_3"]["value"] == 1.0


@pytest.mark.parametrize("text", [None, ""], ids=["not there", "empty"])
def test_unusable_grades_are_reported_in_one_line(text: str | None, tmp_path: Path) -> None:
    qrels = tmp_path / "qrels"
    if text is not None:
        qrels.write_text(text)
    done = sample("rag", tmp_path / "out", "--judge", "grounding", "--qrels", qrels)
    assert done.status == 1
    assert re.search(r"qrels: no (such qrels file|grades in it)", done.err)


@pytest.mark.parametrize(
    "settings",
    [
        ("--judge", "attribution", "--set", "detector=llm"),
        ("--judge", "grounding", "--set", "claims=llm"),
        ("--judge", "faithfulness", "--set", "cascade=[lexical, llm]"),
        ("--judge", "citation", "--set", "attester=llm"),
        ("--judge", "direct_prompt", "--set", "attester=llm"),
    ],
    ids=lambda settings: settings[1],
)
def test_settings_that_ask_for_a_model_need_one(settings: tuple[str, ...], tmp_path: Path) -> None:
    done = sample("rag", tmp_path / "out", "-q", *settings)
    assert done.status == 1
    assert f"judge {settings[1]}: its settings ask for a model: add --use-env-llm" in done.err
    assert not list((tmp_path / "out").glob("*"))
