"""The direct_prompt judge: grades read from any wording, whole topics, units, measures, qrels."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import command, judge, sample
from tests.endpoint import Answer, in_chat_form, serving, text_of
from tests.fakes import ScriptedModel, judgment, response
from trecjudge.errors import JudgmentFailed, WorkflowError
from trecjudge.job.request import load_workflow
from trecjudge.judges.direct_prompt import GRADE, DirectPromptJudge, best_or_worst, topic_text
from trecjudge.judges.direct_prompt.grades import grade_of
from trecjudge.models.model import Model, NoModel
from trecjudge.models.prompt import FORMS, Form, Prompts
from trecjudge.models.reading import Unparsed
from trecjudge.records import Failure, Item, Judgment, Topic

KETTLE = Topic("t1", "Why does a kettle whistle when steam leaves the spout?")
ARTICLE = Topic(
    "t2", "Clock to strike again", body="The clock, built in 1741.", url="http://c.example"
)
ANSWER = "A kettle whistles because steam passes two plates in its spout. Steam makes it whistle."
FAILED = Failure("transport", "reset")
NO_MODEL = NoModel()


def grading(grade: int, reason: str = "so") -> ScriptedModel:
    return ScriptedModel(lambda inputs: {"grade": grade, "reason": reason})


def judged(item: Item, model: Model = NO_MODEL, **settings: Any) -> Judgment:
    found = asyncio.run(DirectPromptJudge(**settings).judge(item, model))
    assert isinstance(found, Judgment)
    return found


def graded(*grades: int | None) -> list[Judgment]:
    return [
        judgment(None if g is None else str(g), grade=g, failure=FAILED if g is None else None)
        for g in grades
    ]


def test_a_grade_is_exactly_one_integer_of_the_scale() -> None:
    cases = [
        # The answers of other judges' traps, with grades in the place of verdicts.
        ("0, but yesterday's edition comes close to a 3.", 0),
        ("0. The eyes of the storm are never mentioned.", 0),
        ("I cannot say 3 on this evidence.", None),
        ('0 (the word "3" does not settle it).', 0),
        ('Irrelevant (the word "3" does not settle it).', None),
        ("3", 3),
        ("0", 0),
        ("", None),
        ("Supported", None),
        # The scale is no grade.
        ("on a scale of 0 to 3 this is a 1", 1),
        ("The score of this text, on the 0–3 scale, is 2.", 2),
        ("Grade (0-3): 2", 2),
        ("0, 1, 2 or 3? I say 2.", 2),
        ("0-3", None),
        ("between 0 and 3", None),
        # Other numbers are no grade.
        ("published 2019. final score: 0", 0),
        ("The 2019 report deserves a 1.", 1),
        ("2019", None),
        ("It cites 2 sources.", None),
        ("See section 2.", None),
        ("It is about World War 2.", None),
        ("1. It names the ferry. 2. It gives no date.", None),
        ("1. It names the ferry. 2. It gives no date. Grade: 2", 2),
        # Ways to write a grade.
        ("2.0", 2),
        ("two", 2),
        ("２", 2),
        ("**2**", 2),
        ("3/3", 3),
        ("2 out of 3", 2),
        ("Overall rating: two out of three", 2),
        ("##final score: 2", 2),
        ("M: 3, T: 2. Final score: 1", 1),
        ("**Grade:** 2", 2),
        ("Grade - 2", 2),
        ("3 - perfectly relevant", 3),
        ("Highly relevant (2)", 2),
        ("The relevance is 1 because the need is not met.", 1),
        ("評価: 2", 2),
        # What is denied is not stated.
        ("grade: 2 (not 3)", 2),
        ("It is not a 3 but a 2.", 2),
        ("It does not deserve a 3.", None),
        ("Not 3", None),
        # Several grades are none, unless one is final.
        ("I'd give it between 1 and 2", None),
        ("1 or 2", None),
        ("Grade: 1-2", None),
        ("maybe a 1 or a 2", None),
        ("at least 2", None),
        ("Grade 2+", None),
        ("M: 3, T: 2, O: 2", None),
        ("2 2", None),
        ("[1, 2]", None),
        ("Score: 1. On reflection, score: 2.", None),
        ("Initial grade: 1. Final grade: 2.", 2),
        # Beyond the scale, on another scale, or between two grades.
        ("-1", None),
        ("10", None),
        ("2.5", None),
        ("2,5", None),
        ("Grade: 7", None),
        ("Grade: -1", None),
        ("8/10", None),
        ("2 out of 10", None),
        ("Grade: 95%", None),
        # Refusals.
        ("I'm sorry, but I cannot grade this. Grade: 0", None),
        ("This text cannot be graded: 0 information.", None),
        # Values of JSON.
        (2, 2),
        (2.0, 2),
        (2.5, None),
        (4, None),
        (-1, None),
        (True, None),
        (None, None),
        ([2], None),
    ]  # fmt: skip
    wrong = [(written, grade) for written, grade in cases if grade_of(written) != grade]
    assert not wrong


@pytest.mark.parametrize(
    ("form", "reply", "grade"),
    [
        pytest.param("schema", '{"reason": "so", "grade": 2}', 2, id="an integer"),
        pytest.param("schema", '{"reason": "so", "grade": "2 (not 3)"}', 2, id="a text"),
        pytest.param("schema", '{"reason": "3 of 3 points", "grade": 7}', None, id="beyond it"),
        pytest.param("schema", '{"reason": "so", "grade": [2]}', 2, id="a list of one"),
        pytest.param("schema", '{"reason": "so", "grade": null}', None, id="null"),
        pytest.param("schema", '{"reason": "a 2"}', None, id="no grade"),
        pytest.param("schema", "on a scale of 0 to 3 this is a 1", 1, id="no JSON"),
        pytest.param("chat", "published 2019. final score: 0", 0, id="no fields"),
        pytest.param("chat", "I cannot grade this.", None, id="a refusal"),
        pytest.param("chat", "[[ ## reason ## ]]\nso\n\n[[ ## grade ## ]]\n3/3", 3, id="fields"),
        pytest.param(
            "chat", "[[ ## reason ## ]]\nis a 2\n\n[[ ## grade ## ]]\n1 or 2", None, id="a range"
        ),
    ],
)
def test_replies(form: Form, reply: str, grade: int | None) -> None:
    prompt = Prompts().get(GRADE, form)
    if grade is None:
        with pytest.raises(Unparsed):
            prompt.parse(reply)
    else:
        assert prompt.parse(reply)["grade"] == grade


def test_the_endpoint_is_held_to_the_four_grades() -> None:
    schema = Prompts().get(GRADE, "schema").request["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["grade"]["enum"] == [0, 1, 2, 3]


@pytest.mark.parametrize("form", FORMS)
def test_the_prompt_as_sent(form: Form) -> None:
    given = {"topic": topic_text(ARTICLE), "text": "The clock stopped."}
    system, user = Prompts().get(GRADE, form).messages(given)
    assert "Grade how relevant the text is to the topic" in system["content"]
    assert "0: irrelevant." in system["content"]
    assert ("valid Python int" in user["content"]) == (form == "chat")
    assert user["content"].startswith(
        "[[ ## topic ## ]]\nTitle:\nClock to strike again\n\n"
        "Address of the article:\nhttp://c.example\n\nArticle:\nThe clock, built in 1741.\n\n"
        "[[ ## text ## ]]\nThe clock stopped.\n"
    )


def test_the_topic_enters_whole_without_empty_parts() -> None:
    topic = Topic("t", "Kettles", problem_statement="Why whistle?", background=" For a school.\n")
    assert topic_text(topic) == (
        "Title:\nKettles\n\nProblem statement:\nWhy whistle?\n\nBackground:\nFor a school."
    )


@pytest.mark.parametrize(
    ("name", "wording"),
    [
        ("direct_prompt", "Grade how relevant the `text` is to the `topic`"),
        ("direct_prompt_rag", "answers the `topic`, a query"),
        ("direct_prompt_ragtime", "report that the `topic` requests"),
        ("direct_prompt_dragun", "decide whether to trust the `topic`"),
    ],
)
def test_each_workflow_has_a_wording_and_variants(name: str, wording: str) -> None:
    workflow = load_workflow(Path(name))
    system = Prompts(workflow.prompts).get(GRADE, "chat").messages({"topic": "", "text": ""})[0]
    assert wording in system["content"]
    assert workflow.variants == {"strict": {"threshold": 3}, "lenient": {"threshold": 1}}


DOCUMENTS = {"k": "Steam makes a kettle whistle.", "e": " "}
CITING = response(("One.", ["k", "gone"]), ("Two.", ["k", "e"]), documents=DOCUMENTS)


@pytest.mark.parametrize(
    ("unit", "items"),
    [
        ("response", [("One. Two.", None, None)]),
        ("sentence", [("One.", 0, None), ("Two.", 1, None)]),
        ("document", [("Steam makes a kettle whistle.", None, "k"), ("", None, "e")]),
    ],
)
def test_pool(unit: Any, items: list[tuple[str, int | None, str | None]]) -> None:
    pool = DirectPromptJudge(unit=unit).pool(KETTLE, CITING)
    found = [(i.text, i.sentence_index, i.citation.doc_id if i.citation else None) for i in pool]
    assert found == items


def test_references_with_text_are_documents_of_the_response() -> None:
    referring = replace(response(("One.", []), documents=DOCUMENTS), references=("k", "gone"))
    pool = list(DirectPromptJudge(unit="document").pool(KETTLE, referring))
    assert [i.document.doc_id for i in pool if i.document] == ["k"]


def test_cited_documents_are_unjudged_where_no_document_text_is_given() -> None:
    native = replace(response(("One.", ["k"])), documents_given=False)
    (item,) = DirectPromptJudge(unit="document").pool(KETTLE, native)
    with pytest.raises(JudgmentFailed, match="--documents") as failed:
        judged(item, grading(3), unit="document")
    assert failed.value.kind == "no_document_text"


def test_a_response_without_text_has_grade_0_and_no_call() -> None:
    model = grading(3)
    found = judged(Item(KETTLE, "r", " "), model)
    assert (found.grade, found.reason, model.asked) == (0, "no text", [])


@pytest.mark.parametrize(
    ("topic", "text", "kind"),
    [
        pytest.param(Topic("t1"), ANSWER, "no_topic_text", id="a topic of which nothing is known"),
        pytest.param(KETTLE, "水壶会响", "script", id="another script"),
    ],
)
def test_unjudged_offline(topic: Topic, text: str, kind: str) -> None:
    with pytest.raises(JudgmentFailed) as failed:
        judged(Item(topic, "r", text))
    assert failed.value.kind == kind


def test_unjudged_offline_names_the_scripts() -> None:
    expected = "the topic is in latin, the text in han: words cannot be compared, a model can"
    with pytest.raises(JudgmentFailed, match=expected):
        judged(Item(KETTLE, "r", "水壶会响"))


def test_offline_and_by_model() -> None:
    item, model = Item(KETTLE, "r", ANSWER), grading(1, "partly")
    offline, asked = judged(item), judged(item, model)
    assert (offline.grade, offline.label, offline.attester) == (3, "3", "lexical")
    assert (asked.grade, asked.label, asked.attester, asked.reason) == (1, "1", "llm", "partly")
    assert judged(item, model, attester="lexical").attester == "lexical"
    assert model.asked == [{"topic": f"Title:\n{KETTLE.title}", "text": ANSWER}]


def test_a_document_is_graded_as_a_document_not_as_a_citation() -> None:
    (item, _) = DirectPromptJudge(unit="document").pool(KETTLE, CITING)
    found = judged(item, grading(2), unit="document")
    assert (found.doc_id, found.citation, found.grade) == ("k", None, 2)


@pytest.mark.parametrize(
    ("label", "grade"), [("0", 0), ("3", 3), ("2.0", 2), ("4", None), ("-1", None), ("full", None)]
)
def test_labels_of_others(label: str, grade: int | None) -> None:
    item = Item(KETTLE, "r", ANSWER)
    if grade is None:
        with pytest.raises(JudgmentFailed, match="none of 0, 1, 2, 3"):
            DirectPromptJudge().given(item, label)
    else:
        assert DirectPromptJudge().given(item, label).grade == grade


@pytest.mark.parametrize(
    ("judgments", "threshold", "expected"),
    [
        pytest.param(graded(2), 2, (2.0, 1.0), id="at the threshold"),
        pytest.param(graded(2), 3, (2.0, 0.0), id="strict"),
        pytest.param(graded(1), 1, (1.0, 1.0), id="lenient"),
        pytest.param(graded(3, 0, 1, 2), 2, (1.5, 0.5), id="several: the share of the relevant"),
        pytest.param(graded(3, None), 2, (3.0, 1.0), id="one unjudged"),
        pytest.param(graded(None), 2, (None, None), id="none judged"),
        pytest.param([], 2, (0.0, 0.0), id="no units"),
    ],
)
def test_measures(
    judgments: list[Judgment], threshold: int, expected: tuple[float | None, float | None]
) -> None:
    spec = DirectPromptJudge(threshold=threshold).measures
    assert tuple(m.compute(response(), judgments) for m in spec.measures) == expected


def test_bounds_of_an_unjudged_unit() -> None:
    (unknown,) = graded(None)
    assert (best_or_worst(unknown, best=True).grade, best_or_worst(unknown, best=False).grade) == (
        3,
        0,
    )


@pytest.mark.parametrize("threshold", [0, 4])
def test_a_threshold_beyond_the_scale(threshold: int) -> None:
    with pytest.raises(WorkflowError, match="1, 2, 3"):
        DirectPromptJudge(threshold=threshold)


@pytest.mark.parametrize("dataset", ["rag", "ragtime", "dragun"])
def test_pooled_qrels_of_the_sample_data(dataset: str, tmp_path: Path) -> None:
    workflow = f"direct_prompt_{dataset}"
    done = sample(dataset, tmp_path, "--workflow", workflow, "--set", "unit=document", "--json")
    assert done.status == 0, done.err
    rows = [line.split() for line in (tmp_path / "x.qrels").read_text().splitlines()]
    assert {row[1] for row in rows} == {"0"}
    assert [row[::2] for row in rows] == sorted({(r[0], r[2]): r[::2] for r in rows}.values())
    before = (tmp_path / "x.qrels").read_bytes()
    assert command("job", "rescore", tmp_path / "x.judgments.jsonl", "-q").status == 0
    assert (tmp_path / "x.qrels").read_bytes() == before


def test_without_documents_there_are_no_qrels(tmp_path: Path) -> None:
    assert sample("rag", tmp_path, "-q", "--judge", "direct_prompt").status == 0
    assert (tmp_path / "x.qrels").read_bytes() == b""


def runs_of_two(folder: Path) -> Path:
    """Return two runs that cite one document for one topic, in other words."""
    folder.mkdir()
    for run in ("a", "b"):
        meta = {"team_id": "x", "run_id": run, "topic_id": "t1", "narrative": "Why whistle?"}
        written = [{"text": f"Run {run} says so.", "citations": ["k"]}]
        record = {"metadata": meta, "responses": written, "documents": {"k": {"text": "Steam."}}}
        (folder / f"{run}.jsonl").write_text(json.dumps(record))
    return folder


@pytest.mark.parametrize("chat", [False, True], ids=["schema", "chat"])
def test_each_document_is_asked_about_once_over_all_runs(
    chat: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        return Answer("on a scale of 0 to 3 this is a 1")

    topics = tmp_path / "topics.tsv"
    topics.write_text("t1\tWhy does a kettle whistle?\n")
    with serving(in_chat_form(script) if chat else script) as endpoint:
        for name, value in endpoint.environment().items():
            monkeypatch.setenv(name, value)
        options = ("--judge", "direct_prompt", "--set", "unit=document", "--use-env-llm", "--json")
        done = judge(runs_of_two(tmp_path / "runs"), tmp_path, *options, topics=topics)
        asked = [body for body in endpoint.requests if chat is ("response_format" not in body)]
    assert done.status == 0, done.err
    assert len(asked) == 1
    assert "[[ ## topic ## ]]\nTitle:\nWhy does a kettle whistle?\n" in text_of(asked[0])
    assert "[[ ## text ## ]]\nSteam.\n" in text_of(asked[0])
    assert (tmp_path / "x.qrels").read_text() == "t1 0 k 1\n"


def test_an_unreadable_grade_is_asked_again_then_unjudged_and_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = Answer('{"reason": "so", "grade": "1 or 2"}')
    topics = tmp_path / "topics.tsv"
    topics.write_text("t1\tWhy does a kettle whistle?\n")
    with serving(lambda body, number: reply) as endpoint:
        for name, value in endpoint.environment().items():
            monkeypatch.setenv(name, value)
        runs = runs_of_two(tmp_path / "runs")
        options = ("--judge", "direct_prompt", "--run", "a", "--use-env-llm", "--json")
        for _ in range(2):
            done = judge(runs, tmp_path, *options, topics=topics)
        written = [body["messages"][-1]["content"] for body in endpoint.requests]
    assert (done.status, len(written)) == (3, 6)
    assert "grade: '1 or 2': '1 or 2' is not one integer from 0 to 3." in written[1]
    assert json.loads(done.out)["failures"] == {"parse": 1}


@pytest.mark.parametrize("model", [NO_MODEL, grading(3)], ids=["offline", "model"])
def test_a_document_that_the_run_carries_without_text_has_grade_0(model: Model) -> None:
    given = response(("One.", ["k"]), carried={"k": "\u200b"})
    (item,) = DirectPromptJudge(unit="document").pool(KETTLE, given)
    found = judged(item, model, unit="document")
    assert (found.grade, found.reason) == (0, "the run carries this document without text")
