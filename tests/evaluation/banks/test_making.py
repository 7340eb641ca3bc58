"""Banks made by words and by a model: what is kept, where it is from, what could not be asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from tests.fakes import ScriptedModel, response
from trecjudge.errors import InputError, JudgmentFailed
from trecjudge.evaluation.banks.asking import join_same
from trecjudge.evaluation.banks.making import (
    BankSettings,
    DraftBank,
    Kind,
    make_banks,
    trail,
    trail_of,
)
from trecjudge.evaluation.banks.material import Material
from trecjudge.evaluation.banks.merging import NuggetDraft
from trecjudge.findings import Finding
from trecjudge.inputs.nuggets.bank_formats import bank_format_named
from trecjudge.models.model import Model, NoModel
from trecjudge.records import Topic

L1 = "The lighthouse on Skarne was lit in 1871. Its tower is of red brick."
L2 = "The last keeper of the lighthouse left Skarne in 1983."
L3 = "Skarne is an island. The lighthouse of Skarne was lit in 1871 by Ada Holm."
DOCUMENTS = {"L1": L1, "L2": L2, "L3": L3}


def material() -> Material:
    """Return a topic to which three runs respond."""
    found = Material(Topic("901", "the lighthouse on Skarne"))
    responses = [
        response(
            ("The lighthouse on Skarne was lit in 1871.", ["L1", "L9"]),
            ("The last keeper left Skarne in 1983.", ["L2"]),
            run_id="a",
            documents=DOCUMENTS,
        ),
        response(
            ("The lighthouse on Skarne was lit in 1871.", ["L3"]), run_id="b", documents=DOCUMENTS
        ),
        response(("Gulls nest on the cliffs of Skarne.", ["L1"]), run_id="c", documents=DOCUMENTS),
    ]
    for one in responses:
        found.add(one, {})
    return found


def made(
    *kinds: Kind, model: Model | None = None, **making: int
) -> tuple[DraftBank, list[Finding]]:
    findings: list[Finding] = []
    (found,) = asyncio.run(
        make_banks([material()], BankSettings(kinds, **making), model or NoModel(), findings.append)
    )
    return found, findings


def test_a_bank_from_documents_by_words() -> None:
    found, findings = made("documents")
    by_text = {draft.text: draft for draft in found.drafts}
    lit = by_text["The lighthouse on Skarne was lit in 1871."]
    assert findings == []
    assert (lit.importance, lit.runs, lit.attesting) == ("vital", ("a", "c", "b"), ("L1", "L3"))
    for draft in found.drafts:
        for passage in draft.passages:
            assert DOCUMENTS[passage.doc_id][passage.start : passage.end] == passage.excerpt


def test_a_bank_from_runs_by_words_has_who_states_it() -> None:
    found, _ = made("runs")
    first = found.drafts[0]
    assert (first.text, first.runs) == ("The lighthouse on Skarne was lit in 1871.", ("a", "b"))
    assert first.nugget("1").source == "a, b"
    # The text of L9 is not known: it is kept apart, as cited and unread.
    assert (first.attesting, first.documents) == (("L1", "L3", "L9"), ("L9",))


@pytest.mark.parametrize(
    ("kinds", "wanted"),
    [((), "--from documents"), (("topic",), "--use-env-llm")],
)
def test_what_cannot_be_made_is_refused(kinds: Sequence[Kind], wanted: str) -> None:
    with pytest.raises(InputError, match=wanted):
        made(*kinds)


def entry(**fields: Any) -> Any:
    return SimpleNamespace(**fields)


def scripted(**answers: Callable[[Mapping[str, Any]], Any]) -> ScriptedModel:
    """Return a model that answers by the inputs that a program has; all nuggets are okay."""

    def answer(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        if "documents" in inputs:
            return {"updated": answers["documents"](inputs)}
        if "sentences" in inputs:
            return {"stated": answers["sentences"](inputs)}
        if "nuggets" not in inputs:
            return {"questions": answers["topic"](inputs)}
        numbers = range(1, len(inputs["nuggets"]) + 1)
        if "query" not in inputs:
            same = answers.get("same", lambda inputs: list(numbers))(inputs)
            pairs = zip(numbers, same, strict=True)
            return {"matches": [entry(number=n, same_as=s) for n, s in pairs]}
        labels = answers.get("labels", lambda inputs: ["okay" for _ in numbers])(inputs)
        return {"labels": [entry(number=n, label=x) for n, x in zip(numbers, labels, strict=True)]}

    return ScriptedModel(answer)


def growing(inputs: Mapping[str, Any]) -> list[Any]:
    """Return the list so far and a nugget for each document."""
    before = [entry(text=text, documents=[]) for text in inputs["nuggets"]]
    new = {
        "red brick": "The lighthouse was lit in 1871",
        "keeper": "The keeper left in 1983",
        "Ada": "The lighthouse was lit in 1871",
    }
    return before + [
        entry(text=nugget, documents=[n])
        for n, text in enumerate(inputs["documents"], 1)
        for word, nugget in new.items()
        if word in text
    ]


def test_documents_are_read_window_by_window_into_one_list() -> None:
    model = scripted(documents=growing)
    found, findings = made("documents", model=model, window=1)
    windows = [asked for asked in model.asked if "documents" in asked]
    assert [len(asked["nuggets"]) for asked in windows] == [0, 1, 2]
    assert [draft.text for draft in found.drafts] == [
        "The lighthouse was lit in 1871",
        "The keeper left in 1983",
    ]
    # From both documents, and in each the passage that states it.
    assert [p.doc_id for p in found.drafts[0].passages] == ["L1", "L3"]
    assert [p.excerpt[:14] for p in found.drafts[0].passages] == ["The lighthouse"] * 2
    assert findings == []


def test_vital_nuggets_come_first_and_the_rest_is_cut() -> None:
    model = scripted(
        documents=lambda inputs: [entry(text=f"Fact {n}", documents=[]) for n in range(6)],
        labels=lambda inputs: [
            "vital" if text in ("Fact 3", "Fact 5") else "okay" for text in inputs["nuggets"]
        ],
    )
    found, _ = made("documents", model=model, most=3)
    assert [(d.text, d.importance) for d in found.drafts] == [
        ("Fact 3", "vital"),
        ("Fact 5", "vital"),
        ("Fact 0", "okay"),
    ]


def test_a_window_that_cannot_be_asked_is_said_and_the_rest_is_written() -> None:
    def failing(inputs: Mapping[str, Any]) -> list[Any]:
        if "keeper" in inputs["documents"][0]:
            raise JudgmentFailed("refused", "no")
        return growing(inputs)

    found, findings = made("documents", model=scripted(documents=failing), window=1)
    assert [draft.text for draft in found.drafts] == ["The lighthouse was lit in 1871"]
    assert [(f.kind, f.message) for f in findings] == [
        ("nuggets_not_asked", "documents 2 to 2: no")
    ]


def test_an_empty_list_does_not_replace_what_was_found() -> None:
    def forgetting(inputs: Mapping[str, Any]) -> list[Any]:
        return [] if inputs["nuggets"] else growing(inputs)

    found, findings = made("documents", model=scripted(documents=forgetting), window=1)
    assert [draft.text for draft in found.drafts] == ["The lighthouse was lit in 1871"]
    assert {f.kind for f in findings} == {"nuggets_not_asked"}


def test_importance_that_does_not_fit_is_asked_one_by_one() -> None:
    def labels(inputs: Mapping[str, Any]) -> list[str]:
        if len(inputs["nuggets"]) > 1 or inputs["nuggets"] == ["Fact 1"]:
            raise JudgmentFailed("parse", "unreadable")
        return ["vital"]

    facts = [entry(text=f"Fact {n}", documents=[]) for n in range(3)]
    model = scripted(documents=lambda inputs: facts, labels=labels)
    found, findings = made("documents", model=model)
    assert [(d.text, d.importance) for d in found.drafts] == [
        ("Fact 0", "vital"),
        ("Fact 2", "vital"),
        ("Fact 1", ""),
    ]
    assert len(findings) == 1


def test_what_runs_state_is_pooled_with_its_sentence() -> None:
    def stated(inputs: Mapping[str, Any]) -> list[Any]:
        found = [entry(text="The lamp was lit in 1871", sentence=1)]
        if "1871" not in inputs["sentences"][0]:
            return [entry(text="Gulls nest", sentence=7)]
        if len(inputs["sentences"]) > 1:
            return [entry(text="The keeper left", sentence=2), *found]
        return found

    found, _ = made("runs", model=scripted(sentences=stated))
    # First what two runs state, then what one does, as it was found.
    lit, keeper, gulls = found.drafts
    assert keeper.said[0].sentence_index == 1
    assert [(said.run_id, said.sentence_index) for said in lit.said] == [("a", 0), ("b", 0)]
    assert lit.runs == ("a", "b")
    assert [(said.run_id, said.text) for said in gulls.said] == [
        ("c", "Gulls nest on the cliffs of Skarne.")
    ]


def test_nuggets_are_merged_by_meaning() -> None:
    facts = ["Lit in 1871", "Has a red tower", "First shone in 1871"]
    model = scripted(
        documents=lambda inputs: [entry(text=text, documents=[1]) for text in facts],
        same=lambda inputs: [1, 2, 1],
    )
    found, _ = made("documents", model=model)
    assert [(d.text, d.also) for d in found.drafts] == [
        ("Lit in 1871", ("First shone in 1871",)),
        ("Has a red tower", ()),
    ]


@pytest.mark.parametrize(
    ("same_as", "kept"),
    [
        pytest.param([1, 1, 2], ["A"], id="the same as one that is the same"),
        pytest.param([1, 3, 3], ["A", "B", "C"], id="one behind joins nothing"),
        pytest.param([0, -1, 9], ["A", "B", "C"], id="numbers of none"),
    ],
)
def test_numbers_of_none_join_nothing(same_as: list[int], kept: list[str]) -> None:
    assert [d.text for d in join_same([NuggetDraft(text) for text in "ABC"], same_as)] == kept


def test_a_question_joins_no_statement() -> None:
    assert len(join_same([NuggetDraft("A"), NuggetDraft("B", ())], [1, 1])) == 2


def test_a_topic_gives_questions_with_the_answers_that_are_known() -> None:
    asked = [entry(question="When?", answer="1871"), entry(question="Why?", answer=" ")]
    found, _ = made("topic", model=scripted(topic=lambda inputs: asked))
    nuggets = found.bank.nuggets
    assert [(n.text, [a.text for a in n.answers]) for n in nuggets] == [
        ("When?", ["1871"]),
        ("Why?", []),
    ]


@pytest.mark.parametrize("name", ["autoargue", "nuggetizer", "dragun_rubric"])
def test_the_trail_has_the_ids_of_the_written_bank(name: str) -> None:
    found, _ = made("documents")
    format_ = bank_format_named(name)
    lines = trail(found, format_)
    assert [line["text"] for line in lines] == [draft.text for draft in found.drafts]
    assert len({line["nugget_id"] for line in lines}) == len(lines)
    assert all(line["passages"] for line in lines)


def test_the_trail_lies_beside_the_bank(tmp_path: Any) -> None:
    assert trail_of(tmp_path / "bank.jsonl.gz").name == "bank.trail.jsonl"
    assert trail_of(tmp_path / "banks") == tmp_path / "banks.trail.jsonl"


def test_a_nugget_of_documents_and_of_runs_keeps_what_both_are_from() -> None:
    def stated(inputs: Mapping[str, Any]) -> list[Any]:
        return [entry(text="The lighthouse was lit in 1871", sentence=1)]

    model = scripted(documents=growing, sentences=stated)
    found, _ = made("documents", "runs", model=model)
    lit = found.drafts[0]
    assert [passage.doc_id for passage in lit.passages] == ["L1", "L3"]
    assert [said.run_id for said in lit.said] == ["a", "b", "c"]


def test_why_there_are_no_nuggets_is_said() -> None:
    findings: list[Finding] = []
    alone = Material(Topic("902", "kettles"))
    asyncio.run(make_banks([alone], BankSettings(["documents"]), NoModel(), findings.append))
    assert [f.kind for f in findings] == ["nuggets_not_found"]
    assert "give --documents" in findings[0].message
