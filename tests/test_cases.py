"""Small inputs that break or surprise other tools, and what the readers make of them."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.reading import Reading, Write, reading
from trecjudge.inputs.runs import find_runs
from trecjudge.inputs.topics import read_topics
from trecjudge.records import Topic

KETTLE = "A kettle whistles when steam rushes through a narrow gap."
POND = "Garden ponds are usually under two metres deep."
K01 = "Steam forced through a small gap in the spout makes a kettle whistle."
P01 = "Most garden ponds are less than two metres deep."
DOCUMENTS = (
    f'"documents": {{"k-01": {{"id": "k-01", "text": "{K01}"}},'
    f' "p-01": {{"id": "p-01", "text": "{P01}"}}}}'
)
TOPICS = """\
{"request_id": "t1", "title": "why do kettles whistle"}
{"request_id": "t2", "title": "how deep are ponds"}
"""
MOSS = '"responses": [{"text": "Moss is green.", "citations": []}]}\n'


def kettle(run_id: str, team: str = "teamx", topic_id: str = "t1") -> str:
    """Return a record that cites k-01."""
    return (
        f'{{"metadata": {{"team_id": "{team}", "run_id": "{run_id}", "topic_id": "{topic_id}"}},'
        f' "responses": [{{"text": "{KETTLE}", "citations": ["k-01"]}}],'
        f' "documents": {{"k-01": {{"id": "k-01", "text": "{K01}"}}}}}}\n'
    )


def pond(run_id: str) -> str:
    """Return a record on t2 that cites p-01."""
    return kettle(run_id, topic_id="t2").replace(KETTLE, POND).replace(K01, P01).replace("k-", "p-")


def uncited(run_id: str, text: str, topic_id: str) -> str:
    """Return a record that cites nothing."""
    return (
        f'{{"metadata": {{"team_id": "teamx", "run_id": "{run_id}", "topic_id": "{topic_id}"}},'
        f' "responses": [{{"text": "{text}", "citations": []}}], "documents": {{}}}}\n'
    )


def moss(metadata: str) -> str:
    return f'{{"metadata": {{{metadata}}}, {MOSS}'


def cit(sentences: str, references: str = '"references": ["k-01", "p-01"], ') -> str:
    metadata = '{"team_id": "teamx", "run_id": "cit", "topic_id": "t1"}'
    return f'{{"metadata": {metadata}, {references}"answer": {sentences}, {DOCUMENTS}}}\n'


def documents(run_id: str, field: str) -> str:
    return kettle(run_id).partition(', "documents"')[0] + f"{field}}}\n"


def shape(run_id: str, rest: str) -> str:
    return (
        f'{{"metadata": {{"team_id": "teamx", "run_id": "{run_id}", "topic_id": "t1"}}, {rest}}}\n'
    )


CASES: dict[str, str | bytes] = {
    "topics.jsonl": TOPICS,
    "00_good/runs/good.jsonl": kettle("good") + pond("good"),
    "02_nested_dir/runs/teamx/nested.jsonl": kettle("nested"),
    "03_readme_in_runs/runs/README.md": "Notes about these runs, not JSON.\n",
    "03_readme_in_runs/runs/a.jsonl": kettle("a"),
    "04_gzip_run/runs/z.jsonl.gz": gzip.compress(kettle("z").encode()),
    "05_single_file/one.jsonl": kettle("one"),
    "06_topics_blank_line/topics.jsonl": TOPICS.replace("\n{", "\n\n{"),
    "07_int_ids/runs_topic_int/r.jsonl": moss(
        '"team_id": "teamx", "run_id": "intids", "topic_id": 7'
    ),
    "07_int_ids/runs_int_run_id/r.jsonl": moss('"team_id": "teamx", "run_id": 12, "topic_id": "7"'),
    "07_int_ids/runs_narrative_int/r.jsonl": (
        '{"metadata": {"team_id": "teamx", "run_id": "intids", "narrative_id": 7,'
        ' "narrative": "why is moss green"}, "references": ["m-1"],'
        ' "answer": [{"text": "Moss is green.", "citations": [0]}]}\n'
    ),
    "07_int_ids/runs_no_team/r.jsonl": moss('"run_id": "noteam", "topic_id": "7"'),
    "07_int_ids/runs_request_id_only/r.jsonl": moss(
        '"team_id": "teamx", "run_id": "reqid", "request_id": "7"'
    ),
    "07_int_ids/runs_conflicting_ids/r.jsonl": moss(
        '"team_id": "teamx", "run_id": "two", "topic_id": "7", "request_id": "8"'
    ),
    "07_int_ids/topics_str7.jsonl": '{"request_id": "7", "title": "why is moss green"}\n',
    "07_int_ids/topics_int_request_id.jsonl": '{"request_id": 7, "title": "why is moss green"}\n',
    "07_int_ids/topics_query_keys.jsonl": '{"qid": "q9", "query": "why is moss green"}\n',
    "07_int_ids/topics_rag_native.jsonl": (
        '{"id": 14, "title": "why is moss green and where does it grow"}\n'
    ),
    "07_int_ids/topics_ragtime_native.jsonl": (
        '{"topic_id": "301", "title": "canal repairs", "problem_statement": "List recent canal'
        ' repairs.", "background": "A boat owner.", "limit": 2000,'
        ' "collection_ids": ["ragtime1"]}\n'
    ),
    "07_int_ids/topics_dragun_native.jsonl": (
        '{"docid": "msmarco_v2.1_doc_00_11", "url": "https://example.org/a", "title": "Bridge'
        ' reopens", "body": "The old bridge reopened on Monday after months of repairs."}\n'
    ),
    "08_bad_utf8/bom/bom.jsonl": "\ufeff" + kettle("u8"),
    "08_bad_utf8/runs/u8.jsonl": kettle("u8").encode()
    + kettle("u8", topic_id="t2").encode().replace(b"when steam", b"when st\xe9am"),
    "09_malformed_line/runs/mal.jsonl": (
        kettle("mal") + '{"metadata": {"team_id": "teamx", "run_id": "mal"\n' + pond("mal")
    ),
    "11_duplicate_topic/runs/dup.jsonl": (
        kettle("dup") + uncited("dup", "Second try, no sources.", "t1") + pond("dup")
    ),
    "12_extra_topic/runs/x.jsonl": kettle("x") + pond("x") + uncited("x", "Off list.", "t99"),
    "13_missing_topic/runs/full.jsonl": kettle("full") + pond("full"),
    "13_missing_topic/runs/part.jsonl": kettle("part"),
    "14_int_citations/out_of_range/r.jsonl": cit(
        '[{"text": "One good, one past the end, one negative.", "citations": [0, 5, -1]}]'
    ),
    "14_int_citations/bools_floats/r.jsonl": cit(
        '[{"text": "Odd types.", "citations": [true, 1.0]}]'
    ),
    "14_int_citations/citation_objects/r.jsonl": cit(
        '[{"text": "Objects.", "citations": [{"docid": "k-01", "score": 0.4}]}]'
    ),
    "14_int_citations/digit_strings/r.jsonl": cit(
        '[{"text": "Index given as text.", "citations": ["0", "1"]}]'
    ),
    "14_int_citations/duplicates/r.jsonl": cit(
        '[{"text": "Same source twice.", "citations": ["k-01", "k-01"]}]'
    ),
    "14_int_citations/missing_references/r.jsonl": cit(
        '[{"text": "No reference list.", "citations": [0]}]', references=""
    ),
    "14_int_citations/mixed_sentences/r.jsonl": cit(
        '[{"text": "By index.", "citations": [0]}, {"text": "By id.", "citations": ["p-01"]}]'
    ),
    "15_documents_shape/absent/r.jsonl": documents("da", ""),
    "15_documents_shape/list/r.jsonl": documents(
        "dl", f', "documents": [{{"id": "k-01", "text": "{K01}"}}]'
    ),
    "15_documents_shape/no_id/r.jsonl": documents(
        "dn", f', "documents": {{"k-01": {{"text": "{K01}"}}}}'
    ),
    "15_documents_shape/null_text/r.jsonl": documents(
        "dq", ', "documents": {"k-01": {"id": "k-01", "text": null}}'
    ),
    "15_documents_shape/plain_text/r.jsonl": documents("dp", f', "documents": {{"k-01": "{K01}"}}'),
    "16_answer_shapes/empty/r.jsonl": shape("e", '"responses": []'),
    "16_answer_shapes/null_text/r.jsonl": shape(
        "n", '"responses": [{"text": null, "citations": []}]'
    ),
    "16_answer_shapes/plain_string/r.jsonl": shape("s", '"answer": "Steam makes it whistle."'),
    "16_answer_shapes/rag24/r.jsonl": (
        '{"run_id": "r24", "topic_id": "t1", "topic": "why do kettles whistle", "references":'
        ' ["k-01"], "response_length": 9, "answer": [{"text": "Steam makes it whistle.",'
        ' "citations": [0]}]}\n'
    ),
    "60_citation_judge/topics.jsonl": '{"request_id": "1", "title": "why do kettles whistle"}\n',
    "60_citation_judge/runs_ids/perfect.jsonl": (
        '{"metadata": {"team_id": "tx", "run_id": "perfect", "topic_id": "1"}, "responses":'
        ' [{"text": "Steam through a narrow gap makes the whistle.", "citations": ["k-01"]},'
        f' {{"text": "Ponds are shallow.", "citations": ["p-01"]}}], {DOCUMENTS}}}\n'
    ),
    "60_citation_judge/runs_int/perfect_int.jsonl": (
        '{"metadata": {"team_id": "tx", "run_id": "perfect_int", "topic_id": "1"}, "references":'
        ' ["k-01", "p-01"], "answer": [{"text": "Steam through a narrow gap makes the whistle.",'
        ' "citations": [0]}, {"text": "Ponds are shallow.", "citations": [1]}],'
        f" {DOCUMENTS}}}\n"
    ),
    "60_citation_judge/runs_narrative/nar.jsonl": (
        '{"metadata": {"team_id": "tx", "run_id": "nar", "narrative_id": "1"}, "references":'
        ' ["k-01"], "answer": [{"text": "Steam through a narrow gap makes the whistle.",'
        f' "citations": [0]}}], "documents": {{"k-01": {{"id": "k-01", "text": "{K01}"}}}}}}\n'
    ),
    "60_citation_judge/runs_uncited/uncited.jsonl": (
        '{"metadata": {"team_id": "tx", "run_id": "uncited", "topic_id": "1"}, "responses":'
        ' [{"text": "Steam makes the whistle.", "citations": []}], "documents": {}}\n'
    ),
}

ReadCase = Callable[..., Reading]


@pytest.fixture
def case(write: Write, tmp_path: Path) -> ReadCase:
    """Return `case(folder, topics)`: what is read from a case with the topics of a file."""

    def read(name: str, topics: str | None = "topics.jsonl") -> Reading:
        for path, text in CASES.items():
            write(text, path)
        wanted = read_topics(tmp_path / topics, lambda f: pytest.fail(str(f))) if topics else None
        return reading(*find_runs([tmp_path / name]), topics=wanted)

    return read


def texts(found: Reading) -> list[str]:
    return [str(f).rpartition("/")[2] for f in found.findings if f.kind != "response_missing"]


def test_the_cases_are_those_of_the_folder(shared: Path) -> None:
    folder = shared / "cases"
    names = [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]
    assert {name for name in names if name.startswith(("0", "1", "60"))} <= set(CASES)
    for name, text in CASES.items():
        raw = (folder / name).read_bytes()
        unpacked = gzip.decompress(raw) if name.endswith(".gz") else raw
        wanted = text.encode() if isinstance(text, str) else text
        assert unpacked == (gzip.decompress(wanted) if name.endswith(".gz") else wanted), name


@pytest.mark.parametrize(
    ("name", "answers"),
    [
        pytest.param("00_good/runs", [("good", "t1"), ("good", "t2")], id="control"),
        pytest.param("02_nested_dir/runs", [("nested", "t1")], id="nested folder"),
        pytest.param("04_gzip_run/runs", [("z", "t1")], id="gzip"),
        pytest.param("05_single_file/one.jsonl", [("one", "t1")], id="single file"),
        pytest.param("08_bad_utf8/bom", [("u8", "t1")], id="byte order mark"),
    ],
)
def test_good_runs_are_read(name: str, answers: list[tuple[str, str]], case: ReadCase) -> None:
    found = case(name)
    assert (found.answers, texts(found)) == (answers, [])
    assert [r.documents[c].text for r in found.responses for c in r.documents] == [K01, P01][
        : len(answers)
    ]


def test_a_file_that_is_no_run_is_passed_over_with_a_note(case: ReadCase) -> None:
    found = case("03_readme_in_runs/runs")
    assert (found.answers, found.findings[0].severity) == ([("a", "t1")], "note")
    assert texts(found) == ["README.md: is not a run; passed over"]


def test_blank_lines_in_topics_are_passed_over(case: ReadCase) -> None:
    found = case("00_good/runs", "06_topics_blank_line/topics.jsonl")
    assert (len(found.responses), found.findings) == (2, [])


@pytest.mark.parametrize(
    ("name", "topic"),
    [
        ("str7", Topic("7", "why is moss green")),
        ("int_request_id", Topic("7", "why is moss green")),
        ("query_keys", Topic("q9", "why is moss green")),
        ("rag_native", Topic("14", "why is moss green and where does it grow")),
        (
            "ragtime_native",
            Topic(
                "301", "canal repairs", "List recent canal repairs.", "A boat owner.", limit=2000
            ),
        ),
        (
            "dragun_native",
            Topic(
                "msmarco_v2.1_doc_00_11",
                "Bridge reopens",
                body="The old bridge reopened on Monday after months of repairs.",
                url="https://example.org/a",
            ),
        ),
    ],
)
def test_all_native_topics_are_read(name: str, topic: Topic, write: Write) -> None:
    path = write(CASES[f"07_int_ids/topics_{name}.jsonl"])
    assert read_topics(path, lambda f: pytest.fail(str(f))) == {topic.topic_id: topic}


@pytest.mark.parametrize("topics", ["str7", "int_request_id"])
@pytest.mark.parametrize(
    ("name", "run_id", "kinds"),
    [
        ("topic_int", "intids", []),
        ("int_run_id", "12", []),
        ("narrative_int", "intids", ["documents_not_given"]),
        ("no_team", "noteam", ["team_id_missing"]),
        ("request_id_only", "reqid", []),
        ("conflicting_ids", "two", ["topic_id_conflict"]),
    ],
)
def test_integer_ids_become_text(
    name: str, run_id: str, kinds: list[str], topics: str, case: ReadCase
) -> None:
    found = case(f"07_int_ids/runs_{name}", f"07_int_ids/topics_{topics}.jsonl")
    assert (found.answers, found.kinds) == ([(run_id, "7")], kinds)


@pytest.mark.parametrize(
    ("name", "answers", "wanted"),
    [
        pytest.param(
            "08_bad_utf8/runs",
            [("u8", "t1")],
            "u8.jsonl:2: is not UTF-8 at byte 118",
            id="bad bytes",
        ),
        pytest.param(
            "09_malformed_line/runs",
            [("mal", "t1"), ("mal", "t2")],
            "mal.jsonl:2: is not JSON: unexpected end of data: line 1 column 50 (char 49)",
            id="cut line",
        ),
        pytest.param(
            "11_duplicate_topic/runs",
            [("dup", "t1"), ("dup", "t2")],
            "dup.jsonl:2: run 'dup' answers topic 't1' a second time",
            id="duplicate",
        ),
        pytest.param(
            "12_extra_topic/runs",
            [("x", "t1"), ("x", "t2")],
            "x.jsonl:3: answers topic 't99', which is not in the topic file",
            id="extra topic",
        ),
    ],
)
def test_a_bad_line_is_found_and_the_others_are_read(
    name: str, answers: list[tuple[str, str]], wanted: str, case: ReadCase
) -> None:
    found = case(name)
    assert (found.answers, texts(found)) == (answers, [wanted])
    assert found.responses[0].text == KETTLE


def test_a_missing_response_is_found(case: ReadCase) -> None:
    found = case("13_missing_topic/runs")
    assert found.answers == [("full", "t1"), ("full", "t2"), ("part", "t1")]
    assert [(f.kind, f.run_id, f.value) for f in found.findings] == [
        ("response_missing", "part", "t2")
    ]


@pytest.mark.parametrize(
    ("name", "cited", "wanted"),
    [
        (
            "out_of_range",
            ["k-01", None, None],
            ["cites 5, references has 2", "cites -1, references has 2"],
        ),
        (
            "bools_floats",
            [None, None],
            [
                "cites True, which is neither an id nor an index",
                "cites 1.0, which is neither an id nor an index",
            ],
        ),
        ("citation_objects", ["k-01"], []),
        (
            "digit_strings",
            ["k-01", "p-01"],
            ["cites '0': an index written as text", "cites '1': an index written as text"],
        ),
        ("duplicates", ["k-01"], ["cites 'k-01' twice"]),
        ("missing_references", [None], ["cites 0, references is missing"]),
        ("mixed_sentences", ["k-01", "p-01"], []),
    ],
)
def test_citations(name: str, cited: list[str | None], wanted: list[str], case: ReadCase) -> None:
    found = case(f"14_int_citations/{name}")
    assert found.cited == cited
    assert texts(found) == [f"r.jsonl:1: sentence 1 {message}" for message in wanted]


def test_a_citation_object_keeps_its_score(case: ReadCase) -> None:
    assert case("14_int_citations/citation_objects").citations[0].score == 0.4


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("list", K01, []),
        ("plain_text", K01, []),
        ("no_id", K01, []),
        ("null_text", "", ["r.jsonl:1: sentence 1 cites 'k-01', which it carries without text"]),
        ("absent", None, ["r.jsonl:1: has 1 citations and no document text"]),
    ],
)
def test_documents_of_any_shape(
    name: str, text: str | None, wanted: list[str], case: ReadCase
) -> None:
    found = case(f"15_documents_shape/{name}")
    document = found.response.documents.get("k-01")
    assert (document.text if document else None, texts(found)) == (text, wanted)
    assert (found.cited, found.response.documents_given) == (["k-01"], name != "absent")


@pytest.mark.parametrize(
    ("name", "sentences", "cited", "kinds"),
    [
        ("plain_string", ["Steam makes it whistle."], [], ["response_not_a_list"]),
        ("empty", [], [], ["response_empty"]),
        ("null_text", [""], [], ["response_empty", "sentence_unusable"]),
        ("rag24", ["Steam makes it whistle."], ["k-01"], ["documents_not_given"]),
    ],
)
def test_answers_of_any_shape(
    name: str, sentences: list[str], cited: list[str], kinds: list[str], case: ReadCase
) -> None:
    found = case(f"16_answer_shapes/{name}")
    assert [sentence.text for sentence in found.response.sentences] == sentences
    assert (found.cited, found.kinds) == (cited, [*kinds, "response_missing"])


@pytest.mark.parametrize(
    ("name", "cited"),
    [
        ("ids", ["k-01", "p-01"]),
        ("int", ["k-01", "p-01"]),
        ("narrative", ["k-01"]),
        ("uncited", []),
    ],
)
def test_the_runs_of_the_citation_judge(name: str, cited: list[str], case: ReadCase) -> None:
    found = case(f"60_citation_judge/runs_{name}", "60_citation_judge/topics.jsonl")
    assert (found.cited, found.findings) == (cited, [])
    assert set(found.response.documents) == set(cited)
