"""Records mended, whatever is wrong with them."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.check.samples import (
    CLUEWEB,
    GONE,
    GOOD,
    OTHER,
    PAGE,
    SEGMENT,
    SENTENCES,
    UUID,
    Write,
    as_json,
    broken,
    changed,
    citing,
    lines,
    saying,
    topics,
)
from tests.commandline import command, judge
from tests.reading import reading
from trecjudge.check.checker import check_files
from trecjudge.check.repair import RecordChange, copies, fix
from trecjudge.check.rules import all_tracks
from trecjudge.check.ruling import Meanings
from trecjudge.errors import InputError, OutputError
from trecjudge.inputs.documents.store import HeldDocuments
from trecjudge.inputs.formats.registry import format_of
from trecjudge.records import Document, Topic

SEGMENTS = [f"msmarco_v2.1_doc_01_{n}#0_1" for n in range(103)]
PAGES = [f"5f91a162-7a1e-4e5e-af0e-6b1bab77496{n}_1" for n in range(5)]


def mended(
    write: Write, *records: dict[str, Any], **options: Any
) -> tuple[list[dict[str, Any]], list[RecordChange]]:
    """Return the records of the mended copy, and the changes; mending it again changes nothing."""
    path = write(lines(*records))
    changes = list(fix([path], path.parent / "fixed", **options))
    copy = path.parent / "fixed" / path.name
    assert not fix([copy], path.parent / "again", **options)
    assert (path.parent / "again" / path.name).read_bytes() == copy.read_bytes()
    return [json.loads(line) for line in copy.read_text(encoding="utf-8").splitlines()], changes


def test_ids_become_indices_where_every_guideline_takes_these(write: Write) -> None:
    (fixed,), changes = mended(write, citing("rag26", ["shard_0_2"]))
    assert fixed["answer"][0]["citations"] == [1]
    assert [change.what for change in changes] == ["citations of sentence 1 as integers"]


def test_white_space_around_references_goes(write: Write) -> None:
    (fixed,), changes = mended(write, citing("rag26", [0], references=["shard_0_1 ", "shard_0_2"]))
    assert fixed["references"][0] == "shard_0_1"
    assert changes[0].what == "references without white space"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_another_layout_is_a_change(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(lines(GOOD["rag26"]).encode(encoding))
    (change,) = fix([path], tmp_path / "fixed")
    assert (change.what, change.after) == ("layout", "JSONL")
    assert (tmp_path / "fixed" / "a.run").read_bytes() == lines(GOOD["rag26"]).encode()


@pytest.mark.parametrize("track", GOOD)
def test_a_good_record_stays_as_it_is(track: str, write: Write) -> None:
    assert mended(write, GOOD[track]) == ([GOOD[track]], [])


REFERENCES: dict[str, tuple[dict[str, Any], list[Any], list[Any]]] = {
    "duplicates go, and indices move with them": (
        citing("rag25", [0, 1], [2], [3], references=["a", "b", "a", "c"]),
        ["a", "b", "c"],
        [[0, 1], [0], [2]],
    ),
    "two indices become one": (
        citing("rag25", [0, 1, 2], references=["a", "a", "b"]),
        ["a", "b"],
        [[0, 1]],
    ),
    "out of range is reported before duplicates go": (
        citing("rag25", [2], [-1, 1], references=["a", "a"]),
        ["a"],
        [[], [0]],
    ),
    "three more than the maximum: uncited ones go from the end": (
        citing("rag25", [101], [102], references=SEGMENTS),
        [*SEGMENTS[:98], SEGMENTS[101], SEGMENTS[102]],
        [[98], [99]],
    ),
    "all are cited: none is lost": (
        citing("rag24", list(range(21)), references=SEGMENTS[:21]),
        SEGMENTS[:21],
        [list(range(21))],
    ),
    "by id": (
        citing("rag25", [SEGMENTS[102]], references=SEGMENTS),
        [*SEGMENTS[:99], SEGMENTS[102]],
        [[SEGMENTS[102]]],
    ),
    "an id that is not listed is added": (
        citing("rag25", [SEGMENTS[7]], references=[SEGMENT]),
        [SEGMENT, SEGMENTS[7]],
        [[SEGMENTS[7]]],
    ),
    "what is no id is not added": (
        citing("rag25", ["see above"], references=[SEGMENT]),
        [SEGMENT],
        [["see above"]],
    ),
    "an index as text": (
        citing("rag24", ["1", 0], references=[SEGMENT, OTHER]),
        [SEGMENT, OTHER],
        [[1, 0]],
    ),
    "integers for ids": (
        citing("longeval26", [1], [2], references=[7, 7, 8]),
        [7, 8],
        [[0], [1]],
    ),
    "RAGTIME 2025 lists what is cited": (
        citing("ragtime25", {PAGES[0]: 0.5}, {PAGES[1]: 0.5}, references=[PAGES[2], PAGES[1]]),
        [PAGES[1], PAGES[0]],
        [{PAGES[0]: 0.5}, {PAGES[1]: 0.5}],
    ),
    "RAGTIME 2026 may list anything": (
        citing("ragtime26", [PAGE], references=["d", "d"]),
        ["d", "d"],
        [[PAGE]],
    ),
}


@pytest.mark.parametrize(("record", "references", "citations"), REFERENCES.values(), ids=REFERENCES)
def test_references_and_what_points_at_them(
    record: dict[str, Any], references: list[Any], citations: list[Any], write: Write
) -> None:
    (fixed,), changes = mended(write, record)
    sentences = fixed.get("answer") or fixed["responses"]
    assert fixed["references"] == references
    assert [sentence["citations"] for sentence in sentences] == citations
    assert bool(changes) == (fixed != record)


def test_iKAT_references_keep_their_scores(write: Write) -> None:
    many = {f"clueweb22-en0000-00-{n:05}:0": 0.5 for n in range(1001)} | {CLUEWEB: 0.1}
    (fixed,), changes = mended(write, changed("ikat25", references=many))
    assert (len(fixed["references"]), fixed["references"][CLUEWEB]) == (1000, 0.1)
    assert [change.what for change in changes] == ["uncited reference"] * 2


@pytest.mark.parametrize(
    ("record", "wanted"),
    [
        (citing("rag24", [1, 0, 1]), [1, 0]),
        (citing("rag24", [0, 9, -1, 1]), [0, 1]),
        (citing("rag24", [True, None, 0]), [True, None, 0]),
        (
            citing("rag26", [2, 1, 3, 0], references=[f"shard_0_{n}" for n in range(4)]),
            [2, 1, 3],
        ),
        (citing("dragun25", SEGMENTS[:5]), SEGMENTS[:3]),
        (citing("neuclir24", [UUID, UUID, "b" + UUID[1:], "c" + UUID[1:]]), [UUID, "b" + UUID[1:]]),
        (
            citing("ragtime26", dict(zip(PAGES, [0.1, 0.9, 0.5, 0.9, None], strict=True))),
            {PAGES[1]: 0.9, PAGES[2]: 0.5, PAGES[3]: 0.9},
        ),
        (citing("rag25", [0, 1] + ["x"] * 9), [0, 1, "x"]),
    ],
    ids=[
        "twice: the first stays",
        "out of range",
        "what is no index stays",
        "over the maximum: the first",
        "DRAGUN: the first three",
        "NeuCLIR: two, each once",
        "a dict: the strongest, as ordered",
        "no maximum",
    ],
)
def test_citations_of_a_sentence(record: dict[str, Any], wanted: Any, write: Write) -> None:
    (fixed,), changes = mended(write, record)
    (sentence,) = next(fixed[key] for key in ("answer", "responses", "sentences") if key in fixed)
    assert sentence["citations"] == wanted
    assert len(changes) == (fixed != record)


def test_a_response_that_cites_by_index_and_by_id_cites_by_index(write: Write) -> None:
    (fixed,), _ = mended(write, citing("rag26", [1], ["shard_0_1", "shard_0_2", "shard_0_9"]))
    assert [sentence["citations"] for sentence in fixed["answer"]] == [[1], [0, 1, 2]]
    assert fixed["references"] == ["shard_0_1", "shard_0_2", "shard_0_9"]


@pytest.mark.parametrize(
    ("record", "kept"),
    [
        (saying("rag24", "a " * 399, "b", "c d", response_length=402), 2),
        (saying("rag25", "a " * 401, "b"), 0),
        (saying("rag25", "a " * 400, "", "b"), 2),
        (saying("ikat25", "a " * 250, "b"), 1),
        (saying("neuclir24", "a" * 1000, "b" * 1000, "c"), 2),
        (saying("ragtime25", "a" * 10, "b" * 9, "c", metadata__topic_id="1", references=[]), 2),
        (saying("ragtime25", "a" * 10, "b" * 9, "c" * 99, references=[]), 3),
    ],
    ids=[
        "400 words of RAG 2024",
        "only the first is too long",
        "an empty sentence costs nothing",
        "250 words of iKAT",
        "2000 characters of NeuCLIR",
        "the topic's limit of RAGTIME",
        "no limit known",
    ],
)
def test_sentences_go_from_the_end(record: dict[str, Any], kept: int, write: Write) -> None:
    (fixed,), changes = mended(write, record, topics={"1": Topic("1", limit=20)})
    before, after = (
        next(r[key] for key in ("answer", "responses", "sentences") if key in r)
        for r in (record, fixed)
    )
    assert after == before[:kept]
    popped = [change for change in changes if change.what.startswith("last sentence")]
    assert len(popped) == len(before) - kept


def test_the_length_is_written_as_counted(write: Write) -> None:
    record = saying("rag24", "a " * 399, "b", "c d", response_length=402)
    (fixed,), changes = mended(write, record)
    assert fixed["response_length"] == 400
    assert str(changes[-1]).endswith("run.jsonl:1: response_length: 402 -> 400")


@pytest.mark.parametrize(
    ("record", "path", "wanted"),
    [
        (changed("rag25", metadata__narrative=GONE), ("metadata", "narrative"), "Official?"),
        (changed("rag25", metadata__narrative=" "), ("metadata", "narrative"), "Official?"),
        (changed("rag25"), ("metadata", "narrative"), "What?"),
        (changed("rag24", topic=None), ("topic",), "Official?"),
    ],
    ids=["absent", "blank", "text that differs stays", "null"],
)
def test_the_topics_text_is_filled_in(
    record: dict[str, Any], path: tuple[str, ...], wanted: str, write: Write
) -> None:
    known = topics(_1="Official?", _2024_1="Official?")
    (found,), _ = mended(write, record, topics=known)
    for key in path:
        found = found[key]
    assert str(found) == wanted


def test_second_records_and_what_is_no_record_are_left_out(write: Write) -> None:
    path = write(
        lines(GOOD["rag25"]) + "7\n{cut\n" + lines(changed("rag25", references=[]), {"a": 1})
    )
    changes = fix([path], path.parent / "fixed")
    assert (path.parent / "fixed/run.jsonl").read_text() == lines(GOOD["rag25"])
    assert [(change.place.line, change.before.split()[0]) for change in changes] == [
        (2, "record_not_an_object"),
        (3, "line_not_json"),
        (4, "second"),
        (5, "record_unknown_shape"),
    ]


def test_keys_and_text_stay_in_their_order(write: Write) -> None:
    text = '{"answer": [], "run_id": "r", "topic_id": "2024-1", "topic": "\N{EURO SIGN}\u2028"'
    path = write(text + ', "references": [], "response_length": 1, "z": [1e-7, null]}\n')
    fix([path], path.parent / "fixed")
    fixed = (path.parent / "fixed/run.jsonl").read_bytes().decode()
    wanted = path.read_bytes().decode().replace('length": 1', 'length": 0')
    assert fixed == wanted.replace("1e-7", "1e-07")


WORST: dict[str, dict[str, Any]] = {
    "rag24": citing(
        "rag24",
        ["0", 0, 9],
        [2, 2, 22],
        references=[SEGMENT, SEGMENT, *SEGMENTS[:24]],
        topic="",
        response_length=9,
    ),
    "rag25": citing(
        "rag25",
        [0, 0, -1],
        [101],
        references=[SEGMENT, SEGMENT, *SEGMENTS[:101]],
        metadata__narrative="",
    ),
    "rag26": citing("rag26", [0, 0, 1, "shard_9_9", "shard_0_2"]),
    "ragtime25": citing("ragtime25", PAGES, references=[*PAGES[3:], PAGE]),
    "ragtime26": saying("ragtime26", "a" * 99, "b" * 99),
    "dragun25": citing("dragun25", [SEGMENT, SEGMENT, *SEGMENTS[:5]]),
    "neuclir24": citing("neuclir24", [UUID, UUID, "b" + UUID[1:], "c" + UUID[1:]]),
}


@pytest.mark.parametrize("track", WORST)
def test_a_mended_file_breaks_no_rule_that_mending_mends(track: str, write: Write) -> None:
    known = topics(_2024_1="What?", _1="What?") | {"2000": Topic("2000", limit=100)}
    path = write(lines(WORST[track], WORST[track]) + "7\n")
    fix([path], path.parent / "fixed", known)
    before, after = (
        broken(check_files([file], known)) for file in (path, path.parent / "fixed" / path.name)
    )
    assert len(before) > 2
    assert {rule for rule, _ in after} <= {"response_missing", "topic_unknown"}


def test_names_of_copies(tmp_path: Path) -> None:
    names = [
        "a.jsonl.gz",
        "b/a.jsonl",
        "c/A.JSONL",
        "garag_rubric",
        "x.json.xz",
        "-é t.jsonl",
    ]
    found = copies([tmp_path / name for name in names], tmp_path / "out")
    assert [path.name for path in found.values()] == [
        "a.jsonl",
        "a-2.jsonl",
        "A.JSONL-2",
        "garag_rubric",
        "x.json",
        "run-é_t.jsonl",
    ]
    assert {path.parent for path in found.values()} == {tmp_path / "out"}


def test_no_copy_takes_the_place_of_a_file_to_mend(write: Write) -> None:
    path = write(lines(GOOD["rag25"]))
    with pytest.raises(OutputError, match=r"run\.jsonl is one of the files to mend"):
        fix([path], path.parent)
    assert path.read_text() == lines(GOOD["rag25"])


def test_a_packed_file_is_unpacked_and_what_is_no_run_left_out(write: Write) -> None:
    packed = write(gzip.compress(lines(GOOD["rag25"]).encode()), "a.jsonl.gz")
    notes = write("read me", "README")
    changes = fix([packed, notes], packed.parent / "fixed")
    assert [str(change) for change in changes] == [
        f"{notes}: file left out: is not a run -> removed"
    ]
    assert [file.name for file in (packed.parent / "fixed").iterdir()] == ["a.jsonl"]
    assert (packed.parent / "fixed/a.jsonl").read_text() == lines(GOOD["rag25"])


def test_a_packed_file_that_breaks_off_keeps_what_can_be_read(write: Write) -> None:
    records = [changed("rag25", metadata__narrative_id=n, x=str(hash(str(n)))) for n in range(999)]
    path = write(gzip.compress(lines(*records).encode())[:-5000], "a.jsonl.gz")
    changes = fix([path], path.parent / "fixed")
    assert "rest of the file left out" in {change.what for change in changes}
    copy = (path.parent / "fixed/a.jsonl").read_text().splitlines()
    assert json.loads(copy[0]) == records[0]


def test_an_unknown_track_is_an_error(write: Write) -> None:
    path = write(lines(GOOD["rag25"]))
    with pytest.raises(InputError, match="unknown track 'rag'"):
        fix([path], path.parent / "fixed", track="rag")
    assert not (path.parent / "fixed").exists()


def test_two_teams_of_one_run_id_keep_their_records(write: Write, tmp_path: Path) -> None:
    other = changed("rag25", metadata__team_id="u")
    path = write(lines(GOOD["rag25"], other))
    assert "second response" not in " ".join(map(str, fix([path], tmp_path / "fixed")))
    assert len((tmp_path / "fixed" / "run.jsonl").read_text().splitlines()) == 2


STORE = HeldDocuments({"1": Document("1", "D.")})
IS_TEXT = {"citation_index_as_text"}


@pytest.mark.parametrize(
    ("changes", "store", "kind", "cited", "broken"),
    [
        pytest.param({}, None, "index", OTHER, IS_TEXT, id="an index as text"),
        pytest.param({"references": [SEGMENT, "1"]}, None, "id", "1", set(), id="a reference"),
        pytest.param({"references": [SEGMENT, 1]}, None, "id", "1", set(), id="an integer"),
        pytest.param(
            {"documents": {"1": "D."}}, None, "id", "1", set(), id="a document of the run"
        ),
        pytest.param({}, STORE, "id", "1", set(), id="a document beside the runs"),
    ],
)
def test_a_number_as_text(
    changes: dict[str, Any],
    store: HeldDocuments | None,
    kind: str,
    cited: str,
    broken: set[str],
    write: Write,
) -> None:
    path = write(lines(citing("rag25", ["1"], **changes)))
    found = reading(path, store=store)
    record = json.loads(path.read_text())
    meanings = Meanings(record, "rag25", found.response.documents)
    assert (found.cited, meanings.kind("1")) == ([cited], kind)
    (run,) = check_files([path], store=store).runs
    broken_rules = {tally.rule for tally in run.violations}
    assert broken_rules & (IS_TEXT | {"citation_kind", "citations_mixed"}) == broken
    assert ("citation_unreferenced" in broken_rules) is (
        kind == "id" and "references" not in changes
    )


@pytest.mark.parametrize(
    ("track", "value", "kind"),
    [
        ("rag25", 1, "index"),
        ("rag25", 9, "index"),
        ("rag25", "9", "index"),
        ("rag25", -1, "index"),
        ("rag25", SEGMENT, "id"),
        ("rag25", "a", "id"),
        ("rag25", True, "neither"),
        ("rag25", 1.0, "neither"),
        ("biogen25", 22802756, "id"),
        ("biogen25", "22802756", "id"),
        ("ragtime26", "1", "id"),
    ],
)
def test_what_is_cited(track: str, value: object, kind: str) -> None:
    claimed = format_of(GOOD[track])
    assert claimed and Meanings(GOOD[track], claimed[0].NAME).kind(value) == kind


def test_an_id_written_as_an_integer_is_refused_for_that(write: Write) -> None:
    path = write(lines(citing("rag26", [0, 77], references=["shard_0_1", "77"])))
    assert reading(path).cited == ["shard_0_1", "77"]
    (run,) = check_files([path]).runs
    (tally,) = [tally for tally in run.violations if tally.rule == "citation_kind"]
    assert next(iter(tally.places)).message == "cites 77: an id written as an integer"


def test_repairs_take_it_as_the_reader_does(write: Write, tmp_path: Path) -> None:
    path = write(lines(citing("rag25", ["1"]), citing("rag25", ["1"], documents={"1": "D."})))
    fix([path], tmp_path / "fixed")
    records = map(json.loads, (tmp_path / "fixed" / "run.jsonl").read_text().splitlines())
    assert [record["answer"][0]["citations"] for record in records] == [[1]]
    fix([path], tmp_path / "kept", store=STORE)
    text = (tmp_path / "kept" / "run.jsonl").read_text()
    assert json.loads(text)["answer"][0]["citations"] == ["1"]


def test_what_documents_could_change_is_said(write: Write) -> None:
    path = write(lines(citing("rag25", ["1"])))
    assert "without --documents, a number as text is an index" in command("check", path).out


def test_a_name_that_is_made_is_said(write: Write) -> None:
    one = lines(GOOD["rag25"])
    done = command("check", write(one, "a"), write(one.replace('"t"', '"u"'), "b"))
    assert "b:1: run_id 'r' is also used by team 't'; named 'u/r'" in done.out.replace("\n", "")


def test_every_finding_of_the_log_has_its_run_and_topic(write: Write, tmp_path: Path) -> None:
    runs = write(lines(citing("rag25", [0, 9], ["gone"], documents={SEGMENT: "D."})), "r.jsonl")
    judge(runs, tmp_path / "o", "--judge", "citation")
    events = map(json.loads, (tmp_path / "o" / "x.log").read_text().splitlines())
    found = [e for e in events if e["event"] == "FINDING"]
    assert {"citation_out_of_range", "document_missing"} <= {e["kind"] for e in found}
    assert {(e["run_id"], e["topic_id"]) for e in found} == {("r", "1")}


MENDED = {
    "citation_duplicate",
    "citation_out_of_range",
    "reference_duplicate",
    "reference_uncited",
    "response_duplicate",
    "response_length_differs",
    "too_long",
    "too_many_citations",
}
"""Rules that no mended copy breaks; for some others, mending can come too late or not at all."""
TOPICS = {"1": Topic("1", "What?", limit=10), "2000": Topic("2000", limit=9)}
ids = st.sampled_from(["", "a", "0", "1", "9", "a b", "msmarco_v2.1_doc_01_1#0_1", 0, 1, 2, -1, 7])
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | ids
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
citations = st.lists(ids, max_size=5) | st.dictionaries(st.text(), scalars, max_size=5) | anything
texts = st.text() | st.sampled_from(["It is.", "a " * 300, "ﬁ" * 1500])
sentence = st.fixed_dictionaries({"text": texts, "citations": citations}) | anything


@st.composite
def records(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """Return a track and a record of it with some of its values replaced."""
    track = draw(st.sampled_from(sorted(GOOD)))
    record = copy.deepcopy(GOOD[track])
    if draw(st.booleans()):
        record[SENTENCES.get(track, "responses")] = draw(st.lists(sentence, max_size=4))
    if draw(st.booleans()):
        record["references"] = draw(st.lists(ids, max_size=6) | citations)
    for key in draw(st.lists(st.sampled_from([*record, "metadata"]), max_size=2)):
        record[key] = draw(anything)
    return track, record


@given(st.lists(records(), min_size=1, max_size=3))
def test_any_record_is_checked_and_mended_for_good(drawn: list[tuple[str, dict[str, Any]]]) -> None:
    track = drawn[0][0]
    assert track in all_tracks()
    with TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "run.jsonl"
        path.write_text(lines(*(record for _, record in drawn)), encoding="utf-8")
        report = check_files([path], TOPICS, track=track)
        assert as_json(report)["totals"] == report.as_dict()["totals"]
        fix([path], folder / "fixed", TOPICS, track=track)
        fixed = folder / "fixed" / "run.jsonl"
        assert not fix([fixed], folder / "again", TOPICS, track=track)
        left = set(check_files([fixed], TOPICS, track=track).counts)
        # An answer that is one text has no sentences to leave out.
        spared = {"too_long", "response_length_differs"} if "response_not_a_list" in left else set()
        # A record in the form of another track is checked, and not mended.
        spared |= MENDED if "format_of_other_track" in left else set()
        # Where a track only warns of references that nothing cites, they may stay.
        if all_tracks()[track].verdicts.get("reference_uncited") != "refused":
            spared.add("reference_uncited")
        assert left & MENDED <= spared
