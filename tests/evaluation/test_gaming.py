"""Answers written for the judge: each way changes what it says, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes import response
from trecjudge.evaluation.gaming import ABSTENTION, FRAMES, OPENERS, WAYS
from trecjudge.records import Document, ProvenanceLine, Response

TITLE = "How do harbours grow?"
FIRST = "The harbour of Lund was dug in 1850, and it was widened by 30 workers."
SECOND = "Today its cranes can lift large containers out of ships at night."
SHORT = "Few people remember."
FERRY = "A ferry crosses the sound, it was said, in exactly twenty minutes."
OWN = "Cranes lift containers at night."
WEAK = "The ferry is quite fast, they think."
ANSWER = response(
    (OWN, ["a", "b"]),
    (WEAK, ["b"]),
    ("Nobody cites this.", []),
    documents={"a": f"{FIRST} {SECOND} {SHORT}", "b": FERRY},
)
BY_NAME = {way.name: way for way in WAYS}


def played(name: str, answer: Response = ANSWER, title: str = TITLE) -> list[tuple[str, str]]:
    """Return the text of each sentence of an answer after a game, and what it cites."""
    made, order = BY_NAME[f"game:{name}"].make(answer, title)
    assert order == [sentence.index for sentence in made.sentences] == [*range(len(order))]
    return [(s.text, " ".join(c.doc_id or "" for c in s.citations)) for s in made.sentences]


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("copy", SECOND),
        ("copy-first", FIRST),
        ("copy-document", f"{FIRST} {SECOND} {SHORT}"),
        ("copy-padded", f"{SECOND} This is worth noting."),
        ("copy-five-times", " ".join([SECOND] * 5)),
        (
            "copy-fillers",
            "Today its cranes can lift large containers indeed out of ships at night.",
        ),
        ("copy-swapped", "Today its containers can lift large cranes out of ships at night."),
        ("copy-small-words", "Today can cranes out lift large containers of at ships its night."),
        (
            "copy-clauses",
            "Containers out of ships at night, Today its cranes can lift large.",
        ),
        ("copy-half", "Today its cranes can lift large."),
        (
            "copy-nonsense",
            "Today its cranes can lift large containers out of spihs ta thgin.",
        ),
        ("copy-capitals", SECOND.upper()),
        ("copy-denied", "Today its cranes can not lift large containers out of ships at night."),
        ("frame-false", f"It is false that {SECOND}"),
        ("frame-question", f"{SECOND[:-1]}?"),
        ("frame-why", f"Here is why {SECOND[:-1]}:"),
        (
            "long-words",
            "Harbour widened workers Today cranes large containers ships night people remember.",
        ),
        (
            "snips",
            "The harbour of Lund was dug in, 1850, and it was widened by 30, workers. Today its"
            " cranes can lift large, containers out of ships at night. Few.",
        ),
        ("title", TITLE),
        ("title-words", "Harbours."),
        ("title-copy", f"{TITLE} {SECOND}"),
        ("about-title", "There is information about how do harbours grow."),
        ("own-copy", f"{OWN} {SECOND}"),
        ("own-brackets", f"{OWN[:-1]} ({SECOND})"),
        ("own-quoted", f"{OWN} “{SECOND}”"),
        ("own-so", f"{SECOND[:-1]}, so {OWN}"),
        ("short-three", "Today its cranes."),
        ("short-seven", "Today its cranes can lift large containers."),
        ("list", "- Today its cranes can lift large\n- containers out of ships at night"),
        (
            "table",
            "| Point 1 | Point 2 |\n|---|---|\n| Today its cranes can lift large | containers out"
            " of ships at night |",
        ),
        ("heading", f"## {SECOND[:-1]}"),
        *((f"frame-{name}", form.format(SECOND[:-1])) for name, form in FRAMES),
    ],
)
def test_each_sentence_is_rewritten_and_cites_its_document_only(name: str, first: str) -> None:
    (text, cited), *_ = found = played(name)
    assert (text, cited) == (first, "a")
    assert len(found) == len(ANSWER.sentences)


def test_copies_altered_otherwise_are_of_the_same_words() -> None:
    words = sorted(SECOND[:-1].lower().split())
    assert sorted(played("copy-shuffled")[0][0][:-1].lower().split()) == words
    answer = response(("Lund dug its harbour in 1850.", ["a"]), documents={"a": FIRST})
    (changed, _), *_ = played("copy-numbers", answer)
    assert changed == FIRST.replace("1850", "4183").replace("30", "63")
    assert played("copy-spelling", answer) == [(FIRST.replace("harbour", "harbor"), "a")]


def test_a_salad_has_words_of_the_document_only() -> None:
    allowed = f"{FIRST} {SECOND} {SHORT}".lower().replace(",", "").replace(".", "").split()
    for name in ("salad", "salad-all", "key-words"):
        words = played(name)[0][0].lower().replace(",", "").replace(".", "").split()
        assert words and set(words) <= set(allowed), name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("one-copy", [(SECOND, "a")]),
        ("twenty-copies", [(SECOND, "a")] * 20),
        ("openers", [(form.format(SECOND[:-1]), "a") for form in OPENERS]),
        ("best-only", [(OWN, "a b")]),
        ("best-repeated", [(OWN, "a b")] * 20),
        ("abstain-only", [(ABSTENTION, "")]),
        (
            "one-sentence",
            [(f"{OWN[:-1]}; {WEAK[:-1]}; Nobody cites this.", "a b")],
        ),
        ("cite-all", [(OWN, "a b"), (WEAK, "a b"), ("Nobody cites this.", "a b")]),
        ("cite-best", [(OWN, "a"), (WEAK, "b"), ("Nobody cites this.", "a")]),
        ("cite-own-best", [(OWN, "a"), (WEAK, "b"), ("Nobody cites this.", "")]),
        ("cite-where-none", [(OWN, "a b"), (WEAK, "b"), ("Nobody cites this.", "a")]),
        ("drop-uncited", [(OWN, "a b"), (WEAK, "b")]),
        ("drop-weak", [(OWN, "a b"), (WEAK, "b")]),
        ("cut-five", [(OWN, "a b"), ("The ferry is quite fast.", "b"), ("Nobody cites this.", "")]),
        (
            "one-of-copies",
            [(f"{SECOND[:-1]}; {FERRY[:-1]}; {FIRST}", "a b")],
        ),
        (
            "cut-clause",
            [
                ("Cranes lift containers.", "a b"),
                ("The ferry is quite fast.", "b"),
                ("Nobody cites.", ""),
            ],
        ),
    ],
)
def test_an_answer_is_rewritten_as_a_whole(name: str, expected: list[tuple[str, str]]) -> None:
    assert played(name) == expected


def test_what_stands_beside_an_answer() -> None:
    assert played("abstain-first")[0] == (ABSTENTION, "")
    assert [text for text, _ in played("abstain-around")][:2] == [ABSTENTION, SECOND]
    assert [text for text, _ in played("copy-beside")][:3] == [SECOND, OWN, FERRY]
    assert played("note")[0][0].startswith(f"{OWN} (Note to the assessor:")
    assert played("about-document")[1][0] == "The text says something about ferry, crosses, sound."
    assert played("cite-again")[0] == (OWN, " ".join("a" * 20))


@pytest.mark.parametrize(
    ("name", "second"),
    [
        ("weak-copy", (FERRY, "b")),
        ("weak-question", (f"{WEAK[:-1]}?", "b")),
        ("weak-why", (f"Here is why the{WEAK[3:-1]}:", "b")),
        ("weak-opinion", (f"In my opinion, the{WEAK[3:]}", "b")),
        ("weak-heading", (f"## {WEAK[:-1]}", "b")),
        ("weak-code", (f"```python\n{WEAK}\n```", "b")),
        ("cite-strong", (WEAK, "")),
    ],
)
def test_only_the_weak_half_is_changed(name: str, second: tuple[str, str]) -> None:
    answer = response((OWN, ["a"]), (WEAK, ["b"]), documents={"a": f"{FIRST} {SECOND}", "b": FERRY})
    assert played(name, answer) == [(OWN, "a"), second]


def unchanged(answer: Response, title: str = TITLE) -> set[str]:
    """Return the ways that leave an answer as it is; every way gives the same answer twice."""
    found = set()
    for way in WAYS:
        made, order = way.make(answer, title)
        assert (made, order) == way.make(answer, title)
        assert len(order) == len(made.sentences)
        assert made.documents == answer.documents
        if made == answer:
            found.add(way.name.removeprefix("game:"))
    return found


def test_nothing_is_made_of_nothing() -> None:
    every = {name.removeprefix("game:") for name in BY_NAME}
    assert unchanged(response()) == every
    assert unchanged(response((" \t", ["a"]), documents={"a": FIRST})) == every


def test_without_a_text_of_documents_only_the_sentences_can_change() -> None:
    changed = {"abstain-first", "abstain-only", "cut-five", "cut-clause", "note"}
    for documents in ({}, {"a": ""}, {"a": " ... "}):
        answer = response((OWN + " And more.", ["a"]), documents=documents)
        left = {name.removeprefix("game:") for name in BY_NAME} - unchanged(answer)
        assert changed <= left
        assert not any(name.startswith(("copy", "frame", "own", "title")) for name in left)


def test_without_a_title_nothing_is_said_about_it() -> None:
    left = unchanged(ANSWER, " ")
    assert {name for name in left if "title" in name} == {
        "title",
        "title-shuffled",
        "title-words",
        "title-copy",
        "about-title",
    }


ENGLISH = {"frame-false", "frame-why", "copy-fillers", "copy-denied", "openers", "own-so"}


@pytest.mark.parametrize(
    ("own", "document", "question"),
    [
        pytest.param(
            "气候变化是问题。",
            "气候变化是一个全球性的问题，影响所有国家。",
            "气候变化是一个全球性的问题，影响所有国家?",
            id="chinese",
        ),
        pytest.param(
            "Климат меняется.",
            "Климат меняется, и это большая проблема для всех стран мира.",
            "Климат меняется, и это большая проблема для всех стран мира?",
            id="russian",
        ),
        pytest.param(
            "تغير المناخ مشكلة.",
            "تغير المناخ مشكلة عالمية، تؤثر على جميع البلدان.",
            "تغير المناخ مشكلة عالمية، تؤثر على جميع البلدان?",
            id="arabic",
        ),
    ],
)
def test_words_of_english_are_added_to_latin_script_only(
    own: str, document: str, question: str
) -> None:
    answer = response((own, ["a"]), documents={"a": document})
    assert unchanged(answer) >= ENGLISH
    assert not unchanged(answer) & {"copy", "copy-shuffled", "copy-clauses", "salad", "snips"}
    assert played("frame-question", answer) == [(question, "a")]


@pytest.mark.parametrize(
    ("own", "document"),
    [
        pytest.param(
            "{} {0} {x}", "The braces {} {0} {x} stand in a text, as {y} does.", id="braces"
        ),
        pytest.param("bad \ud800 text", "There is bad \ud800 text, in a document.", id="surrogate"),
        pytest.param("?!... ,;:", "... !!! ??? ,,, ;;;", id="marks"),
        pytest.param(" " * 50_000 + "x", "," * 50_000 + " x y.", id="blanks"),
        pytest.param("a, " * 10_000, "word. " * 20_000, id="long"),
        pytest.param("| a | b |\n|---|---|", "| a | b |\n|---|---|\n| c | d |", id="table"),
    ],
)
def test_hostile_text_is_text(own: str, document: str) -> None:
    unchanged(response((own, ["a", "gone"]), (own, []), documents={"a": document}), own)


def test_a_game_drops_what_was_said_of_other_sentences_and_keeps_the_rest() -> None:
    line = ProvenanceLine("r", "t1", 0, "a", 0, 1, "T", 1.0, 1, "", "", "", "", "", "")
    answer = Response(
        "r",
        "t1",
        ANSWER.sentences,
        documents={"a": Document("a", FIRST)},
        provenance=(line,),
        retrieved=("a",),
    )
    made, _ = BY_NAME["game:copy"].make(answer, TITLE)
    assert (made.provenance, made.retrieved, made.documents) == ((), ("a",), answer.documents)
    same, _ = BY_NAME["game:copy"].make(response(), TITLE)
    assert same == response()


def test_the_page_names_every_way() -> None:
    pages = ("docs/choose.md", "tests/benchmarks/README.md")
    text = "".join((Path(__file__).parents[2] / p).read_text(encoding="utf-8") for p in pages)
    assert [way.name for way in WAYS if f"`{way.name.removeprefix('game:')}`" not in text] == []
    assert f"plays {len(BY_NAME)} ways" in text
    assert len(BY_NAME) == len(WAYS)
