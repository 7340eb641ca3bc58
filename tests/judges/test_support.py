"""The support judge: what it pools and asks, the track's measures, ALCE's and Auto-ARGUE's view."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import command, judge, sample
from tests.endpoint import Answer, Script, attestation, attesting, serving, text_of
from tests.fakes import ScriptedModel, judgment, response
from trecjudge.errors import JudgmentFailed
from trecjudge.judges.citation import CitationJudge
from trecjudge.judges.support import SupportJudge
from trecjudge.models.model import Model, NoModel
from trecjudge.records import (
    FULL,
    NONE,
    NOTHING_TO_CHECK,
    PARTIAL,
    Citation,
    Failure,
    Item,
    Judgment,
    Response,
    Topic,
)

FAILED = Failure("transport", "reset")
DOCUMENTS = {"a": "Text A.", "b": "Text B.", "c": "Text C."}
LETTER = {"f": FULL, "p": PARTIAL, "n": NONE, "?": None}
Found = list[tuple[str | None, str | None]]


def pool(given: Response, **settings: object) -> list[Item]:
    return list(SupportJudge(**settings).pool(Topic("t1"), given))  # type: ignore[arg-type]


def scored(*sentences: dict[str, float | None]) -> Response:
    """Return a response whose sentences cite ids with scores."""
    plain = response(*[("S.", []) for _ in sentences], documents=DOCUMENTS)
    cited = [tuple(Citation(i, i, score) for i, score in s.items()) for s in sentences]
    pairs = zip(plain.sentences, cited, strict=True)
    return replace(plain, sentences=tuple(replace(s, citations=c) for s, c in pairs))


def labelled(*sentences: str) -> tuple[Response, list[Judgment]]:
    """Return sentences that cite a document for each letter of `fpn?`, with those judgments."""
    ids = [[f"d{n}" for n, _ in enumerate(letters)] for letters in sentences]
    judgments = [
        judgment(
            label=LETTER[letter],
            sentence_index=index,
            doc_id=f"d{n}",
            citation=f"d{n}",
            failure=None if LETTER[letter] else FAILED,
        )
        for index, letters in enumerate(sentences)
        for n, letter in enumerate(letters)
    ]
    return response(*[("S.", cited) for cited in ids]), judgments


def scores(
    given: Response, judgments: Sequence[Judgment], expected: bool = False, **settings: object
) -> dict[str, float | bool | None]:
    """Return the measures of labels, or those `expected` of them."""
    spec = SupportJudge(**settings).measures  # type: ignore[arg-type]
    wanted = [m for m in spec.measures if bool(m.expected_of) == expected]
    return {m.name: m.compute(given, judgments) for m in wanted}


def rounded(values: Mapping[str, float | bool | None]) -> tuple[float | None, ...]:
    return tuple(None if v is None else round(v, 3) for v in values.values())


@pytest.mark.parametrize(
    ("sentence", "chosen"),
    [
        pytest.param({"a": None, "b": None}, "a", id="the first of a list"),
        pytest.param({"a": 0.2, "b": 0.9}, "b", id="the highest score of a dict"),
        pytest.param({"a": 0.5, "b": 0.5}, "a", id="the first of equal scores"),
        pytest.param({"a": None, "b": -3.0}, "b", id="a score before none"),
    ],
)
def test_first_pools_only_the_strongest(sentence: dict[str, float | None], chosen: str) -> None:
    assert [i.citation and i.citation.doc_id for i in pool(scored(sentence))] == [chosen]


@pytest.mark.parametrize(
    ("settings", "pooled"),
    [
        ({}, [(0, "b"), (2, "c")]),
        ({"citations": "all"}, [(0, "a"), (0, "b"), (2, "c")]),
        ({"citations": "best"}, [(0, "a"), (0, "b"), (2, "c")]),
        ({"compat": "argue"}, [(0, "a"), (0, "b"), (2, "c")]),
        ({"compat": "alce"}, [(0, "all"), (2, "c")]),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_pool_is_what_the_measures_need(
    settings: dict[str, object], pooled: list[tuple[int, str]]
) -> None:
    items = pool(scored({"a": 0.1, "b": 0.2}, {}, {"c": 1.0}), **settings)
    assert [(i.sentence_index, i.citation.value) for i in items if i.citation] == pooled


@pytest.mark.parametrize(
    ("rule", "sentences", "expected"),
    [
        pytest.param("first", [], (0, 0, 0, 0), id="nothing said"),
        pytest.param("first", ["", ""], (0, 0, 0, 0), id="nothing cited"),
        pytest.param("first", ["f", "p", "n", ""], (0.5, 0.375, 0.333, 0.25), id="one of each"),
        pytest.param("first", ["nf", "ff"], (0.5, 0.5, 0.5, 0.5), id="first: the rest is nothing"),
        pytest.param("first", ["f", "?", "n"], (0.5, 0.5, 0.5, 0.5), id="an unjudged one is out"),
        pytest.param("first", ["?", "?", ""], (None,) * 4, id="all unjudged"),
        pytest.param("all", ["nf", "p", ""], (0.5, 0.333, 0.333, 0.167), id="all: mean of each"),
        pytest.param("all", ["f?", "n"], (0.5, 0, 0.5, 0), id="all: open until all are judged"),
        pytest.param("best", ["nf", "pn", ""], (0.75, 0.5, 0.5, 0.333), id="best: one a sentence"),
        pytest.param("best", ["f?", "n"], (0.5, 0.5, 0.5, 0.5), id="best: nothing beats full"),
        pytest.param("best", ["p?", "n"], (0, 0, 0, 0), id="best: the unjudged may be better"),
        pytest.param("best", ["p?"], (None,) * 4, id="best: nothing known"),
    ],
)
def test_the_tracks_measures(
    rule: str, sentences: list[str], expected: tuple[float | None, ...]
) -> None:
    found = scores(*labelled(*sentences), citations=rule)
    assert list(found) == [
        "WEIGHTED_PRECISION",
        "WEIGHTED_RECALL",
        "HARD_PRECISION",
        "HARD_RECALL",
    ]
    assert rounded(found) == expected


@pytest.mark.parametrize(
    ("rule", "precision", "recall"),
    [("first", 0.4, 0.267), ("all", 0.467, 0.25), ("best", 0.4, 0.267)],
)
def test_what_is_expected_takes_the_place_of_labels(
    rule: str, precision: float, recall: float
) -> None:
    """Weights 0.7 and 0.6 in one sentence, 0.1 in the next; the third cites nothing."""
    given, judgments = labelled("np", "n", "")
    weights = [0.7, 0.6, 0.1]
    own = [replace(j, expected=w) for j, w in zip(judgments, weights, strict=True)]
    found = scores(given, own, expected=True, citations=rule)
    assert list(found) == ["EXPECTED_PRECISION", "EXPECTED_RECALL"]
    assert rounded(found) == (precision, recall)


def test_an_unjudged_citation_is_expected_to_be_all_or_nothing() -> None:
    given, (first, second) = labelled("n", "?")
    first = replace(first, expected=0.3)
    fill = SupportJudge().measures.fill
    assert fill is not None
    for other, value in ((second, 0.3), (fill(second, False), 0.15), (fill(second, True), 0.65)):
        found = scores(given, [first, other], expected=True)
        assert found["EXPECTED_PRECISION"] == pytest.approx(value)


def test_a_response_that_could_not_be_pooled_has_no_value() -> None:
    bug = judgment(sentence_index=None, failure=Failure("bug", "oops"))
    assert rounded(scores(labelled("f")[0], [bug])) == (None,) * 4


@pytest.mark.parametrize(
    ("sentences", "citation", "sentence"),
    [
        ([""], 0.0, None),
        (["ff", "fn", ""], 0.75, 0.5),
        (["p"], 0.0, 0.0),
        (["f?"], 1.0, None),
        (["?"], None, None),
    ],
)
def test_auto_argues_view_is_that_of_the_citation_judge(
    sentences: list[str], citation: float | None, sentence: float | None
) -> None:
    given, judgments = labelled(*sentences)
    found = scores(given, judgments, compat="argue")
    assert list(found.values())[4:] == [citation, sentence]
    theirs = {m.name: m.compute(given, judgments) for m in CitationJudge().measures.measures}
    assert (theirs["CITATION_SUPPORT"], theirs["SENTENCE_SUPPORT"]) == (citation, sentence)


def model_of(entailing: str) -> ScriptedModel:
    """Return a model that attests by a document with one of these texts; `A+B` needs both."""
    needed = [set(each.split("+")) for each in entailing.split()]

    def answer(inputs: Mapping[str, str]) -> dict[str, str]:
        there = set(re.findall(r"Text (\w)\.", inputs["document"]))
        full = any(need <= there for need in needed)
        return {"label": FULL if full else PARTIAL, "evidence": ""}

    return ScriptedModel(answer)


async def _judged(given: Response, model: Model) -> list[Judgment]:
    found = SupportJudge(compat="alce")
    each = [await found.judge(i, model) for i in pool(given, compat="alce")]
    return [j for one in each for j in (one if isinstance(one, list) else [one])]


def alce(given: Response, model: Model) -> list[Judgment]:
    return asyncio.run(_judged(given, model))


ALCE = {
    "uncited": ("", "A", [], (0, 0)),
    "one that entails": ("a", "A", [("a", FULL)], (1, 1)),
    "one that does not: partial is none": ("a", "B", [("a", PARTIAL)], (0, 0)),
    "not even together: asked once": ("ab", "C", [("all", PARTIAL)], (0, 0)),
    "each suffices": ("ab", "A B", [("all", FULL), ("a", FULL), ("b", FULL)], (1, 1)),
    "one fails by itself and the rest suffices: imprecise": (
        "ab",
        "A",
        [("all", FULL), ("a", FULL), ("b", PARTIAL), ("without:b", FULL)],
        (1, 0.5),
    ),
    "both needed: precise": (
        "ab",
        "A+B",
        [
            ("all", FULL),
            ("a", PARTIAL),
            ("without:a", PARTIAL),
            ("b", PARTIAL),
            ("without:b", PARTIAL),
        ],
        (1, 1),
    ),
    "two needed, one not": (
        "abc",
        "A+B",
        [
            ("all", FULL),
            ("a", PARTIAL),
            ("without:a", PARTIAL),
            ("b", PARTIAL),
            ("without:b", PARTIAL),
            ("c", PARTIAL),
            ("without:c", FULL),
        ],
        (1, 0.667),
    ),
    "one is not there: none entails": ("xa", "A", [("all", NONE)], (0, 0)),
    "the only one is not there": ("x", "A", [("x", NONE)], (0, 0)),
}


@pytest.mark.parametrize(("cited", "entailing", "found", "expected"), ALCE.values(), ids=ALCE)
def test_alce(cited: str, entailing: str, found: Found, expected: tuple[float, float]) -> None:
    given = response(("S.", list(cited)), documents=DOCUMENTS)
    judgments = alce(given, model_of(entailing))
    assert [(j.citation, j.label) for j in judgments] == found
    assert rounded(scores(given, judgments, compat="alce")) == expected


def test_alce_counts_all_sentences_and_all_citations() -> None:
    given = response(("S.", ["a", "b"]), ("T.", ["c"]), ("U.", []), documents=DOCUMENTS)
    judgments = alce(given, model_of("A"))
    assert rounded(scores(given, judgments, compat="alce")) == (0.333, 0.333)


def test_only_documents_judged_by_themselves_have_grades() -> None:
    judgments = alce(response(("S.", ["a", "b"]), documents=DOCUMENTS), model_of("A"))
    assert [(j.doc_id, j.grade) for j in judgments] == [
        (None, None),
        ("a", 2),
        ("b", 1),
        (None, None),
    ]


def test_alce_asks_about_documents_together_in_the_order_cited() -> None:
    model = model_of("B+C")
    alce(response(("S.", ["b", "c", "a"]), documents=DOCUMENTS), model)
    assert [asked["document"] for asked in model.asked] == [
        "Text B.\n\nText C.\n\nText A.",
        "Text B.",
        "Text C.\n\nText A.",
        "Text C.",
        "Text B.\n\nText A.",
        "Text A.",
        "Text B.\n\nText C.",
    ]


def failing(document: str, entailing: str) -> ScriptedModel:
    """Return such a model that fails when it is asked about this document."""
    model = model_of(entailing)
    answer = model.answer

    def fail(inputs: Mapping[str, str]) -> Mapping[str, Any]:
        if inputs["document"] == document:
            raise JudgmentFailed("transport", "reset", 3)
        return answer(inputs)

    return ScriptedModel(fail)


@pytest.mark.parametrize(
    ("document", "entailing", "value", "lowest", "highest"),
    [
        pytest.param(
            "Text A.\n\nText B.\n\nText C.", "A", (None, None), (0, 0), (1, 1), id="together"
        ),
        pytest.param("Text A.", "A B", (1, 0.5), (1, 0.333), (1, 0.667), id="alone"),
        pytest.param("Text A.", "A", (1, 0.333), (1, 0.333), (1, 0.333), id="needed anyway"),
        pytest.param("Text A.\n\nText C.", "A", (1, 0.5), (1, 0.333), (1, 0.667), id="the rest"),
    ],
)
def test_what_alce_makes_of_a_failure(
    document: str,
    entailing: str,
    value: tuple[float | None, ...],
    lowest: tuple[float, ...],
    highest: tuple[float, ...],
) -> None:
    given = response(("S.", ["a", "b", "c"]), documents=DOCUMENTS)
    judgments = alce(given, failing(document, entailing))
    assert {j.failure.kind for j in judgments if j.failure} == {"transport"}
    fill = SupportJudge(compat="alce").measures.fill
    assert fill is not None
    worst, best = ([j if j.judged else fill(j, b) for j in judgments] for b in (False, True))
    found = (rounded(scores(given, each, compat="alce")) for each in (judgments, worst, best))
    assert tuple(found) == (value, lowest, highest)


def test_without_document_text_nothing_is_known() -> None:
    given = replace(response(("S.", ["a", "b"])), documents_given=False)
    judgments = alce(given, NoModel())
    assert [j.failure.kind for j in judgments if j.failure] == ["no_document_text"] * 3
    assert rounded(scores(given, judgments, compat="alce")) == (None, None)


def test_several_documents_are_in_no_group() -> None:
    given = response(("S.", ["a", "b"]), ("T.", ["c"]), documents=DOCUMENTS)
    together, single = pool(given, compat="alce")
    found = SupportJudge(compat="alce", group=4)
    assert (found.group_of(together), found.group_of(single)) == (None, "c")


RUN = (
    '{"metadata": {"team_id": "t", "run_id": "%s", "topic_id": "%s"}, "responses": [%s], '
    '"documents": {"a": {"text": "Text A."}, "b": {"text": "Text B."}}}\n'
)
TOPICS = '{"topic_id": "1", "title": "One"}\n{"topic_id": "2", "title": "Two"}\n'


def sentence(text: str, *cited: str) -> str:
    return json.dumps({"text": text, "citations": cited})


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Return a folder with run `p` on both topics, and run `q` that cites nothing on one."""
    folder = tmp_path / "runs"
    folder.mkdir()
    one = ", ".join([sentence("S.", "a", "b"), sentence("T.", "b"), sentence("U.")])
    (folder / "p.jsonl").write_text(RUN % ("p", "1", one) + RUN % ("p", "2", sentence("V.", "b")))
    (folder / "q.jsonl").write_text(RUN % ("q", "1", sentence("W.")))
    (tmp_path / "topics.jsonl").write_text(TOPICS)
    return folder


def test_labels_of_assessors(runs: Path, tmp_path: Path) -> None:
    labels = [("1", 0, "a", "PARTIAL"), ("1", 1, "b", "NONE"), ("2", 0, "b", "FULL")]
    names = ("topic_id", "sentence_index", "doc_id", "label")
    lines = [{"run_id": "p"} | dict(zip(names, label, strict=True)) for label in labels]
    (tmp_path / "labels.jsonl").write_text("\n".join(map(json.dumps, lines)))
    given = ("--judge", "support", "--judgments-from", tmp_path / "labels.jsonl", "-q")
    done = judge(runs, tmp_path / "out", *given, topics=tmp_path / "topics.jsonl")
    assert (done.status, done.err) == (0, "")
    lines = (tmp_path / "out/x.leaderboard.txt").read_text().splitlines(keepends=True)
    of_labels = [line.replace("\tEXPECTED", "\tWEIGHTED") for line in lines]
    assert "".join(dict.fromkeys(of_labels)) == (  # without probabilities a label is expected
        "p\t1\tWEIGHTED_PRECISION\t0.250000\n"
        "p\t1\tWEIGHTED_RECALL\t0.166667\n"
        "p\t1\tHARD_PRECISION\t0.000000\n"
        "p\t1\tHARD_RECALL\t0.000000\n"
        "p\t2\tWEIGHTED_PRECISION\t1.000000\n"
        "p\t2\tWEIGHTED_RECALL\t1.000000\n"
        "p\t2\tHARD_PRECISION\t1.000000\n"
        "p\t2\tHARD_RECALL\t1.000000\n"
        "p\tall\tWEIGHTED_PRECISION\t0.625000\n"
        "p\tall\tWEIGHTED_RECALL\t0.583333\n"
        "p\tall\tHARD_PRECISION\t0.500000\n"
        "p\tall\tHARD_RECALL\t0.500000\n"
        "q\t1\tWEIGHTED_PRECISION\t0.000000\n"
        "q\t1\tWEIGHTED_RECALL\t0.000000\n"
        "q\t1\tHARD_PRECISION\t0.000000\n"
        "q\t1\tHARD_RECALL\t0.000000\n"
        "q\tall\tWEIGHTED_PRECISION\t0.000000\n"
        "q\tall\tWEIGHTED_RECALL\t0.000000\n"
        "q\tall\tHARD_PRECISION\t0.000000\n"
        "q\tall\tHARD_RECALL\t0.000000\n"
    )
    assert (tmp_path / "out/x.qrels").read_text() == "1 p a 1\n1 p b 0\n2 p b 2\n"


def test_a_label_of_documents_together_gives_alces_recall(runs: Path, tmp_path: Path) -> None:
    label = {"run_id": "p", "topic_id": "1", "sentence_index": 0, "doc_id": "all", "label": "FULL"}
    (tmp_path / "labels.jsonl").write_text(json.dumps(label))
    given = ("--judge", "support", "--judgments-from", tmp_path / "labels.jsonl", "-q")
    assert judge(runs, tmp_path, *given, "--set", "compat=alce").status == 3
    rows = (tmp_path / "x.leaderboard.txt").read_text().splitlines()
    assert [row for row in rows if row.startswith("p\t1\tALCE_RECALL")] == [
        "p\t1\tALCE_RECALL\t0.500000",
        "p\t1\tALCE_RECALL.unjudged\t1",
    ]
    assert "p\t1\tALCE_PRECISION.unjudged\t1" in rows


def test_labels_of_the_tracks_assessors_give_the_tracks_scores(
    shared: Path, tmp_path: Path
) -> None:
    folder = shared / "data/rag25_support"
    given = ("--judge", "support", "--judgments-from", folder / "labels.jsonl", "-q")
    only = ("--set", "leaderboard.measures=[WEIGHTED_PRECISION, HARD_PRECISION]")
    assert judge(folder / "runs", tmp_path, *given, *only, topics=folder / "topics.jsonl").err == ""
    ours = (tmp_path / "x.leaderboard.txt").read_text().splitlines()
    theirs = (folder / "human.leaderboard.txt").read_text().splitlines()
    assert (len(ours), sorted(ours)) == (918, sorted(theirs))


def answering(full: str) -> Script:
    """Return a script that attests where this text is in the document."""
    return lambda body, number: Answer(attestation(body, FULL if full in text_of(body) else NONE))


def asked(
    runs: Path, script: Script, monkeypatch: pytest.MonkeyPatch, *arguments: str
) -> list[str]:
    """Return the user messages that judging sends, sorted."""
    out = runs.parent / "-".join(arguments)
    monkeypatch.setenv("TRECJUDGE_CACHE", str(out / "cache"))
    with serving(script) as endpoint:
        for name, value in endpoint.environment().items():
            monkeypatch.setenv(name, value)
        assert judge(runs, out, "--use-env-llm", "-q", *arguments).status == 0
    return sorted(text_of(body) for body in endpoint.requests)


def test_alces_questions_as_sent(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = asked(
        runs, answering("Text A."), monkeypatch, "--judge", "support", "--set", "compat=alce"
    )
    heads = [text.partition("\n\nJSON object")[0] for text in found]
    assert heads == [
        "[[ ## document ## ]]\nText A.\n\nText B.\n\n[[ ## sentence ## ]]\nS.",
        "[[ ## document ## ]]\nText A.\n\n[[ ## sentence ## ]]\nS.",
        "[[ ## document ## ]]\nText B.\n\n[[ ## sentence ## ]]\nS.",
        "[[ ## document ## ]]\nText B.\n\n[[ ## sentence ## ]]\nT.",
        "[[ ## document ## ]]\nText B.\n\n[[ ## sentence ## ]]\nV.",
    ]


def test_the_citation_judges_question_is_not_asked_again(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    single = asked(runs, attesting(), monkeypatch, "--judge", "citation")
    both = asked(runs, attesting(), monkeypatch, "--judge", "citation,support")
    assert (len(both), both) == (4, single)


def test_the_log_names_the_citations_of_a_decision(runs: Path, tmp_path: Path) -> None:
    judge(runs, tmp_path, "--judge", "support", "--set", "compat=alce", "-q")
    events = map(json.loads, (tmp_path / "x.log").read_bytes().splitlines())
    found = [(e["citation_id"], e["label"]) for e in events if e["event"] == "SUPPORT_OUTPUT"]
    judgments = map(json.loads, (tmp_path / "x.judgments.jsonl").read_bytes().splitlines())
    decided = [j for j in judgments if j["record"] == "judgment"]
    assert found == [(j["doc_id"] or j["citation"], j["label"]) for j in decided]
    assert "all" in dict(found)


@pytest.mark.parametrize("dataset", ["rag", "ragtime", "dragun"])
def test_shipped_workflows_rank_and_rescore(dataset: str, tmp_path: Path) -> None:
    workflow = Path(__file__).parents[2] / "workflows" / f"support_{dataset}.yml"
    done = sample(dataset, tmp_path, "--json", "--workflow", workflow, "--all-variants")
    assert done.status == 0
    kinds = ("leaderboard.txt", "qrels")
    before = {p.name: p.read_bytes() for kind in kinds for p in tmp_path.glob(f"x*.{kind}")}
    assert len(before) == 2 * 4
    for judgments in tmp_path.glob("*.judgments.jsonl"):
        assert command("job", "rescore", judgments, "-q").status == 0
    assert {name: (tmp_path / name).read_bytes() for name in before} == before


@pytest.mark.parametrize(
    ("cited", "value"),
    [
        pytest.param(["a"], (1, 1), id="a good one"),
        pytest.param(["a", "e"], (1, 0.5), id="with one that is carried without text"),
        pytest.param(["e", "f"], (0, 0), id="such only"),
    ],
)
def test_what_is_carried_without_text_adds_nothing_to_the_others(
    cited: list[str], value: tuple[float, float]
) -> None:
    given = response(("S.", cited), carried={"a": "Text A.", "e": "", "f": " "})
    model = ScriptedModel(lambda inputs: {"label": FULL, "evidence": ""})
    judgments = alce(given, model)
    assert rounded(scores(given, judgments, compat="alce")) == value
    assert all(j.judged for j in judgments)
    assert all(inputs["document"] == "Text A." for inputs in model.asked)


def test_a_citation_on_what_states_nothing_is_not_assessed() -> None:
    """Precision leaves it out; the sentence counts in the recall as an uncited one does."""
    given = scored({"a": 0.9}, {"b": 0.9})
    found = [
        judgment(label, sentence_index=index, doc_id=doc_id, citation=doc_id)
        for index, (label, doc_id) in enumerate([(FULL, "a"), (NOTHING_TO_CHECK, "b")])
    ]
    assert scores(given, found) == {
        "WEIGHTED_PRECISION": 1.0,
        "WEIGHTED_RECALL": 0.5,
        "HARD_PRECISION": 1.0,
        "HARD_RECALL": 0.5,
    }
    alce = SupportJudge(compat="alce").measures
    assert [m.compute(given, found) for m in alce.measures] == [0.5, 1.0]
