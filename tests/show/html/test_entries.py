"""The entries of a report: responses, nuggets, standings."""

from __future__ import annotations

from dataclasses import replace

from tests.fakes import judgment, response
from tests.provenance import line
from trecjudge.judging.judge import make_judge, measures_of
from trecjudge.records import FULL, NONE, Claim, Evidence, Fact, Failure, Sign, Source
from trecjudge.results.statistics import Corrected, RunScore
from trecjudge.scores.leaderboard import Leaderboard
from trecjudge.show.html.entries import Entries, named_documents, standings

RESPONSE = response(("One.", ["d1", "d2"]), ("Two.", []))
JUDGED = judgment(
    FULL,
    judge="citation",
    doc_id="d1",
    exists=True,
    grade=0,
    evidence=Evidence(0, 4, "One."),
    sources=(Source("d3", 0, 4, "One.", title="T"),),
    facts=(Fact("One.", 0, 4, True),),
    claim=Claim(0, "One.", 0),
)


def test_empty_fields_are_left_out_zeros_are_not() -> None:
    entry = Entries().judgment(judgment(NONE, grade=0, judge="citation"))
    assert entry == {
        "sentence_index": 0, "label": NONE, "grade": 0, "judge": "citation",
        "tone": "bad", "word": "no_support",
    }  # fmt: skip


def test_without_document_text_offsets_stay_and_quotes_go() -> None:
    kept, bare = Entries().judgment(JUDGED), Entries(document_text=False).judgment(JUDGED)
    assert kept["evidence"] == {"start": 0, "end": 4, "quote": "One."}
    assert bare["evidence"] == {"start": 0, "end": 4, "quote": ""}
    assert (kept["sources"][0]["excerpt"], "excerpt" in bare["sources"][0]) == ("One.", False)
    assert ("title" in kept["sources"][0], "title" in bare["sources"][0]) == (True, False)
    assert bare["facts"] == [{"text": "", "start": 0, "end": 4, "found": True}]
    assert bare["claim"]["text"] == "One."  # of the response, not of a document


def test_a_sentence_has_a_tone_for_each_judge() -> None:
    other = judgment(NONE, judge="other")
    failed = [
        judgment(judge="citation", sentence_index=i, failure=Failure("cut", "")) for i in (0, 1)
    ]
    whole = judgment("fits", judge="length", sentence_index=None)
    entry = Entries().response(RESPONSE, [JUDGED, *failed, other, whole], {})
    assert entry["tones"] == {
        "citation": {0: "good", 1: "unjudged"},
        "other": {0: "bad"},
        "length": {},
    }
    assert entry["open"] == {"citation": [0], "other": [], "length": []}


def test_documents_that_are_cited_or_judged() -> None:
    assert named_documents(RESPONSE, [JUDGED, judgment(NONE, doc_id="d2")]) == ["d1", "d2", "d3"]


def test_a_response_says_where_its_documents_stand() -> None:
    entry = Entries().response(RESPONSE, [JUDGED], {"d1": 7})
    assert entry["documents"] == {"d1": 7}
    assert [sentence["citations"] for sentence in entry["sentences"]] == [["d1", "d2"], []]


def test_what_a_run_says_of_its_origin_is_there_without_quotes() -> None:
    answer = response(("A kettle whistles.", ["k"]))
    plain = Entries().response(answer, [], {})
    assert not {"signs", "provenance"} & set(plain)
    origin = line(document_digest="0123456789abcdef")
    found = Entries().response(
        replace(
            answer,
            signs={"copied": Sign((0,), 1), "trivial": Sign((), 1)},
            provenance=(origin,),
        ),
        [],
        {},
    )
    assert found["signs"] == {"copied": (0,)}
    assert found["provenance"] == [
        {
            "sentence_index": 0,
            "doc_id": "k",
            "start": 8,
            "end": 37,
            "rank": 3,
            "retriever": "bm25",
            "score": 12.5,
            "time": "2026-11-28T20:00:00Z",
            "version": "v1/01234567",
        }
    ]


def board() -> Leaderboard:
    """Return two runs on two topics: one fails on `t1` and does not answer `t2`."""
    found = Leaderboard(measures_of(make_judge("citation", {})), ["t1", "t2"])
    for topic, label in (("t1", FULL), ("t2", NONE)):
        good = judgment(label, doc_id="d", exists=True, grade=0, topic_id=topic)
        found.add(response(("S.", ["d"]), topic_id=topic), [good])
    failed = judgment(run_id="z", doc_id="d", exists=True, failure=Failure("cut", ""))
    found.add(response(("S.", ["d"]), run_id="z"), [failed])
    found.finish()
    return found


def test_scores_tell_unjudged_undefined_and_no_response_apart() -> None:
    shown = standings(board(), {}, {"r": "team"})
    names = [measure["name"] for measure in shown["measures"]]
    support = shown["scores"][names.index("CITATION_SUPPORT")]
    assert [run["id"] for run in shown["runs"]] == ["r", "z"]
    assert support == [[1.0, 0.0], ["?", ""]]
    assert (shown["runs"][0]["team"], shown["ranked_by"]) == ("team", "CITATION_SUPPORT")


def test_a_run_has_its_coverage_and_bounds() -> None:
    first, second = standings(board(), {}, {})["runs"]
    assert (first["responses"], first["expected_responses"], first["judged"]) == (2, 2, 2)
    assert (second["responses"], second["judged"], second["expected"]) == (1, 0, 1)
    assert (first["place"], second["place"]) == (1, None)
    support = second["means"][1]
    assert (support["lowest"], support["highest"], support["value"]) == (0.0, 0.5, None)


def test_intervals_and_groups_where_they_are_known() -> None:
    human = Corrected(mean=0.5)
    known = RunScore("r", "CITATION_SUPPORT", 0.5, low=0.1, high=0.9, groups="ab", human=human)
    runs = standings(board(), {("r", "CITATION_SUPPORT"): known}, {})["runs"]
    mean, unknown = runs[0]["means"][1], runs[1]["means"][1]
    assert (mean["low"], mean["high"], mean["groups"]) == (0.1, 0.9, "ab")
    assert mean["human"] == human
    assert (unknown["low"], unknown["high"], unknown["groups"]) == (None, None, "")
