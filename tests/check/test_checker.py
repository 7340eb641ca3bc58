"""Good records pass; each broken rule is told; files that are not JSONL."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.check.samples import (
    CLUEWEB,
    GONE,
    GOOD,
    OTHER,
    PAGE,
    SEGMENT,
    UUID,
    Write,
    broken,
    changed,
    checked,
    citing,
    lines,
    saying,
    topics,
)
from trecjudge.check.checker import Checker
from trecjudge.check.checking import check
from trecjudge.check.outcome import Violation
from trecjudge.findings import Finding
from trecjudge.inputs.documents.store import HeldDocuments
from trecjudge.inputs.run_records import RunRecord
from trecjudge.records import Document, Place, Response, Topic

SEGMENTS = [f"msmarco_v2.1_doc_01_{n}#0_1" for n in range(101)]
PAGES = {f"5f91a162-7a1e-4e5e-af0e-6b1bab77496{n}_1": 0.5 for n in range(4)}
A, B = "refused", "warned"


@pytest.mark.parametrize("track", GOOD)
def test_a_good_record_is_accepted(track: str, write: Write) -> None:
    report = checked(write, GOOD[track])
    assert broken(report) == set()
    assert [(run.track, run.verdict) for run in report.runs] == [(track, "accepted")]
    assert not report.is_refused


RECORDS: dict[str, tuple[dict[str, Any], str, str]] = {
    "RAG 2024: no run_id": (changed("rag24", run_id=GONE), "field_missing", A),
    "RAG 2024: response_length is off": (
        changed("rag24", response_length=3),
        "response_length_differs",
        B,
    ),
    "RAG 2024: no response_length": (changed("rag24", response_length=GONE), "field_missing", A),
    "RAG 2024: no topic": (changed("rag24", topic=" "), "topic_text_missing", A),
    "RAG 2024: a topic of another year": (
        changed("rag24", topic_id="2023-1"),
        "topic_id_malformed",
        A,
    ),
    "RAG 2024: 401 words": (
        saying("rag24", "a " * 401, response_length=401),
        "too_long",
        B,
    ),
    "RAG 2024: an id cited": (citing("rag24", [SEGMENT]), "citation_kind", A),
    "RAG 2024: true is no index": (citing("rag24", [True]), "citation_kind", A),
    "RAG 2024: past the end": (citing("rag24", [2]), "citation_out_of_range", A),
    "RAG 2024: before the beginning": (citing("rag24", [-1]), "citation_out_of_range", A),
    "RAG 2024: twice in a sentence": (citing("rag24", [0, 0]), "citation_duplicate", B),
    "RAG 2024: no references": (changed("rag24", references=GONE), "references_missing", A),
    "RAG 2024: a duplicate reference": (
        changed("rag24", references=[SEGMENT, SEGMENT]),
        "reference_duplicate",
        A,
    ),
    "RAG 2024: 21 references": (
        changed("rag24", references=SEGMENTS[:21]),
        "too_many_references",
        A,
    ),
    "RAG 2024: a document for a segment": (
        changed("rag24", references=["msmarco_v2.1_doc_01_1", OTHER]),
        "reference_malformed",
        A,
    ),
    "RAG 2025: no team": (changed("rag25", metadata__team_id=GONE), "field_missing", A),
    "RAG 2025: no type": (changed("rag25", metadata__type=GONE), "field_missing", B),
    "RAG 2025: another type": (changed("rag25", metadata__type="auto"), "field_value", A),
    "RAG 2025: no narrative": (changed("rag25", metadata__narrative=GONE), "topic_text_missing", B),
    "RAG 2025: no prompt": (changed("rag25", metadata__prompt=GONE), "field_missing", B),
    "RAG 2025: 401 words": (saying("rag25", "a " * 400, "b"), "too_long", B),
    "RAG 2025: 101 references": (
        changed("rag25", references=SEGMENTS),
        "too_many_references",
        B,
    ),
    "RAG 2025: a duplicate reference": (
        changed("rag25", references=[SEGMENT, SEGMENT]),
        "reference_duplicate",
        B,
    ),
    "RAG 2025: a bad id": (
        changed("rag25", references=["d", OTHER]),
        "reference_malformed",
        B,
    ),
    "RAG 2025: past the end": (citing("rag25", [2]), "citation_out_of_range", A),
    "RAG 2025: an id that is not listed": (
        citing("rag25", [SEGMENTS[9]]),
        "citation_unreferenced",
        A,
    ),
    "RAG 2025: index and id": (citing("rag25", [0], [SEGMENT]), "citations_mixed", A),
    "RAG 2025: a dict of citations": (
        citing("rag25", {SEGMENT: 0.5}),
        "citations_unusable",
        A,
    ),
    "RAG 2025: a score that is no number": (
        citing("rag25", {SEGMENT: "high"}),
        "citation_score_unusable",
        A,
    ),
    "RAG 2026: an id": (citing("rag26", ["shard_0_2"]), "citation_by_id", B),
    "RAG 2026: 1025 words": (saying("rag26", "a " * 1025), "too_long", A),
    "RAG 2026: four citations": (
        citing("rag26", [0, 1, "shard_0_1", "shard_0_2"]),
        "too_many_citations",
        A,
    ),
    "RAG 2026: a sentence without text": (saying("rag26", "a", ""), "sentence_empty", A),
    "RAG 2026: run_id of 21 characters": (
        changed("rag26", metadata__run_id="r" * 21),
        "run_id_too_long",
        A,
    ),
    "RAG 2026: no run_desc": (changed("rag26", metadata__run_desc=GONE), "field_missing", A),
    "RAG 2026: no narrative": (changed("rag26", metadata__narrative=""), "topic_text_missing", A),
    "RAG 2026: another year's id": (
        changed("rag26", references=["shard_0_1", SEGMENT], answer=[]),
        "reference_malformed",
        A,
    ),
    "LongEval: an id cited": (citing("longeval26", ["129069349"]), "citation_kind", A),
    "LongEval: 401 words": (saying("longeval26", "a " * 401), "too_long", B),
    "RAGTIME 2025: no task": (changed("ragtime25", metadata__task=GONE), "field_missing", B),
    "RAGTIME 2025: another task": (
        changed("ragtime25", metadata__task="German"),
        "field_value",
        A,
    ),
    "RAGTIME 2025: an integer topic": (
        changed("ragtime25", metadata__topic_id=1001),
        "field_value",
        A,
    ),
    "RAGTIME 2025: run_id of 26 characters": (
        changed("ragtime25", metadata__run_id="r" * 26),
        "run_id_too_long",
        A,
    ),
    "RAGTIME 2025: four citations": (
        citing("ragtime25", PAGES, references=list(PAGES)),
        "too_many_citations",
        B,
    ),
    "RAGTIME 2025: no references": (
        changed("ragtime25", references=GONE),
        "references_missing",
        A,
    ),
    "RAGTIME 2025: an incomplete list": (
        changed("ragtime25", references=[]),
        "citation_unreferenced",
        B,
    ),
    "RAGTIME 2025: an uncited reference": (
        changed("ragtime25", references=[PAGE, UUID + "_1"]),
        "reference_uncited",
        A,
    ),
    "RAGTIME 2025: an index": (citing("ragtime25", [0], references=[]), "citation_kind", A),
    "RAGTIME 2025: a bare UUID": (
        citing("ragtime25", [UUID], references=[UUID]),
        "citation_malformed",
        A,
    ),
    "RAGTIME 2026: no run_desc": (
        changed("ragtime26", metadata__run_desc=GONE),
        "field_missing",
        B,
    ),
    "RAGTIME 2026: run_id of 21 characters": (
        changed("ragtime26", metadata__run_id="r" * 21),
        "run_id_too_long",
        A,
    ),
    "DRAGUN: 251 words": (saying("dragun25", "a " * 125, "b " * 126), "too_long", A),
    "DRAGUN: four citations": (
        citing("dragun25", SEGMENTS[:4]),
        "too_many_citations",
        A,
    ),
    "DRAGUN: one key more": (changed("dragun25", metadata__task="2"), "field_extra", A),
    "DRAGUN: use_starter_kit is true": (
        changed("dragun25", metadata__use_starter_kit=True),
        "field_value",
        A,
    ),
    "DRAGUN: use_starter_kit is 2": (
        changed("dragun25", metadata__use_starter_kit=2),
        "field_value",
        A,
    ),
    "DRAGUN: no use_starter_kit": (
        changed("dragun25", metadata__use_starter_kit=GONE),
        "field_missing",
        A,
    ),
    "DRAGUN: a URL": (citing("dragun25", ["https://a.example/"]), "citation_malformed", A),
    "NeuCLIR: three citations": (
        citing("neuclir24", [UUID, "b" + UUID[1:], "c" + UUID[1:]]),
        "too_many_citations",
        A,
    ),
    "NeuCLIR: twice in a sentence": (
        citing("neuclir24", [UUID, UUID]),
        "citation_duplicate",
        A,
    ),
    "NeuCLIR: an id of RAGTIME": (citing("neuclir24", [PAGE]), "citation_malformed", A),
    "NeuCLIR: 2001 characters": (
        saying("neuclir24", "a" * 1000, "b" * 1001),
        "too_long",
        B,
    ),
    "NeuCLIR: no sentences": (changed("neuclir24", sentences=[]), "response_empty", B),
    "BioGen: a topic of another year": (
        changed("biogen25", metadata__topic_id=211),
        "topic_id_malformed",
        A,
    ),
    "BioGen: four citations": (
        citing("biogen25", [22802751, 22802752, 22802753, 22802754]),
        "too_many_citations",
        B,
    ),
    "BioGen: 251 words": (
        changed("biogen25", responses=[{"text": "a " * 251, "citations": ["22802756"]}]),
        "too_long",
        B,
    ),
    "iKAT: another type of run": (
        changed("ikat25", metadata__run_type="mixed"),
        "field_value",
        A,
    ),
    "iKAT: 251 words": (saying("ikat25", "a " * 251), "too_long", B),
    "iKAT: a list of references": (
        changed("ikat25", references=[CLUEWEB]),
        "references_unusable",
        A,
    ),
}


@pytest.mark.parametrize(("record", "rule", "verdict"), RECORDS.values(), ids=RECORDS)
def test_a_record_that_breaks_a_rule(
    record: dict[str, Any], rule: str, verdict: str, write: Write
) -> None:
    assert (rule, verdict) in broken(checked(write, record))


ACCEPTED: dict[str, dict[str, Any]] = {
    "RAG 2024: no references and no citations": saying(
        "rag24", "a b", references=[], response_length=2
    ),
    "RAG 2024: 400 words": saying("rag24", "a " * 400, response_length=400),
    "RAG 2024: NFKC gives the ideographic space": saying(
        "rag24", "a\N{IDEOGRAPHIC SPACE}b", response_length=2
    ),
    "RAG 2025: a narrative id as text": changed("rag25", metadata__narrative_id="1"),
    "RAG 2025: ids throughout": citing("rag25", [SEGMENT], [OTHER, SEGMENT]),
    "RAG 2025: documents beside the answer": changed(
        "rag25", documents={SEGMENT: "A.", OTHER: "B"}
    ),
    "RAG 2026: one extra key": changed("rag26", metadata__more=1),
    "RAGTIME 2026: references that nothing cites": changed("ragtime26", references=["d"]),
    "LongEval: references as text": changed("longeval26", references=["1"]),
    "DRAGUN: 250 words": saying("dragun25", "a " * 250),
    "NeuCLIR: 2000 characters": saying("neuclir24", "a" * 1000, "b" * 1000),
}


@pytest.mark.parametrize("record", ACCEPTED.values(), ids=ACCEPTED)
def test_a_record_at_the_edge_is_accepted(record: dict[str, Any], write: Write) -> None:
    assert broken(checked(write, record)) == set()


@pytest.mark.parametrize(
    ("texts", "limit", "wanted"),
    [
        (("a" * 9, "b" * 10), 20, set()),
        (("a" * 10, "b" * 10), 20, {("too_long", B)}),
        (("ﬁ" * 10,), 19, {("too_long", B)}),
        (("a" * 99,), None, set()),
    ],
    ids=["at the limit", "the joining space counts", "NFKC: a ligature is two", "no limit known"],
)
def test_ragtime_counts_characters_up_to_the_topics_limit(
    texts: tuple[str, ...], limit: int | None, wanted: set[tuple[str, str]], write: Write
) -> None:
    record = saying("ragtime26", *texts)
    known = {"2000": Topic("2000", limit=limit)}
    assert broken(checked(write, record, topics=known)) == wanted


@pytest.mark.parametrize(
    ("track", "text", "wanted"),
    [
        ("rag24", "What?", set()),
        ("rag24", "what?", {("topic_text_differs", A)}),
        ("rag25", "what?", {("topic_text_differs", B)}),
        ("rag26", "what?", {("topic_text_differs", A)}),
    ],
)
def test_the_topics_text_is_copied_exactly(
    track: str, text: str, wanted: set[tuple[str, str]], write: Write
) -> None:
    key = "topic" if track == "rag24" else "metadata__narrative"
    known = topics(_2024_1="What?", _1="What?", rag2026_1="What?")
    found = broken(checked(write, changed(track, **{key: text}), topics=known))
    assert found - {("response_missing", B)} == wanted


@pytest.mark.parametrize(
    ("track", "duplicate", "missing"),
    [
        ("rag24", A, B),
        ("rag25", A, B),
        ("rag26", A, B),
        ("longeval26", B, B),
        ("ragtime25", B, A),
        ("dragun25", A, A),
        ("neuclir24", A, B),
        ("biogen25", B, B),
        ("ikat25", B, B),
    ],
)
def test_topics_twice_and_topics_missing(
    track: str, duplicate: str, missing: str, write: Write
) -> None:
    assert broken(checked(write, GOOD[track], GOOD[track])) == {("response_duplicate", duplicate)}
    found = broken(checked(write, GOOD[track], topics=topics(_0="Another?")))
    assert found >= {("response_missing", missing)}
    assert "topic_unknown" in {rule for rule, _ in found}


FILES: dict[str, tuple[str, set[tuple[str, str]]]] = {
    "two runs in a file": (
        lines(GOOD["neuclir24"], changed("neuclir24", run_id="s")),
        {("file_of_several_runs", A)},
    ),
    "two types in a file": (
        lines(
            GOOD["dragun25"],
            changed(
                "dragun25", metadata__topic_id="msmarco_v2.1_doc_04_5", metadata__type="automatic"
            ),
        ),
        {("field_varies", A)},
    ),
    "the kind of citation changes on a later line": (
        lines(GOOD["rag25"], citing("rag25", [], [SEGMENT], metadata__narrative_id=2)),
        {("citations_mixed", A)},
    ),
    "a line that is cut": (lines(GOOD["rag25"]) + '{"metadata":\n', {("line_not_json", A)}),
    "a line that is no object": (lines(GOOD["rag25"]) + "7\n", {("record_not_an_object", A)}),
    "a record of another track": (
        lines(GOOD["rag25"], GOOD["neuclir24"]),
        {("format_of_other_track", A)},
    ),
    "nothing but a cut line": ('{"metadata":\n', {("line_not_json", A)}),
    "no topic": (
        lines(changed("rag25", metadata__narrative_id=GONE)),
        {("field_missing", A), ("topic_id_missing", A)},
    ),
    "an answer that is one text": (
        lines(changed("rag25", answer="It is.")),
        {("response_not_a_list", A)},
    ),
    "a sentence without text": (
        lines(changed("rag25", answer=[{"citations": [0]}])),
        {("sentence_unusable", A), ("response_empty", B)},
    ),
}


@pytest.mark.parametrize(("text", "wanted"), FILES.values(), ids=FILES)
def test_a_file_that_breaks_a_rule(text: str, wanted: set[tuple[str, str]], write: Write) -> None:
    assert broken(check([write(text)])) >= wanted
    assert check([write(text)]).is_refused


FLAT = {
    **{key: value for key, value in GOOD["rag25"].items() if key != "metadata"},
    "team_id": "t",
    "run_id": "r",
    "narrative_id": "14",
    "type": "automatic",
}


@pytest.mark.parametrize(
    ("flat", "wanted"),
    [
        pytest.param(FLAT, set(), id="its fields beside"),
        pytest.param({**FLAT, "metadata": None}, set(), id="null metadata"),
        pytest.param({**FLAT, "type": "other"}, {("field_value", A)}, id="a wrong one beside"),
        pytest.param({**FLAT, "narrative_id": "rag2026-14"}, None, id="of RAG 2026"),
    ],
)
def test_a_record_without_metadata_is_refused_for_it_once(
    flat: dict[str, Any], wanted: set[tuple[str, str]] | None, write: Write
) -> None:
    report = checked(write, flat, {**flat, "narrative_id": f"{flat['narrative_id']}5"})
    (run,) = report.runs
    if wanted is None:
        assert run.track == "rag26"
    else:
        assert (run.track, broken(report)) == ("rag25", {("field_missing", A), *wanted})
    assert [tally.count for tally in run.violations if tally.rule == "field_missing"] == [2]


def test_citations_by_another_name_are_refused(write: Write) -> None:
    named = {**GOOD["rag25"], "answer": [{"text": "It is.", "citation": [0, 1]}]}
    assert ("citations_misnamed", A) in broken(checked(write, named))


def test_an_empty_file_is_refused(write: Write) -> None:
    (run,) = check([write("", "empty.jsonl")]).runs
    assert (run.run_id, run.records, run.verdict) == ("empty", 0, "refused")


def test_runs_are_told_apart_by_file(write: Write) -> None:
    files = [write(lines(GOOD["rag25"]), name) for name in ("a.jsonl", "b.jsonl")]
    report = check(files, topics(_1="What?"))
    assert [(run.path[-7:], run.run_id, run.verdict) for run in report.runs] == [
        ("a.jsonl", "r", "accepted"),
        ("b.jsonl", "r", "accepted"),
    ]


def test_every_run_of_a_file_stands_for_its_lost_lines(write: Write) -> None:
    text = "7\n" * 5 + lines(GOOD["autojudge"], changed("autojudge", metadata__run_id="s"))
    report = check([write(text)])
    lost = [tally for run in report.runs for tally in run.violations]
    assert [(t.rule, t.count, len(t.places)) for t in lost] == [("record_not_an_object", 5, 5)] * 2


def test_a_track_that_is_named_is_the_one(write: Write) -> None:
    (run,) = checked(write, GOOD["ragtime25"], track="ragtime26").runs
    assert (run.track, broken(checked(write, GOOD["ragtime25"], track="ragtime26"))) == (
        "ragtime26",
        {("field_missing", B)},
    )
    (run,) = checked(write, GOOD["rag24"], track="rag25").runs
    assert run.verdict == "refused"


def test_documents_that_are_not_there_are_warned_of(write: Write) -> None:
    store = HeldDocuments({SEGMENT: Document(SEGMENT, "A."), OTHER: Document(OTHER, "")})
    assert broken(checked(write, GOOD["rag25"], store=store)) == {("document_empty", B)}
    assert broken(checked(write, GOOD["rag26"], store=store)) == {("document_missing", B)}


def test_every_violation_is_reported_with_its_place(write: Write) -> None:
    violations: list[Violation] = []
    path = write(lines(citing("rag24", [0], [7])))
    check([path], on_violation=violations.append)
    (found,) = [v for v in violations if v.rule == "citation_out_of_range"]
    assert (found.run_id, found.verdict, found.finding.topic_id) == ("r", A, "2024-1")
    assert str(found.finding) == f"{path}:1: sentence 2 cites 7, references has 2"


def test_a_checker_is_fed_record_by_record() -> None:
    checker = Checker(topics(_1="What?", _2="Why?"))
    for number, topic_id in enumerate(["1", "3", "1"], 1):
        place = Place("run.jsonl", number)
        response = Response("r", topic_id, ())
        checker.add_finding(Finding("topic_id_conflict", Place("run.jsonl", 2), "names two topics"))
        written = changed("rag25", metadata__narrative_id=topic_id)
        found = RunRecord(place, written, "rag25", response, "", False, 0, 0)
        checker.observe(found, response)
    (run,) = checker.finish().runs
    assert (run.records, run.topics_answered, run.topics_expected) == (3, 1, 2)
    assert {(t.rule, t.count) for t in run.violations} == {
        ("topic_unknown", 1),
        ("response_duplicate", 1),
        ("response_missing", 1),
        ("topic_id_conflict", 1),
    }


@pytest.mark.parametrize(("all_places", "kept"), [(True, 200), (False, 3)])
def test_every_place_is_kept_where_all_are_wanted(
    all_places: bool, kept: int, write: Write
) -> None:
    records = [citing("rag24", [7])] * 200
    (run,) = checked(write, *records, all_places=all_places).runs
    (tally,) = [t for t in run.violations if t.rule == "citation_out_of_range"]
    lines = [finding.place.line for finding in tally.places]
    assert (tally.count, lines) == (200, list(range(1, kept + 1)))


BESIDE: dict[str, tuple[dict[str, Any], set[str]]] = {
    "two fields": (
        changed("rag25", metadata__prompt=GONE, metadata__type="auto"),
        {"field_missing", "field_value"},
    ),
    "no topic, and citations by another name": (
        changed(
            "rag25", metadata__narrative_id=GONE, answer=[{"text": "It is.", "citation": [0, 1]}]
        ),
        {"topic_id_missing", "citations_misnamed"},
    ),
    "no topic, and no list of sentences": (
        changed("rag25", metadata__narrative_id=GONE, answer="It is."),
        {"topic_id_missing", "response_not_a_list"},
    ),
    "no list of sentences, and too long": (
        changed("rag25", answer="a " * 401),
        {"response_not_a_list", "too_long"},
    ),
    "no metadata, and a citation out of range": (
        {"narrative_id": "1", "run_id": "r", **citing("rag25", [9], metadata=None)},
        {"field_missing", "citation_out_of_range"},
    ),
    "no text, and two citations out of range": (
        changed("rag26", answer=[{"text": "", "citations": [8, 9]}]),
        {"sentence_empty", "citation_out_of_range"},
    ),
}


@pytest.mark.parametrize(("record", "wanted"), BESIDE.values(), ids=BESIDE)
def test_one_problem_of_a_record_hides_no_other(
    record: dict[str, Any], wanted: set[str], write: Write
) -> None:
    assert {rule for rule, _ in broken(checked(write, record))} >= wanted


def test_a_record_of_another_track_still_answers_its_topic(write: Write) -> None:
    other = changed("neuclir24", request_id="1")
    report = checked(write, GOOD["rag25"], other, topics=topics(_1="What?"))
    assert {rule for rule, _ in broken(report)} == {"format_of_other_track", "response_duplicate"}


FIRST = GOOD["rag25"]
SECOND = json.loads(json.dumps(FIRST).replace('"narrative_id": 1', '"narrative_id": 2'))
ARRAY = {("file_not_jsonl", "refused")}
TWICE = ("response_duplicate", "refused")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (lines(FIRST, SECOND), set()),
        ("\n" + lines(FIRST, SECOND).replace("\n", "\r\n\r\n"), set()),
        (lines(FIRST, SECOND).rstrip("\n"), set()),
        ("\ufeff" + lines(FIRST, SECOND), ARRAY),
        (json.dumps([FIRST, SECOND]), ARRAY),
        (json.dumps([FIRST, SECOND], indent=2), ARRAY),
        (
            lines(FIRST) + json.dumps([SECOND, {**SECOND, "x": 1}]),
            {*ARRAY, TWICE},
        ),
        (json.dumps(FIRST, indent=2) + "\n" + json.dumps(SECOND, indent=2), ARRAY),
        (lines(FIRST, SECOND).replace("\n", " "), ARRAY),
    ],
    ids=[
        "lines",
        "blank lines and CR LF",
        "no line end at the end",
        "a byte order mark",
        "an array in a line",
        "an array over lines",
        "an array after a record",
        "records over lines",
        "records in one line",
    ],
)
def test_a_file_that_is_not_jsonl_is_refused_once(
    text: str, wanted: set[tuple[str, str]], write: Write
) -> None:
    report = check([write(text)])
    assert broken(report) == wanted
    assert report.counts.get("file_not_jsonl", 0) == len(wanted & ARRAY)
    assert report.runs[0].records >= 2


def test_tracks_and_tools_that_read_arrays(write: Write) -> None:
    for track in ("biogen25", "autojudge"):
        assert broken(check([write(json.dumps([GOOD[track]]))])) == set()
