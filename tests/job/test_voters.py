"""Judges made of several voters, against a real endpoint where each model has a script."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.commandline import Done, command, judge
from tests.endpoint import Answer, Endpoint, Script, attestation, serving, text_of

FULL, PARTIAL, NONE = "full_support", "partial_support", "no_support"
Labels = Callable[[int], str]
"""(number of the fact) -> label"""
Run = Callable[..., Done]
FACTS = 6


def fact_of(body: dict[str, Any]) -> int:
    """Return the number of the fact that a request asks about."""
    (found,) = set(re.findall(r"Fact number (\d+)", text_of(body)))
    return int(found)


def models(**scripts: Labels) -> Script:
    """Return a script of several models, each giving labels by the number of the fact."""

    def script(body: dict[str, Any], number: int) -> Answer:
        label = scripts[body["model"]](fact_of(body))
        return Answer(status=500) if label == "fails" else Answer(attestation(body, label))

    return script


def always(label: str) -> Labels:
    return lambda fact: label


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return `run(endpoint, workflow, *arguments)`: judge six citations on two topics."""
    lines = []
    for t in range(2):
        said = [
            {"text": f"Fact number {n} holds.", "citations": [f"d{n}"]}
            for n in range(t * 3, t * 3 + 3)
        ]
        documents = {f"d{n}": {"text": f"Fact number {n} is here."} for n in range(FACTS)}
        meta = {"team_id": "x", "run_id": "a", "topic_id": str(t)}
        lines.append(json.dumps({"metadata": meta, "responses": said, "documents": documents}))
    (tmp_path / "a.jsonl").write_text("\n".join(lines))

    def run(endpoint: Endpoint, workflow: Mapping[str, Any], *arguments: str) -> Done:
        for name, value in endpoint.environment().items():
            monkeypatch.setenv(name, value)
        path = tmp_path / "w.yml"
        path.write_text(yaml.safe_dump({"judge": "citation", **workflow}, sort_keys=False))
        asked = ("--use-env-llm", "--cache-dir", tmp_path / "cache", *arguments)
        return judge(tmp_path / "a.jsonl", tmp_path / "out", "--workflow", path, "--json", *asked)

    return run


def judgments(folder: Path) -> list[dict[str, Any]]:
    records = map(json.loads, (folder / "out/x.judgments.jsonl").read_text().splitlines())
    return [record for record in records if record["record"] == "judgment"]


def asked(endpoint: Endpoint) -> Counter[str]:
    return Counter(body["model"] for body in endpoint.requests)


def voters(*names: str, **more: Any) -> dict[str, Any]:
    return {"voters": {name: {"llm": {"model": name}} for name in names}, **more}


def test_the_majority_of_three_models_decides_and_each_item_says_who_said_what(
    run: Run, tmp_path: Path
) -> None:
    script = models(
        a=always(FULL), b=lambda n: FULL if n % 2 else NONE, c=lambda n: FULL if n < 3 else NONE
    )
    with serving(script) as endpoint:
        done = run(endpoint, voters("a", "b", "c"))
        assert asked(endpoint) == {"a": 6, "b": 6, "c": 6}
    assert done.status == 0
    found = judgments(tmp_path)
    assert [j["label"] for j in found] == [FULL, FULL, FULL, FULL, NONE, FULL]
    assert found[4]["votes"] == [
        {"voter": "a", "label": FULL, "grade": 2, "failure": ""},
        {"voter": "b", "label": NONE, "grade": 0, "failure": ""},
        {"voter": "c", "label": NONE, "grade": 0, "failure": ""},
    ]
    summary = json.loads(done.out)
    assert summary["calls"]["calls"] == 18
    (own,) = summary["voters"]
    assert (own["items"], own["differ"]) == (6, 5)
    assert [pair["same"] for pair in own["pairs"]] == [0.5, 0.5, 0.333333]
    log = map(json.loads, (tmp_path / "out/x.log").read_text().splitlines())
    assert Counter(e["voter"] for e in log if e["event"] == "MODEL_CALL") == asked(endpoint)


def test_rescore_writes_the_same_bytes_and_the_same_agreement(run: Run, tmp_path: Path) -> None:
    with serving(models(a=always(FULL), b=lambda n: FULL if n % 2 else NONE)) as endpoint:
        first = json.loads(run(endpoint, voters("a", "b")).out)
    out = tmp_path / "out"
    before = {p.name: p.read_bytes() for p in out.glob("x.*") if "leaderboard" in p.name}
    done = command("job", "rescore", out / "x.judgments.jsonl", "--json")
    assert {name: (out / name).read_bytes() for name in before} == before
    assert json.loads(done.out)["voters"] == first["voters"]


def test_a_cascade_asks_the_dear_model_only_where_the_cheap_one_is_unsure(
    run: Run, tmp_path: Path
) -> None:
    script = models(
        cheap=lambda n: {1: PARTIAL, 4: "fails"}.get(n, FULL),
        dear=always(NONE),
    )
    with serving(script) as endpoint:
        cheap: dict[str, Any] = {"llm": {"model": "cheap", "tries": 1}}
        workflow = {
            "voters": {"cheap": cheap, "dear": {"llm": {"model": "dear"}}},
            "vote": "cascade",
        }
        done = run(endpoint, workflow)
        assert asked(endpoint) == {"cheap": 6, "dear": 2}
        assert json.loads(done.out)["calls"]["calls"] == 8
    assert [j["label"] for j in judgments(tmp_path)] == [FULL, NONE, FULL, FULL, NONE, FULL]
    assert [len(j["votes"]) for j in judgments(tmp_path)] == [1, 2, 1, 1, 2, 1]


@pytest.mark.parametrize(
    ("own", "calls"), [({"sure": 0}, 0), ({"sure": 1}, 6), ({"sure": 0, "audit": 1}, 6)], ids=str
)
def test_words_decide_where_they_are_sure_and_are_audited(
    own: dict[str, Any], calls: int, run: Run
) -> None:
    with serving(models(dear=always(NONE))) as endpoint:
        dear = {"llm": {"model": "dear"}}
        voters = {"words": {"offline": True} | own, "dear": dear}
        done = run(endpoint, {"voters": voters, "vote": "cascade"})
        assert (done.status, len(endpoint.requests)) == (0, calls)


@pytest.mark.parametrize(
    ("workflow", "message"),
    [
        ({"words": {"offline": True, "sure": 0.5}}, "words: sure and audit are for vote: cascade"),
        ({"words": {"sure": 0.5}}, "sure and audit are for a voter with offline: true"),
        ({"words": {"offline": True, "sure": 2}}, "sure: 2 is too large"),
    ],
    ids=["no cascade", "a model", "too sure"],
)
def test_what_cannot_be_sure_is_told(workflow: dict[str, Any], message: str, run: Run) -> None:
    with serving(models(dear=always(NONE))) as endpoint:
        done = run(endpoint, {"voters": workflow | {"dear": {"llm": {"model": "dear"}}}})
    assert done.status == 1
    assert message in done.err


def test_a_config_repeats_a_cascade_without_a_call(run: Run, tmp_path: Path) -> None:
    script = models(z=lambda n: PARTIAL if n == 1 else FULL, a=always(NONE))
    with serving(script) as endpoint:
        workflow = voters("z", "a", vote="cascade")
        run(endpoint, workflow)
        before = (tmp_path / "out/x.judgments.jsonl").read_bytes()
        config = yaml.safe_load((tmp_path / "out/x.config.yml").read_text())
        assert list(config["model"]["voters"]) == ["z", "a"]
        done = run(endpoint, config["workflow"]["ran"])
        assert asked(endpoint) == {"z": 6, "a": 1}
        assert done.status == 0
    assert (tmp_path / "out/x.judgments.jsonl").read_bytes() == before


def test_a_cascade_asks_the_last_about_a_part_of_a_group(run: Run, tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        numbers = re.findall(r"Fact number (\d+) holds", text_of(body))
        dear = body["model"] == "dear"
        labels = [NONE if dear else PARTIAL if int(n) % 3 else FULL for n in numbers]
        if "verdicts" not in json.dumps(body["response_format"]):
            return Answer(attestation(body, labels[0]))
        each = enumerate(labels, 1)
        verdicts = [{"number": n, "evidence": "", "label": label} for n, label in each]
        return Answer(json.dumps({"verdicts": verdicts}))

    cite_one_document(tmp_path)
    with serving(script) as endpoint:
        workflow = voters("cheap", "dear", vote="cascade", settings={"group": 3})
        assert run(endpoint, workflow).status == 0
        assert asked(endpoint) == {"cheap": 2, "dear": 2}
    assert [j["label"] for j in judgments(tmp_path)] == [FULL, NONE, NONE] * 2


def cite_one_document(folder: Path) -> None:
    """Let all sentences cite the same document, so that they can be asked in groups."""
    records = [json.loads(line) for line in (folder / "a.jsonl").read_text().splitlines()]
    for record in records:
        for said in record["responses"]:
            said["citations"] = ["d0"]
    (folder / "a.jsonl").write_text("\n".join(map(json.dumps, records)))


def test_a_cascade_of_three_asks_the_last_where_the_others_differ(run: Run, tmp_path: Path) -> None:
    script = models(a=always(FULL), b=lambda n: NONE if n == 2 else FULL, c=always(PARTIAL))
    with serving(script) as endpoint:
        run(endpoint, voters("a", "b", "c", vote="cascade"))
        assert asked(endpoint) == {"a": 6, "b": 6, "c": 1}
    assert [j["label"] for j in judgments(tmp_path)] == [FULL, FULL, PARTIAL, FULL, FULL, FULL]


def test_words_without_a_model_can_be_the_cheap_voter(run: Run, tmp_path: Path) -> None:
    with serving(models(dear=always(NONE))) as endpoint:
        workflow = {
            "voters": {"words": {"offline": True}, "dear": {"llm": {"model": "dear"}}},
            "vote": "cascade",
        }
        assert run(endpoint, workflow).status == 0
        unsure = [j for j in judgments(tmp_path) if len(j["votes"]) == 2]
        assert len(endpoint.requests) == len(unsure)
    assert {j["votes"][0]["voter"] for j in judgments(tmp_path)} == {"words"}


def test_the_mean_grade_is_a_label_that_nobody_gave(run: Run, tmp_path: Path) -> None:
    with serving(models(a=always(FULL), b=always(NONE))) as endpoint:
        run(endpoint, voters("a", "b", vote="mean"))
    assert {(j["label"], j["grade"], j["expected"]) for j in judgments(tmp_path)} == {
        (PARTIAL, 1, 0.5)
    }


def test_where_one_of_two_fails_the_item_is_unjudged_with_each_ones_reason(
    run: Run, tmp_path: Path
) -> None:
    with serving(models(a=always(FULL), b=lambda n: "fails" if n == 0 else FULL)) as endpoint:
        done = run(endpoint, voters("a", "b", llm={"tries": 1}))
    assert done.status == 3
    first, *others = judgments(tmp_path)
    assert first["label"] is None
    assert "a: full_support; b: transport" in first["failure"]["message"]
    assert all(j["label"] == FULL for j in others)
    (own,) = json.loads(done.out)["voters"]
    assert own["failed"] == {"b": 1}


def test_two_of_three_decide_where_the_third_fails(run: Run, tmp_path: Path) -> None:
    script = models(
        a=always(FULL), b=lambda n: FULL if n else NONE, c=lambda n: "fails" if n < 2 else FULL
    )
    with serving(script) as endpoint:
        run(endpoint, voters("a", "b", "c", llm={"tries": 1}))
    labels = [j["label"] for j in judgments(tmp_path)]
    assert labels == [None, FULL, FULL, FULL, FULL, FULL]


def test_samples_are_replies_of_their_own_with_a_flip_rate(run: Run, tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        label = NONE if body["temperature"] == 0.5 and fact_of(body) == 1 and number % 2 else FULL
        return Answer(attestation(body, label))

    workflow = {"voters": {"m": {"llm": {"temperature": 0.5}, "samples": 3}}}
    with serving(script) as endpoint:
        done = run(endpoint, workflow)
        assert len(endpoint.requests) == 3 * FACTS
        bodies = [json.dumps(body, sort_keys=True) for body in endpoint.requests]
        assert set(Counter(bodies).values()) == {3}  # what is sent is the same
        again = run(endpoint, workflow)
        assert len(endpoint.requests) == 3 * FACTS
    (own,) = json.loads(done.out)["voters"]
    (sampled,) = own["samples"]
    assert sampled["voter"] == "m"
    assert sampled["items"] == FACTS
    assert sampled["flip_rate"] == round(sampled["differ"] / FACTS, 4)
    assert json.loads(again.out)["voters"] == [own]
    assert [v["voter"] for v in judgments(tmp_path)[0]["votes"]] == ["m#1", "m#2", "m#3"]


def test_a_plan_counts_the_calls_of_all_voters(run: Run) -> None:
    with serving(models(a=always(FULL), b=always(FULL))) as endpoint:
        workflow = voters("a", "b")
        plan = json.loads(run(endpoint, workflow, "--plan").out)
        assert not endpoint.requests
        run(endpoint, workflow)
        assert len(endpoint.requests) == 12
    assert plan["calls"] == 12


def test_all_voters_share_one_budget(run: Run, tmp_path: Path) -> None:
    with serving(models(a=always(FULL), b=always(FULL))) as endpoint:
        done = run(endpoint, voters("a", "b"), "--max-calls", "5")
        assert len(endpoint.requests) == 5
        assert done.status == 3
        # What was paid for is in the cache.
        run(endpoint, voters("a", "b"))
        assert len(endpoint.requests) == 12


def test_prompts_can_vote_on_one_model(run: Run, tmp_path: Path) -> None:

    def script(body: dict[str, Any], number: int) -> Answer:
        return Answer(attestation(body, NONE if "strictly" in json.dumps(body) else FULL))

    prompts = {"attest": "Decide strictly whether the {document} supports the {sentence}."}
    with serving(script) as endpoint:
        done = run(endpoint, {"voters": {"ours": None, "own": {"prompts": prompts}}})
        assert done.status == 0
        assert len(endpoint.requests) == 12
    assert {j["label"] for j in judgments(tmp_path)} == {NONE}  # the lower of two


def test_voters_are_asked_in_groups(run: Run, tmp_path: Path) -> None:
    """One request is on several sentences of a document, by each voter."""

    def script(body: dict[str, Any], number: int) -> Answer:
        numbers = re.findall(r"Fact number (\d+) holds", text_of(body))
        label = NONE if body["model"] == "b" else FULL
        if len(numbers) == 1:
            return Answer(attestation(body, label))
        verdicts = [{"number": n, "evidence": "", "label": label} for n, _ in enumerate(numbers, 1)]
        return Answer(json.dumps({"verdicts": verdicts}))

    cite_one_document(tmp_path)
    with serving(script) as endpoint:
        done = run(endpoint, voters("a", "b", "c", settings={"group": 3}))
        assert done.status == 0
        assert asked(endpoint) == {"a": 2, "b": 2, "c": 2}
    assert [[v["label"] for v in j["votes"]] for j in judgments(tmp_path)] == [
        [FULL, NONE, FULL]
    ] * FACTS


def test_the_cost_is_that_of_all_where_the_prices_of_all_are_known(run: Run) -> None:
    with serving(models(a=always(FULL), b=always(FULL))) as endpoint:
        prices = {"prices": {"input": 1000.0, "output": 2000.0}}
        dear = {"llm": {"model": "b", "prices": {"input": 10_000.0, "output": 0.0}}}
        workflow: dict[str, Any] = {"voters": {"a": {"llm": {"model": "a", **prices}}, "b": dear}}
        done = run(endpoint, workflow)
        # The endpoint counts 10 tokens in and 5 out for each call.
        assert json.loads(done.out)["calls"]["cost"] == pytest.approx(6 * 0.02 + 6 * 0.1)
        del dear["llm"]["prices"]
        done = run(endpoint, workflow, "--refresh")
        assert "cost" not in json.loads(done.out)["calls"]
        assert run(endpoint, workflow, "--max-cost", "1").status == 1


def test_grades_of_relevance_are_averaged(run: Run, tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return Answer(json.dumps({"grade": 3 if body["model"] == "a" else 0}))

    with serving(script) as endpoint:
        workflow = voters("a", "b", vote="mean", judge="direct_prompt")
        topics = tmp_path / "topics.jsonl"
        topics.write_text("\n".join(json.dumps({"id": str(t), "title": "Facts"}) for t in range(2)))
        more = ("--set", "llm.structured=always", "--rag-topics", str(topics))
        done = run(endpoint, workflow, *more)
        assert done.status == 0, done.err
    (found, *_) = judgments(tmp_path)
    assert [vote["grade"] for vote in found["votes"]] == [3, 0]
    assert (found["label"], found["grade"]) == ("1", 1)
    assert "expected" not in found


def test_nuggets_are_decided_one_by_one(run: Run, tmp_path: Path) -> None:
    bank = tmp_path / "bank.jsonl"
    nuggets = [{"text": f"Nugget {n}.", "importance": "vital"} for n in range(3)]
    lines = [json.dumps({"qid": str(t), "query": "q", "nuggets": nuggets}) for t in range(2)]
    bank.write_text("\n".join(lines))
    said = {"a": ["support"] * 3, "b": ["support", "not_support", "not_support"]}

    def script(body: dict[str, Any], number: int) -> Answer:
        if body["model"] == "c":
            return Answer(status=500)
        each = enumerate(said[body["model"]], 1)
        found = [{"number": n, "reason": "", "label": label} for n, label in each]
        return Answer(json.dumps({"assignments": found}))

    with serving(script) as endpoint:
        workflow = voters("a", "b", "c", judge="nuggets", llm={"tries": 1, "structured": "always"})
        done = run(endpoint, workflow, "--nuggets", str(bank))
        assert done.status == 3, done.err
    found = judgments(tmp_path)
    assert [j["label"] for j in found] == ["support", None, None] * 2
    assert [j["nugget"]["text"] for j in found] == ["Nugget 0.", "Nugget 1.", "Nugget 2."] * 2
    assert [len(j["votes"]) for j in found] == [3] * 6


def test_votes_are_exported_and_in_the_report(run: Run, tmp_path: Path) -> None:
    with serving(models(a=always(FULL), b=always(NONE))) as endpoint:
        run(endpoint, voters("a", "b", vote="mean"))
    stored = tmp_path / "out/x.judgments.jsonl"
    exported = tmp_path / "all.jsonl"
    assert command("job", "judgments", stored, "--output", exported).status == 0
    first = json.loads(exported.read_text().splitlines()[0])
    assert first["votes"] == "a: full_support; b: no_support"
    assert command("report", stored).status == 0
    page = (tmp_path / "out/x.report.html").read_text()
    for shown in ("Voter a", "Voter b", "attest (a)", "voters of citation", "differ on 6 of 6"):
        assert shown in page


def test_bare_pairs_are_voted_on(run: Run, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.jsonl"
    texts = [{"sentence": f"Fact number {n} holds.", "document": "It does."} for n in range(3)]
    pairs.write_text("\n".join(map(json.dumps, texts)))
    with serving(models(a=always(FULL), b=always(FULL), c=always(NONE))) as endpoint:
        run(endpoint, voters("a", "b", "c"), "--plan")  # writes the workflow
        given = (
            "--use-env-llm",
            "--cache-dir",
            tmp_path / "cache",
            "--output",
            tmp_path / "v.jsonl",
        )
        done = command("judges", "pairs", pairs, "--workflow", tmp_path / "w.yml", *given)
        assert done.status == 0, done.err
        assert asked(endpoint) == {"a": 3, "b": 3, "c": 3}
    found = [json.loads(line) for line in (tmp_path / "v.jsonl").read_text().splitlines()]
    assert {verdict["label"] for verdict in found} == {FULL}


def test_no_text_of_a_document_is_in_a_vote_where_it_is_to_be_left_out(
    run: Run, tmp_path: Path
) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        quoted = "Secret words of the document"
        return Answer(quoted if body["model"] == "b" else attestation(body, FULL))

    with serving(script) as endpoint:
        run(endpoint, voters("a", "b", llm={"tries": 1}), "--no-document-text")
    for path in (tmp_path / "out").iterdir():
        assert b"Secret words" not in path.read_bytes(), path.name
    assert judgments(tmp_path)[0]["votes"][1]["failure"] == "parse"


def test_a_wrong_key_of_one_voter_ends_the_job(run: Run) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        if body["model"] == "b":
            return Answer(status=401)
        return Answer(attestation(body, FULL))

    with serving(script) as endpoint:
        done = run(endpoint, voters("a", "b"))
        assert len(endpoint.requests) <= 2 * FACTS
    assert done.status == 1
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("workflow", "words"),
    [
        ({"voters": {"a": None}}, "one voter is no vote"),
        ({"voters": {"a": None, "b": None}}, "a and b would always say the same"),
        ({"vote": "majority"}, "there are no voters"),
        ({"voters": {"a": None, "b": {"llm": {"modle": "x"}}}}, "did you mean 'model'?"),
        ({"voters": {"a": None, "b": {"offline": True, "samples": 2}}}, "offline asks no model"),
        ({"voters": {"a": {"samples": 2}}, "llm": {"temperature": 0}}, "all the same"),
        ({"voters": {"a": {"samples": 2}}, "vote": "cascade"}, "not with cascade"),
        ({"voters": {"a": None, "b": {"prompts": {"attes": "x"}}}}, "unknown program 'attes'"),
        ({"voters": {"a": None, "b": {"llm": {"api_key": "sk-1"}}}}, "keys do not belong"),
        ({"voters": {"a": {"samples": 3}}, "vote": "most"}, "unknown rule 'most'"),
        ({"voters": {"a": {"samples": 0}}}, "samples"),
        ({"voters": {"a": 3, "b": None}}, "must be a mapping"),
        ({"voters": {"a#1": None, "b": None}}, "give a name"),
        ({"judge": "length", "voters": {"a": {"samples": 3}}}, "asks no model"),
        ({"judge": "faithfulness", "voters": {"a": {"samples": 3}}}, "cannot have any"),
    ],
)
def test_voters_that_cannot_vote_are_refused_in_one_line(
    workflow: dict[str, Any], words: str, run: Run
) -> None:
    with serving(models()) as endpoint:
        done = run(endpoint, workflow)
        assert not endpoint.requests
    assert done.status == 1
    assert words in done.err
    assert "Traceback" not in done.err


def test_a_voter_may_have_an_endpoint_and_a_key_of_its_own(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_KEY", "sk-other")
    with serving(models(a=always(FULL))) as one, serving(models(b=always(FULL))) as two:
        llm = {"model": "b", "base_url": two.url, "key_variable": "OTHER_KEY"}
        done = run(one, {"voters": {"a": {"llm": {"model": "a"}}, "b": {"llm": llm}}})
        assert done.status == 0
        assert {h["Authorization"] for h in one.headers} == {"Bearer sk-secret"}
        assert {h["Authorization"] for h in two.headers} == {"Bearer sk-other"}
