"""No run gains by the documents that it carries: without text, in another script, or forged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import Done, command, judge
from tests.endpoint import serving
from tests.judging.claims.test_judge import claims_reply

STEAM = "Steam forced through a small gap in the spout makes a kettle whistle."
GOOD = f'{{"text": "{STEAM}", "citations": ["g"]}}'
BAD = (
    '{"text": "Kettles were invented in Lyon in 1894 by a nun.", "citations": ["bad"]},'
    ' {"text": "Nine in ten kettles are blue.", "citations": []}'
)
RUN = (
    '{"metadata": {"team_id": "t", "run_id": "%s", "topic_id": "1", "narrative": "kettles"},'
    ' "responses": [%s], "documents": %s}\n'
)
HONEST = f'{{"g": "{STEAM}", "bad": "Trams ran to the quay."}}'
JUDGES = "citation,support,citation_score,attribution,faithfulness,grounding"
Means = dict[str, dict[str, Any]]


def means(done: Done) -> Means:
    """Return the means of each run by measure, with all that stands beside them."""
    return {run["run_id"]: run["means"] for run in json.loads(done.out)["runs"]}


def judged(tmp_path: Path, documents: dict[str, str], *arguments: str | Path) -> Means:
    """Judge one run for each of these literal `documents`; nothing may be unjudged."""
    runs = tmp_path / "runs.jsonl"
    runs.write_text("".join(RUN % (run, f"{GOOD}, {BAD}", d) for run, d in documents.items()))
    done = judge(runs, tmp_path / "out", "--json", *arguments)
    assert done.status == 0, done.out + done.err
    return means(done)


@pytest.mark.parametrize(
    "document",
    [
        pytest.param('""', id="empty"),
        pytest.param("null", id="null"),
        pytest.param('{"text": " \\u200b\\ufeff"}', id="nothing to be seen"),
        pytest.param('{"title": "Kettles were invented in Lyon in 1894 by a nun."}', id="a title"),
        pytest.param('{"id": "bad"}', id="an id"),
    ],
)
def test_a_document_without_text_is_no_better_than_a_wrong_one(
    document: str, tmp_path: Path
) -> None:
    empty = f'{{"g": "{STEAM}", "bad": {document}}}'
    found = judged(tmp_path, {"honest": HONEST, "empty": empty}, "--judge", JUDGES)
    for run in found.values():
        run.pop("ATTRIBUTION_RECALL")  # of the facts of the documents: there are fewer
        run.pop("REDUNDANCY")  # 3e-7 between two documents, of one there is none
        assert run.pop("CITATION_SCORE")["value"] == pytest.approx(0.733333, abs=1e-6)
    assert found["empty"] == found["honest"]
    assert found["empty"]["CITATION_SUPPORT"]["value"] == 0.5


@pytest.mark.parametrize(
    "more",
    [
        pytest.param('"z": ""', id="without text"),
        pytest.param('"z": "水壶是蓝色的。"', id="in another script"),
        pytest.param('"z": "水壶是蓝色的。", "y": null', id="both"),
    ],
)
def test_an_uncited_document_shields_no_claim(more: str, tmp_path: Path) -> None:
    shield = f"{HONEST[:-1]}, {more}}}"
    names = "--judge", "attribution,faithfulness,grounding"
    found = judged(tmp_path, {"honest": HONEST, "shield": shield}, *names)
    for run in found.values():
        run.pop("DOCUMENT_COVERAGE")  # one more document that no claim is from
        run.pop("ATTRIBUTION_RECALL")  # and more facts
    assert found["shield"] == found["honest"]
    assert found["shield"]["FACTUALITY_RATE"]["value"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("name", ["attribution", "faithfulness", "grounding"])
def test_with_a_model_an_empty_document_shields_no_claim(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = ("--set", "group=1") if name == "faithfulness" else ()
    with serving(claims_reply) as endpoint:
        for key, value in endpoint.environment().items():
            monkeypatch.setenv(key, value)
        runs = {"honest": HONEST, "shield": f'{HONEST[:-1]}, "z": ""}}'}
        found = judged(tmp_path, runs, "--use-env-llm", "--judge", name, *group)
    found["shield"].pop("DOCUMENT_COVERAGE", None)
    assert found["shield"].items() <= found["honest"].items()


def test_documents_are_not_hidden_where_they_would_tell(tmp_path: Path) -> None:
    bare = (RUN % ("r", BAD, "null")).replace('"topic_id": "1"', '"topic_id": "2"')
    (tmp_path / "runs.jsonl").write_text(RUN % ("r", GOOD, HONEST) + bare)
    done = judge(tmp_path / "runs.jsonl", tmp_path / "out", "--json", "--judge", "citation")
    assert (done.status, means(done)["r"]["CITATION_SUPPORT"]["value"]) == (0, 0.5)
    assert "carries no documents for 1 citations; elsewhere the run does" in done.err


def test_where_the_organisers_document_has_no_text_it_stays_unjudged(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text('{"docid": "bad", "text": ""}\n')
    (tmp_path / "runs.jsonl").write_text(
        RUN % ("r", f"{GOOD}, {BAD}", f'{{"g": "{STEAM}", "bad": ""}}')
    )
    given = "--documents", tmp_path / "d.jsonl", "--judge", "citation,attribution", "--json"
    done = judge(tmp_path / "runs.jsonl", tmp_path / "out", *given)
    assert (done.status, json.loads(done.out)["failures"]) == (3, {"no_document_text": 3})
    assert "document_empty" in json.loads(done.out)["findings"]


@pytest.mark.parametrize(
    ("flags", "support", "shown"),
    [
        pytest.param((), 0.0, STEAM, id="the organiser's"),
        pytest.param(("--own-documents",), 1.0, "Kettles were invented", id="the run's own"),
    ],
)
def test_the_text_that_is_judged_and_shown(
    flags: tuple[str, ...], support: float, shown: str, tmp_path: Path
) -> None:
    (tmp_path / "d.jsonl").write_text(f'{{"docid": "bad", "text": "{STEAM}"}}\n')
    forged = '{"bad": "Kettles were invented in Lyon in 1894 by a nun."}'
    (tmp_path / "r.jsonl").write_text(RUN % ("r", BAD, forged))
    out = tmp_path / "out"
    given = "--documents", tmp_path / "d.jsonl", "--judge", "citation", "--json", *flags
    done = judge(tmp_path / "r.jsonl", out, *given, "--report")
    assert means(done)["r"]["CITATION_SUPPORT"]["value"] == support
    assert json.loads(done.out)["findings"]["document_differs"] == 1
    assert "carries 'bad' with another text than --documents" in done.err
    before = (out / "x.report.html").read_bytes()
    assert command("report", out, "--documents", tmp_path / "d.jsonl").status == 0
    assert (out / "x.report.html").read_bytes() == before
