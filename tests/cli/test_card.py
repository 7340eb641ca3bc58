"""`judges trust`: a judge's card, offline and at a real endpoint; whether the judge has changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import SAMPLES, Done, command, sample
from tests.endpoint import Answer, Endpoint, Script, attestation, serving, text_of
from trecjudge.inputs.sources.paths import own_output

RAG = SAMPLES / "rag"
GIVEN = ("--rag-responses", RAG / "runs", "--documents", RAG / "documents.jsonl")
LABELS = ("--labels", RAG / "labels.jsonl")
GRADED = ("no_support", "partial_support", "full_support")
TOPICS, SENTENCES = 8, 4
Run = Callable[..., Done]


def trust(out: Path, *arguments: str | Path) -> Done:
    return command("judges", "trust", "citation", *arguments, "--out-dir", out, "--name", "x")


def figures(out: Path, name: str = "x") -> dict[str, dict[str, Any]]:
    """Return the figures of a card by section and name."""
    card = json.loads((out / f"{name}.card.json").read_bytes())
    return {f"{one['section']}: {one['name']}": one for one in card["figures"]}


def test_a_card_has_each_figure_with_its_n_or_why_it_was_not_measured(tmp_path: Path) -> None:
    done = trust(tmp_path, *GIVEN, *LABELS)
    assert (done.status, done.err) == (0, "")
    found = figures(tmp_path)
    assert found["Agreement with people: accuracy"]["n"] == 38
    assert found["Dark current: empty-document: grade above 0"]["value"] == 0
    assert found["Writing for the judge: game:copy: lift of CITATION_SUPPORT"]["value"] > 0
    assert found["Unjudged: share"]["value"] == 0
    for one in found.values():
        assert one["n"] > 0 if one["value"] is not None else one["note"], one
    assert "| asked twice | not measured | no model is asked: words give one" in " ".join(
        done.out.split()
    )
    assert done.out.startswith("# Card of the judge citation\n\n- judge: citation: ")
    assert f"card: {tmp_path / 'x.card.json'}" in done.out


def test_a_card_has_no_text_of_answers_or_documents(tmp_path: Path) -> None:
    trust(tmp_path, *GIVEN, *LABELS, "-q")
    written = (tmp_path / "x.card.json").read_text()
    for path in (*(RAG / "runs").iterdir(), RAG / "documents.jsonl"):
        for line in path.read_text().splitlines():
            texts = [t for t in json.dumps(json.loads(line)).split('"') if len(t) > 25]
            assert not [text for text in texts if text in written]


def test_a_card_among_runs_is_known_for_what_it_is(tmp_path: Path) -> None:
    trust(tmp_path, *GIVEN, "-q", "--change", "none")
    assert own_output(tmp_path / "x.card.json") == "a judge's card"


def test_the_report_of_the_job_shows_the_card(tmp_path: Path) -> None:
    assert sample("rag", tmp_path, "--judge", "citation", "-q").status == 0
    done = trust(tmp_path, "-q", "--change", "dark")  # the inputs are those of the job
    assert (done.status, done.err) == (0, "")
    assert command("report", tmp_path / "x").status == 0
    page = (tmp_path / "x.report.html").read_text()
    assert "Card of the judge citation" in page
    assert "Dark current: empty-document: grade above 0" in page


def test_a_card_goes_beside_a_job_of_its_judge_only(tmp_path: Path) -> None:
    sample("rag", tmp_path, "--judge", "length", "-q")
    done = trust(tmp_path, *GIVEN)
    assert done.status == 1
    assert "x.config.yml: is a job of length, not of citation: give another --name" in done.err
    assert not (tmp_path / "x.card.json").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["citation"], "trust: give runs to try the judge on (--rag-responses), or a job"),
        (["citation", "length", *GIVEN], "a card is of one judge, not of citation, length"),
        (["citation", *GIVEN, "--change", "dork"], "unknown change 'dork'"),
        (["citation", *GIVEN, "--against", RAG / "labels.jsonl"], "labels.jsonl:2: is not JSON"),
        (["citation", *GIVEN, "--against", "gone.card.json"], "cannot be read: No such file"),
        (["citation", *GIVEN, "--offline"], "--offline: only with --use-env-llm"),
    ],
    ids=["no runs", "two judges", "a typo", "no card", "no file", "no model"],
)
def test_what_is_wrong_is_told_in_one_line(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = command("judges", "trust", *words)
    assert (done.status, done.err.count("error: ")) == (1, 1)
    assert message in done.err


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return `run(endpoint, *arguments)`: try the citation judge on 32 sentences of 8 topics."""
    lines = []
    for t in range(TOPICS):
        said = [{"text": f"Fact {t} {n} here.", "citations": ["d"]} for n in range(SENTENCES)]
        meta = {"team_id": "x", "run_id": "a", "topic_id": str(t)}
        documents = {"d": {"text": f"Document {t}."}}
        lines.append(json.dumps({"metadata": meta, "responses": said, "documents": documents}))
    (tmp_path / "a.jsonl").write_text("\n".join(lines))

    def run(endpoint: Endpoint, *arguments: str | Path) -> Done:
        for name, value in endpoint.environment().items():
            monkeypatch.setenv(name, value)
        given = ("--rag-responses", tmp_path / "a.jsonl", "--cache-dir", tmp_path / "cache")
        return trust(tmp_path, *given, "--use-env-llm", *arguments)

    return run


def steady(changed: int = 0, served: str = "") -> Script:
    """Return a script of a judge with one label for each text, another one for some of them.

    `changed` sentences of each topic have another label than without.
    """

    def script(body: dict[str, Any], number: int) -> Answer:
        text = text_of(body)
        place = hashlib.sha256(text.encode()).digest()[0] % 3
        others = any(f" {n} here." in text for n in range(changed))
        return Answer(attestation(body, GRADED[(place + others) % 3]), served=served)

    return script


def test_a_model_is_shown_as_the_endpoint_calls_it(run: Run, tmp_path: Path) -> None:
    with serving(steady(served="stub-2026-01|<b>")) as endpoint:
        done = run(endpoint, "--samples", "2", "--set", "llm.prices={input: 1, output: 2}")
    assert done.status == 0
    about = json.loads((tmp_path / "x.card.json").read_bytes())["about"]
    assert about["served"] == ["stub-2026-01|<b>"]
    assert len(about["prompts"]["attest"]) == 64
    assert "the endpoint calls it: stub-2026-01\\|&lt;b>" in done.out
    found = figures(tmp_path)
    assert found["The same item again: asked twice: labels that flip"]["n"] == 32
    assert found["The same item again: samples (2): labels that flip"]["value"] == 0
    assert found["Cost and time an item: tokens in"]["value"] == 10
    assert found["Cost and time an item: cost"]["value"] == pytest.approx(0, abs=1e-4)


def test_a_plan_counts_the_calls_of_a_card(run: Run) -> None:
    with serving(steady()) as endpoint:
        plan = json.loads(run(endpoint, "--plan", "--json").out)
        assert not endpoint.requests
        run(endpoint, "-q")
        assert len(endpoint.requests) == plan["calls"]


def test_a_budget_that_ends_leaves_items_unjudged_and_the_card_says_why(
    run: Run, tmp_path: Path
) -> None:
    with serving(steady()) as endpoint:
        done = run(endpoint, "--max", "calls=20", "--change", "none", "--samples", "0")
        assert len(endpoint.requests) == 20
    assert done.status == 3
    assert figures(tmp_path)["Unjudged: share"]["note"] == "budget 12"


AGAINST = ("--max", "responses=8", "--change", "none", "--samples", "0")


def make_base(run: Run, folder: Path, script: Script) -> tuple[str, Path]:
    """Make a card of a model; return how it is compared with."""
    with serving(script) as endpoint:
        assert run(endpoint, *AGAINST).status == 0
    base = folder / "base.card.json"
    (folder / "x.card.json").rename(base)
    return "--against", base


def test_another_model_behind_the_same_name_is_noticed(run: Run, tmp_path: Path) -> None:
    against = make_base(run, tmp_path, steady(served="same"))
    with serving(steady(changed=1, served="same")) as endpoint:
        done = run(endpoint, *against, "--change", "none")
        assert len(endpoint.requests) == 2 * TOPICS * SENTENCES  # none is from the cache
    assert done.status == 1
    assert "32 items asked again since the card of 20" in done.out
    assert ": 8 answered otherwise; asked twice at one time 0 differed then, 0 now" in done.out
    assert "p 0.0002: it is not the same judge any more" in done.out


def test_the_same_model_is_the_same_and_the_cache_stays_as_it_was(run: Run, tmp_path: Path) -> None:
    against = make_base(run, tmp_path, steady())
    cache = ("cache", "info", "--cache-dir", tmp_path / "cache", "--json")
    before = command(*cache).out
    with serving(steady()) as endpoint:
        done = run(endpoint, *against, "--change", "none", "--json")
    drift = json.loads(done.out)["drift"]
    assert (done.status, drift["moved"], drift["lost"]) == (0, False, 0)
    assert (drift["answers"]["items"], drift["answers"]["changed"]) == (32, 0)
    assert command(*cache).out == before


def test_a_card_is_not_written_over_the_one_it_is_compared_with(run: Run, tmp_path: Path) -> None:
    (base := make_base(run, tmp_path, steady())[1]).rename(tmp_path / "x.card.json")
    before = (tmp_path / "x.card.json").read_bytes()
    with serving(steady(changed=1)) as endpoint:
        done = run(endpoint, "--against", tmp_path / "x.card.json", "--change", "none")
    assert (done.status, base.exists()) == (1, False)
    assert "x.card.json stays as it is" in done.out
    assert (tmp_path / "x.card.json").read_bytes() == before


def test_what_is_asked_again_is_not_asked_of_a_cache(run: Run, tmp_path: Path) -> None:
    against = make_base(run, tmp_path, steady())
    with serving(steady()) as endpoint:
        done = run(endpoint, *against, "--offline")
    assert done.status == 1
    assert "--against asks the same items again: not with --offline" in done.err


def test_other_runs_are_told(run: Run, tmp_path: Path) -> None:
    against = make_base(run, tmp_path, steady())
    done = trust(tmp_path, *GIVEN, *against)
    assert done.status == 1
    assert "none of the responses of the earlier card is in these runs" in done.err


def test_another_setting_is_told_with_what_moved(tmp_path: Path) -> None:
    trust(tmp_path, *GIVEN, "-q", "--change", "none")
    (tmp_path / "x.card.json").rename(tmp_path / "base.card.json")
    against = ("--against", tmp_path / "base.card.json")
    same = trust(tmp_path, *GIVEN, *against)
    assert (same.status, "0 answered otherwise: it is the same judge" in same.out) == (0, True)
    other = trust(tmp_path, *GIVEN, *against, "--set", "partial=0.25")
    assert "the cards differ in settings partial: 0.0 before, 0.25 now" in other.out
