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
from trecjudge.check.checker import Checker, check_files
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


def case(name: str, *broken: str, cites: Any = None, says: Any = None, **more: Any) -> Any:
    """Return a case: a good record of the track in the name, changed, and the rule it breaks."""
    track = name.partition(":")[0]
    if cites is not None:
        return pytest.param(citing(track, *cites, **more), *broken, id=name)
    made = changed(track, **more) if says is None else saying(track, *says, **more)
    return pytest.param(made, *broken, id=name)


def task_a(**lists: Any) -> list[dict[str, Any]]:
    """Return a sentence of BioGen's task A, to which document 1 was given, with these citations."""
    cited = {"supported": [2], "contradicted": [3], **lists}
    kept = {f"{name}_citations": found for name, found in cited.items() if found is not GONE}
    return [{"text": "It is.", "existing_supported_citations": [1], **kept}]


RECORDS = [
    case("rag24: no run_id", "field_missing", A, run_id=GONE),
    case("rag24: response_length is off", "response_length_differs", B, response_length=3),
    case("rag24: no response_length", "field_missing", A, response_length=GONE),
    case("rag24: no topic", "topic_text_missing", A, topic=" "),
    case("rag24: a topic of another year", "topic_id_malformed", A, topic_id="2023-1"),
    case("rag24: 401 words", "too_long", B, says=["a " * 401], response_length=401),
    case("rag24: an id cited", "citation_kind", A, cites=[[SEGMENT]]),
    case("rag24: true is no index", "citation_kind", A, cites=[[True]]),
    case("rag24: past the end", "citation_out_of_range", A, cites=[[2]]),
    case("rag24: before the beginning", "citation_out_of_range", A, cites=[[-1]]),
    case("rag24: twice in a sentence", "citation_duplicate", B, cites=[[0, 0]]),
    case("rag24: no references", "references_missing", A, references=GONE),
    case("rag24: a duplicate reference", "reference_duplicate", A, references=[SEGMENT, SEGMENT]),
    case("rag24: 21 references", "too_many_references", A, references=SEGMENTS[:21]),
    case(
        "rag24: a document for a segment",
        "reference_malformed",
        A,
        references=["msmarco_v2.1_doc_01_1", OTHER],
    ),
    case("rag25: no team", "field_missing", A, metadata__team_id=GONE),
    case("rag25: no type", "field_missing", B, metadata__type=GONE),
    case("rag25: another type", "field_value", A, metadata__type="auto"),
    case("rag25: no narrative", "topic_text_missing", B, metadata__narrative=GONE),
    case("rag25: no prompt", "field_missing", B, metadata__prompt=GONE),
    case("rag25: 401 words", "too_long", B, says=["a " * 400, "b"]),
    case("rag25: 101 references", "too_many_references", B, references=SEGMENTS),
    case("rag25: a duplicate reference", "reference_duplicate", B, references=[SEGMENT, SEGMENT]),
    case("rag25: a bad id", "reference_malformed", B, references=["d", OTHER]),
    case("rag25: past the end", "citation_out_of_range", A, cites=[[2]]),
    case("rag25: an id that is not listed", "citation_unreferenced", A, cites=[[SEGMENTS[9]]]),
    case("rag25: index and id", "citations_mixed", A, cites=[[0], [SEGMENT]]),
    case("rag25: a dict of citations", "citations_unusable", A, cites=[{SEGMENT: 0.5}]),
    case(
        "rag25: a score that is no number", "citation_score_unusable", A, cites=[{SEGMENT: "high"}]
    ),
    case("biogen25a: a number as the id", "field_value", A, metadata__qa_id=116),
    case("biogen25a: a question of another task", "topic_id_malformed", A, metadata__qa_id="156"),
    case("biogen25a: no list of either", "citations_unusable", A, answer=task_a(contradicted=GONE)),
    case("biogen25a: one that was given", "citation_given", A, answer=task_a(supported=[1])),
    case("biogen25a: 4 against", "too_many_citations", B, answer=task_a(contradicted=[2, 3, 4, 5])),
    case("rag26: an id", "citation_by_id", B, cites=[["shard_0_2"]]),
    case("rag26: 1025 words", "too_long", A, says=["a " * 1025]),
    case(
        "rag26: four citations", "too_many_citations", A, cites=[[0, 1, "shard_0_1", "shard_0_2"]]
    ),
    case("rag26: a sentence without text", "sentence_empty", A, says=["a", ""]),
    case("rag26: run_id of 21 characters", "run_id_too_long", A, metadata__run_id="r" * 21),
    case("rag26: no run_desc", "field_missing", A, metadata__run_desc=GONE),
    case("rag26: no narrative", "topic_text_missing", A, metadata__narrative=""),
    case(
        "rag26: another year's id",
        "reference_malformed",
        A,
        references=["shard_0_1", SEGMENT],
        answer=[],
    ),
    case("longeval26: an id cited", "citation_kind", A, cites=[["129069349"]]),
    case("longeval26: 401 words", "too_long", B, says=["a " * 401]),
    case("ragtime25: no task", "field_missing", B, metadata__task=GONE),
    case("ragtime25: another task", "field_value", A, metadata__task="German"),
    case("ragtime25: an integer topic", "field_value", A, metadata__topic_id=1001),
    case("ragtime25: run_id of 26 characters", "run_id_too_long", A, metadata__run_id="r" * 26),
    case(
        "ragtime25: four citations", "too_many_citations", B, cites=[PAGES], references=list(PAGES)
    ),
    case("ragtime25: no references", "references_missing", A, references=GONE),
    case("ragtime25: an incomplete list", "citation_unreferenced", B, references=[]),
    case("ragtime25: an uncited reference", "reference_uncited", A, references=[PAGE, UUID + "_1"]),
    case("ragtime25: an index", "citation_kind", A, cites=[[0]], references=[]),
    case("ragtime25: a bare UUID", "citation_malformed", A, cites=[[UUID]], references=[UUID]),
    case("ragtime26: no run_desc", "field_missing", B, metadata__run_desc=GONE),
    case("ragtime26: run_id of 21 characters", "run_id_too_long", A, metadata__run_id="r" * 21),
    case("dragun25: 251 words", "too_long", A, says=["a " * 125, "b " * 126]),
    case("dragun25: four citations", "too_many_citations", A, cites=[SEGMENTS[:4]]),
    case("dragun25: one key more", "field_extra", A, metadata__task="2"),
    case("dragun25: use_starter_kit is true", "field_value", A, metadata__use_starter_kit=True),
    case("dragun25: use_starter_kit is 2", "field_value", A, metadata__use_starter_kit=2),
    case("dragun25: no use_starter_kit", "field_missing", A, metadata__use_starter_kit=GONE),
    case("dragun25: a URL", "citation_malformed", A, cites=[["https://a.example/"]]),
    case(
        "neuclir24: three citations",
        "too_many_citations",
        A,
        cites=[[UUID, "b" + UUID[1:], "c" + UUID[1:]]],
    ),
    case("neuclir24: twice in a sentence", "citation_duplicate", A, cites=[[UUID, UUID]]),
    case("neuclir24: an id of RAGTIME", "citation_malformed", A, cites=[[PAGE]]),
    case("neuclir24: 2001 characters", "too_long", B, says=["a" * 1000, "b" * 1001]),
    case("neuclir24: no sentences", "response_empty", B, sentences=[]),
    case("biogen25: a topic of another year", "topic_id_malformed", A, metadata__topic_id=211),
    case(
        "biogen25: four citations",
        "too_many_citations",
        B,
        cites=[[22802751, 22802752, 22802753, 22802754]],
    ),
    case(
        "biogen25: 251 words",
        "too_long",
        B,
        responses=[{"text": "a " * 251, "citations": ["22802756"]}],
    ),
    case("ikat25: another type of run", "field_value", A, metadata__run_type="mixed"),
    case("ikat25: 251 words", "too_long", B, says=["a " * 251]),
    case("ikat25: a list of references", "references_unusable", A, references=[CLUEWEB]),
]


@pytest.mark.parametrize(("record", "rule", "verdict"), RECORDS)
def test_a_record_that_breaks_a_rule(
    record: dict[str, Any], rule: str, verdict: str, write: Write
) -> None:
    assert (rule, verdict) in broken(checked(write, record))


ACCEPTED = [
    case("rag24: no references and no citations", says=["a b"], references=[], response_length=2),
    case("rag24: 400 words", says=["a " * 400], response_length=400),
    case(
        "rag24: NFKC gives the ideographic space",
        says=["a\N{IDEOGRAPHIC SPACE}b"],
        response_length=2,
    ),
    case("rag25: a narrative id as text", metadata__narrative_id="1"),
    case("rag25: ids throughout", cites=[[SEGMENT], [OTHER, SEGMENT]]),
    case("rag25: documents beside the answer", documents={SEGMENT: "A.", OTHER: "B"}),
    case("rag26: one extra key", metadata__more=1),
    case("ragtime26: references that nothing cites", references=["d"]),
    case("longeval26: references as text", references=["1"]),
    case("dragun25: 250 words", says=["a " * 250]),
    case("neuclir24: 2000 characters", says=["a" * 1000, "b" * 1000]),
]


@pytest.mark.parametrize("record", ACCEPTED)
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


def test_where_the_topics_text_differs_is_told(write: Write) -> None:
    wanted = "Which metals were used for kettles, and why did the smiths of Dunmoor strike?"
    record = changed("rag26", metadata__narrative=wanted.replace("smiths", "Smiths"))
    (run,) = checked(write, record, topics=topics(rag2026_1=wanted)).runs
    (found,) = run.violations
    (message,) = found.causes
    assert message == (
        "metadata.narrative is not the topic's text: at character 53 it has"
        " 'es, and why did the Smiths of Dunmoor st', the topic 'es, and why did the smiths of"
        " Dunmoor st'"
    )


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
    assert broken(check_files([write(text)])) >= wanted
    assert check_files([write(text)]).is_refused


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
    (run,) = check_files([write("", "empty.jsonl")]).runs
    assert (run.run_id, run.records, run.verdict) == ("empty", 0, "refused")


def test_runs_are_told_apart_by_file(write: Write) -> None:
    files = [write(lines(GOOD["rag25"]), name) for name in ("a.jsonl", "b.jsonl")]
    report = check_files(files, topics(_1="What?"))
    assert [(run.path[-7:], run.run_id, run.verdict) for run in report.runs] == [
        ("a.jsonl", "r", "accepted"),
        ("b.jsonl", "r", "accepted"),
    ]


def test_every_run_of_a_file_stands_for_its_lost_lines(write: Write) -> None:
    text = "7\n" * 5 + lines(GOOD["autojudge"], changed("autojudge", metadata__run_id="s"))
    report = check_files([write(text)])
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
    check_files([path], on_violation=violations.append)
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
    report = check_files([write(text)])
    assert broken(report) == wanted
    assert report.counts.get("file_not_jsonl", 0) == len(wanted & ARRAY)
    assert report.runs[0].records >= 2


def test_tracks_and_tools_that_read_arrays(write: Write) -> None:
    for track in ("biogen25", "autojudge"):
        assert broken(check_files([write(json.dumps([GOOD[track]]))])) == set()
