"""Which format a record is of: those of tracks, and those that the page gives to copy."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.commandline import ROOT, command
from tests.reading import Read, Write
from trecjudge.errors import InputError
from trecjudge.inputs.formats.draft import with_said_beside
from trecjudge.inputs.formats.registry import (
    DATASETS,
    all_formats,
    check_dataset,
    format_named,
    format_of,
)
from trecjudge.records import Citation

FORMATS = {
    "rag24": ('{"answer": []}', "rag24", "it has `answer` and no `metadata`"),
    "rag25": ('{"answer": [], "metadata": {}}', "rag25", "it has `answer` and `metadata`"),
    "rag25 with null metadata": (
        '{"answer": [], "metadata": null}',
        "rag25",
        "it has `answer` and `metadata`",
    ),
    "rag25 without metadata": (
        '{"answer": [], "narrative_id": "14"}',
        "rag25",
        "it has `answer` and `narrative_id`",
    ),
    "rag24 names its topic by topic_id": (
        '{"answer": [], "topic_id": "2024-1", "narrative_id": "14"}',
        "rag24",
        "it has `answer` and no `metadata`",
    ),
    "ragtime": ('{"responses": []}', "ragtime", "it has `responses`"),
    "dragun": (
        '{"responses": [], "metadata": {"use_starter_kit": 0}}',
        "dragun",
        "its metadata has `use_starter_kit`",
    ),
    "autojudge, both": (
        '{"responses": [], "answer": []}',
        "autojudge",
        "it has both `responses` and `answer`",
    ),
    "autojudge, mark": (
        '{"responses": [], "is_ragtime": true}',
        "autojudge",
        "it has `is_ragtime`",
    ),
    "rag25 beside null responses": (
        '{"responses": null, "answer": [], "metadata": {}}',
        "rag25",
        "it has `answer` and `metadata`",
    ),
}


@pytest.mark.parametrize(("record", "name", "why"), FORMATS.values(), ids=FORMATS)
def test_format_of(record: str, name: str, why: str) -> None:
    claimed = format_of(json.loads(record))
    assert claimed is not None
    assert (claimed[0].NAME, claimed[1]) == (name, why)


@pytest.mark.parametrize("record", ["{}", '{"metadata": {}}'])
def test_a_record_of_no_format(record: str) -> None:
    assert format_of(json.loads(record)) is None


@pytest.mark.parametrize("dataset", [*DATASETS, "auto"])
def test_a_dataset_rules_out_no_other_format(dataset: str) -> None:
    claimed = format_of({"responses": [], "metadata": {"use_starter_kit": 1}}, dataset)
    assert claimed is not None
    found = claimed[0].NAME
    assert found == ("ragtime" if dataset == "ragtime" else "dragun")


def test_every_format_says_what_it_reads() -> None:
    named = [
        "autojudge",
        "biogen25a",
        "qa",
        "biogen25",
        "checkthat26",
        "dragun",
        "ikat25",
        "neuclir24",
        "rag24",
        "rag25",
        "ragtime",
    ]
    assert [f.NAME for f in all_formats()] == named
    assert {f.DATASET for f in all_formats()} == {*DATASETS, "any"}
    assert all(f.SUMMARY and "\n" not in f.SUMMARY for f in all_formats())


def test_check_dataset() -> None:
    assert [check_dataset(name) for name in ("auto", *DATASETS)] == ["auto", *DATASETS]
    with pytest.raises(InputError, match="did you mean 'ragtime'"):
        check_dataset("ragtme")


PMIDS = '[{"text": "S.", "citations": [%s]}]'


OTHER_TRACKS = {
    "sentences": ('{"sentences": [], "request_id": "3"}', "neuclir24"),
    "turn": ('{"turn_id": "1_2", "responses": []}', "ikat25"),
    "PubMed ids": ('{"responses": %s}' % (PMIDS % '"22802756"'), "biogen25"),
    "as integers": ('{"responses": %s}' % (PMIDS % "22802756"), "biogen25"),
    "an index": ('{"responses": %s}' % (PMIDS % "0"), "ragtime"),
    "citation for citations": (
        '{"responses": %s}' % (PMIDS.replace("citations", "citation") % "22802756"),
        "biogen25",
    ),
    "empty references": ('{"references": [], "responses": %s}' % (PMIDS % "22802756"), "biogen25"),
    "uncited, by topic": ('{"metadata": {"topic_id": 181}, "responses": []}', "biogen25"),
    "uncited": ('{"metadata": {"topic_id": "1001"}, "responses": []}', "ragtime"),
}


@pytest.mark.parametrize(("record", "name"), OTHER_TRACKS.values(), ids=OTHER_TRACKS)
def test_tracks_beside_the_three(record: str, name: str) -> None:
    found = format_of(json.loads(record))
    assert found is not None
    assert name == found[0].NAME


FLAT = """
from trecjudge.inputs.formats.draft import Draft
NAME, DATASET, SUMMARY, RANK = "flat", "any", "flat records", 50
def claims(record):
    return "it has `lines`" if "lines" in record else None
def draft(record):
    return Draft(record.get("system"), None, (("id", record.get("id")),), record["lines"])
"""


def installed(folder: Path, code: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the program where a package is installed that gives a format."""
    about = folder / "flat-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: flat\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[trecjudge.formats]\nflat = flat_format\n")
    (folder / "flat_format.py").write_text(code)
    (folder / "run.jsonl").write_text('{"system": "s", "id": "1", "lines": ["It whistles."]}\n')
    given = [sys.executable, str(ROOT / "run_judge.py"), *words]
    here = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(given, cwd=folder, env=here, capture_output=True, text=True, check=False)


def test_an_installed_package_gives_a_format(tmp_path: Path) -> None:
    words = ("--judge", "length", "--rag-responses", "run.jsonl")
    done = installed(tmp_path, FLAT, *words)
    assert (done.returncode, "read as flat: it has `lines`" in done.stderr) == (0, True)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import no_such_module", "cannot be imported: ModuleNotFoundError: No module named"),
        ("NAME = 'flat'", "has no DATASET, SUMMARY, claims, draft"),
    ],
    ids=["broken", "no format"],
)
def test_a_format_of_others_that_cannot_be_used_is_said(
    code: str, message: str, tmp_path: Path
) -> None:
    done = installed(tmp_path, code, "job", "formats")
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: the format 'flat' at flat_format {message}")


@pytest.mark.parametrize(
    ("said", "abstained"),
    [
        ('"abstained": true', True),
        ('"metadata": {"declined": false}', False),
        ('"refused": "no"', None),
        ('"n": 1', None),
    ],
)
def test_a_record_says_whether_its_system_declined(said: str, abstained: bool | None) -> None:
    record = json.loads(f'{{"responses": [], "run_id": "r", {said}}}')
    claimed = format_of(record)
    assert claimed is not None
    assert with_said_beside(claimed[0].draft(record), record).abstained is abstained


AUTOJUDGE_RECORD = (
    '{"is_ragtime": true, "metadata": {"team_id": "t", "run_id": "r", "topic_id": "1",'
    ' "request_id": "1", "narrative_id": "1"}, "responses": %s, "answer": %s,'
    ' "references": ["other"], "documents": {"d": {"id": "d", "text": "D."}}}'
)
SENTENCES = '[{"text": "S.", "citations": {"d": 0.5}}]'


@pytest.mark.parametrize(
    ("first", "second"), [(SENTENCES, SENTENCES), (SENTENCES, "null"), ("null", SENTENCES)]
)
def test_a_record_of_autojudge(first: str, second: str, read: Read) -> None:
    found = read(AUTOJUDGE_RECORD % (first, second))
    assert (found.answers, found.kinds) == ([("r", "1")], [])
    assert found.citations == [Citation("d", "d", 0.5)]


def test_integers_resolve_by_references(read: Read) -> None:
    cited = SENTENCES.replace('{"d": 0.5}', '["d", 0, 1]')
    found = read(AUTOJUDGE_RECORD % (cited, cited))
    assert [c.doc_id for c in found.citations] == ["d", "other", None]
    assert found.kinds == ["citation_out_of_range", "document_missing"]


def test_a_run_and_what_is_written_of_it_are_one(read: Read) -> None:
    sentences = '[{"citations": [0], "text": "A kettle whistles."}]'
    rest = '"references": ["k-1", "k-2"], "documents": {"k-1": {"id": "k-1", "text": "K."}}}'
    ids = '"metadata": {"team_id": "t", "run_id": "r", "narrative_id": "1"%s}'
    submitted = read(f'{{{ids % ""}, "answer": {sentences}, {rest}')
    rewritten = read(
        f'{{"is_ragtime": true, {ids % (", " + chr(34) + "request_id" + chr(34) + ": 1")},'
        f' "responses": {sentences}, "answer": {sentences}, {rest}'
    )
    # It does not say of which track it is, and so not what its references are.
    assert rewritten.response == replace(submitted.response, retrieved=None)
    assert (rewritten.cited, rewritten.kinds, submitted.kinds) == (["k-1"], [], [])


@pytest.mark.parametrize("references", ['["other"]', "[]", "null"])
def test_ids_of_digits_are_ids_where_references_list_none(references: str, read: Read) -> None:
    text = (AUTOJUDGE_RECORD % (SENTENCES, SENTENCES)).replace('"d"', '"22802756"')
    found = read(text.replace('["other"]', references))
    assert found.cited == ["22802756"]


@pytest.mark.parametrize(
    ("responses", "answer", "texts", "message"),
    [
        pytest.param(
            '["A.", "B."]', '["A.", "C."]', ["A.", "B."], "2 on; `responses` counts", id="text"
        ),
        pytest.param(
            '["A.", "B."]', '["A."]', ["A.", "B."], "2 on; `responses` counts", id="fewer"
        ),
        pytest.param(
            '[{"text": "A.", "citations": {"d": 1}}]',
            '[{"text": "A.", "citations": ["other"]}]',
            ["A."],
            "1 on; `responses` counts",
            id="citations",
        ),
        pytest.param("[]", '["A."]', ["A."], "1 on; `answer` counts", id="one is empty"),
        pytest.param('["A."]', "[]", ["A."], "1 on; `responses` counts", id="the other is empty"),
        pytest.param('["A.", "B."]', '"A. C."', ["A.", "B."], "`responses` counts", id="one text"),
    ],
)
def test_sentences_that_contradict_each_other(
    responses: str, answer: str, texts: list[str], message: str, read: Read
) -> None:
    found = read(AUTOJUDGE_RECORD % (responses, answer))
    assert [sentence.text for sentence in found.response.sentences] == texts
    assert found.kinds.count("answer_differs") == 1
    assert message in str(next(f for f in found.findings if f.kind == "answer_differs"))


@pytest.mark.parametrize(
    ("responses", "answer"),
    [
        pytest.param(
            '[{"text": "A.", "citations": [0]}]',
            '[{"text": " A.", "citations": {"other": 1.0}}]',
            id="by index and by id",
        ),
        pytest.param('[{"text": "A.", "citations": ["d"]}, "B."]', '"A. B."', id="one text"),
        pytest.param('[{"text": "A.", "citations": [0]}]', '"A [1]."', id="markers"),
    ],
)
def test_sentences_that_say_the_same(responses: str, answer: str, read: Read) -> None:
    assert "answer_differs" not in read(AUTOJUDGE_RECORD % (responses, answer)).kinds


def test_a_response_without_sentences_is_empty(read: Read) -> None:
    found = read(AUTOJUDGE_RECORD % ("[]", "[]"))
    assert (found.response.sentences, found.kinds) == ((), ["response_empty"])


DRAGUN_RECORD = (
    '{"metadata": {"team_id": "t", "run_id": "kit", "topic_id": "msmarco_v2.1_doc_04_420132660",'
    ' "type": "automatic", "use_starter_kit": 1}, "responses": [{"text": "The source is a travel'
    ' site.", "citations": ["msmarco_v2.1_doc_1#0_2", "msmarco_v2.1_doc_1#1_3"]}]}'
)


def test_a_record_in_a_file_without_extension(read: Read) -> None:
    found = read(DRAGUN_RECORD, "kit")
    assert found.answers == [("kit", "msmarco_v2.1_doc_04_420132660")]
    assert found.cited == ["msmarco_v2.1_doc_1#0_2", "msmarco_v2.1_doc_1#1_3"]
    assert found.kinds == ["documents_not_given"]


RAG24_RECORD = (
    '{"run_id": "base", "topic_id": "2024-1", "topic": "why moss", "references": ["d1#0", "d2#0"],'
    ' "response_length": 4, "answer": [{"text": "Moss is green.", "citations": [1, 0]},'
    ' {"text": "Yes.", "citations": []}]}'
)


def test_a_record_of_rag24(read: Read) -> None:
    found = read(RAG24_RECORD)
    ((topic, response),) = found.pairs
    assert (topic.topic_id, topic.title) == ("2024-1", "why moss")
    assert (response.run_id, response.team_id, response.references) == (
        "base",
        "",
        ("d1#0", "d2#0"),
    )
    assert response.text == "Moss is green. Yes."
    assert (found.cited, found.kinds) == (["d2#0", "d1#0"], ["documents_not_given"])


def test_a_topic_that_is_no_text_is_no_title(read: Read) -> None:
    assert read(RAG24_RECORD.replace('"why moss"', "7")).pairs[0][0].title == ""


RAG25_RECORD = (
    '{"metadata": {"team_id": "t", "run_id": "r", "type": "automatic", "narrative_id": 1,'
    ' "narrative": "why moss"}, "references": ["d1#0", "d2#0"],'
    ' "answer": [{"text": "Moss is green.", "citations": %s}]}'
)


@pytest.mark.parametrize(
    ("citations", "wanted"),
    [
        pytest.param("[1, 0]", ["d2#0", "d1#0"], id="by index"),
        pytest.param('["d2#0", "d1#0"]', ["d2#0", "d1#0"], id="by id"),
        pytest.param('[0, "d2#0"]', ["d1#0", "d2#0"], id="mixed"),
        pytest.param("[]", [], id="none"),
    ],
)
def test_a_record_of_rag25(citations: str, wanted: list[str], read: Read) -> None:
    found = read(RAG25_RECORD % citations)
    ((topic, response),) = found.pairs
    assert (topic.topic_id, topic.title) == ("1", "why moss")
    assert (response.run_id, response.team_id, found.cited) == ("r", "t", wanted)
    assert found.kinds == ["documents_not_given"] * bool(wanted)


def test_integer_references_are_ids_and_integer_citations_are_indexes(read: Read) -> None:
    text = (RAG25_RECORD % "[0]").replace('["d1#0", "d2#0"]', "[1, 0]")
    assert read(text).cited == ["1"]


RAGTIME_RECORD = (
    '{"metadata": {"team_id": "t", "run_id": "r", "topic_id": "1001", "task": "english",'
    ' "title": "canals"}, "references": ["u-1_0", "u-2_1"],'
    ' "responses": [{"text": "Canals leak.", "citations": %s}]}'
)


@pytest.mark.parametrize(
    ("citations", "wanted"),
    [
        pytest.param('{"u-2_1": 0.5, "u-1_0": 1}', [("u-2_1", 0.5), ("u-1_0", 1.0)], id="dict"),
        pytest.param('["u-2_1", "u-1_0"]', [("u-2_1", None), ("u-1_0", None)], id="list"),
        pytest.param("{}", [], id="empty dict"),
        pytest.param("null", [], id="null"),
    ],
)
def test_a_record_of_ragtime(
    citations: str, wanted: list[tuple[str, float | None]], read: Read
) -> None:
    found = read(RAGTIME_RECORD % citations)
    ((topic, response),) = found.pairs
    assert (topic.topic_id, topic.title) == ("1001", "canals")
    assert (response.run_id, response.team_id) == ("r", "t")
    assert found.citations == [Citation(doc_id, doc_id, score) for doc_id, score in wanted]


def test_a_record_without_references(read: Read) -> None:
    text = (RAGTIME_RECORD % '["u-1_0"]').replace('"references": ["u-1_0", "u-2_1"],', "")
    assert (read(text).cited, read(text).kinds) == (["u-1_0"], ["documents_not_given"])


PAGE = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
LINES = PAGE.partition("<!-- records -->\n```json\n")[2].partition("\n```")[0].splitlines()
NAMES = re.findall(r"^\| ?`(\w+)` ?\|", PAGE.partition("## Runs")[2].partition("\n#")[0], re.M)
RECORDS = dict(zip(NAMES, LINES, strict=True))
NOT_GIVEN = ["documents_not_given", "markers_read"]
"""Most records carry no text of what they cite, and one marks citations in its answer."""


@pytest.mark.parametrize("name", [format_.NAME for format_ in all_formats()])
def test_there_is_a_record_of(name: str, read: Read) -> None:
    taken = format_of(json.loads(RECORDS[name]))
    assert taken is not None
    assert taken[0] is format_named(name)
    found = read(RECORDS[name], f"{name}.jsonl")
    assert found.response.run_id == name
    assert found.citations
    assert None not in found.cited
    assert set(found.kinds) <= set(NOT_GIVEN)


@pytest.mark.parametrize("name", [format_.NAME for format_ in all_formats()])
def test_its_track_would_accept(name: str, write: Write) -> None:
    in_one_line = json.dumps(json.loads(RECORDS[name]))
    assert command("check", write(in_one_line, f"{name}.jsonl")).status == 0


def test_the_record_of_a_pipeline_is_split_and_its_contexts_found(read: Read) -> None:
    response = read(RECORDS["qa"], "mine.jsonl").response
    assert [s.text for s in response.sentences] == [
        "The tram opened in 2021.",
        "It cost 18 million crowns.",
    ]
    assert list(response.documents) == [c.doc_id for c in response.sentences[1].citations]
