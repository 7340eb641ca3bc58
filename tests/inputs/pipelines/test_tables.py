"""Records of CSV, TSV and Parquet; rows of passages joined."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reading import Read, Write, reading
from trecjudge.inputs.pipelines.tables import is_table
from trecjudge.inputs.runs import open_runs
from trecjudge.inputs.sources.containers import Opened

parquet = pytest.importorskip("pyarrow.parquet")
table = pytest.importorskip("pyarrow").table
ROWS = {"user_input": ["Q?", "P?"], "response": ["Yes.", None], "retrieved_contexts": [["C."], []]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a Parquet file as a data frame writes it."""
    parquet.write_table(table(ROWS), tmp_path / "mine.parquet")
    return tmp_path / "mine.parquet"


def test_parquet_is_read_row_by_row(file: Path) -> None:
    found = reading(file)
    assert [(t.title, r.run_id, r.text) for t, r in found.pairs] == [
        ("Q?", "mine", "Yes."),
        ("P?", "mine", ""),
    ]
    assert [d.text for d in found.responses[0].documents.values()] == ["C."]


def test_parquet_that_breaks_off_is_said(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-30])
    (finding,) = reading(file).findings
    assert (finding.kind, finding.place.line) == ("file_unreadable", None)
    assert finding.message.startswith("cannot be read beyond row 0: ")


@pytest.mark.parametrize(
    "text",
    [
        "question,answer,context_2,context_1\nQ?,Yes.,D.,C.\n",
        "question,contexts/0,contexts/1,answer\nQ?,C.,D.,Yes.\n",
        'sep=;\nquestion;answer;contexts\nQ?;Yes.;"[""C."", ""D.""]"\n',
    ],
    ids=["numbered", "paths", "Excel's first line"],
)
def test_contexts_in_columns(text: str, read: Read) -> None:
    found = read(text, "mine.csv").response
    assert [d.text for d in found.documents.values()] == ["C.", "D."]


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        pytest.param("question,answer\nQ?,A.\n", True, id="question and answer"),
        pytest.param('"User Input","Response"\nQ?,A.\n', True, id="in quotes, by other names"),
        pytest.param("\ufeffanswer,contexts\nA.,C.\n", True, id="with a byte order mark"),
        pytest.param("run,topic,measure,value\n", False, id="a leaderboard"),
        pytest.param("id,text\n1,A.\n", False, id="documents"),
        pytest.param('{"question": "Q?", "answer": "A."}\n', False, id="JSON"),
        pytest.param("Notes, and an answer, to a question.\n", False, id="prose"),
        pytest.param("", False, id="nothing"),
    ],
)
def test_a_table_is_known_by_its_header(text: str, is_one: bool, write: Write) -> None:
    assert is_table(Opened(write(text, "t.csv"))) is is_one


@pytest.mark.parametrize(
    ("encoding", "kinds"),
    [("utf-8-sig", []), ("utf-16", []), ("utf-16-be", []), ("cp1252", ["encoding_assumed"])],
)
@pytest.mark.parametrize("separator", [";", "\t", ","])
def test_a_table_as_spreadsheets_save_it(
    separator: str, encoding: str, kinds: list[str], write: Write
) -> None:
    text = 'qid;question;answer\n7;"Größe?";"Ja;\n„so“."\n'.replace(";", separator)
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    found = reading(write(f"{mark}{text}".encode(encoding), "mine.tsv"))
    ((topic, response),) = found.pairs
    assert (topic.title, response.run_id, found.kinds) == ("Größe?", "mine", kinds)
    assert response.text.split() == [f"Ja{separator.strip()}", "„so“."]


def test_damaged_utf_8_is_no_other_encoding(read: Read) -> None:
    found = read("question,answer\nQ?,Größe.\nP?,B.\n".encode().replace(b"B", b"\xff"), "m.csv")
    assert (len(found.pairs), found.kinds) == (1, ["bad_utf8"])


def test_a_table_is_a_run_whatever_its_name(write: Write) -> None:
    path = write("question,answer\nQ?,A.\n", "export.txt")
    assert [opened.path for opened in open_runs([path], print)] == [path]


@pytest.mark.parametrize(
    ("cell", "texts"),
    [
        pytest.param("\"['A.', 'B.']\"", ["A.", "B."], id="as Python writes it"),
        pytest.param('"[\'A.\', ""It\'s B.""]"', ["A.", "It's B."], id="with both quotes"),
        pytest.param("A plain text.", ["A plain text."], id="one text"),
        pytest.param('"[not a list, only brackets]"', ["[not a list, only brackets]"], id="text"),
        pytest.param("\"[__import__('os').getcwd()]\"", ["[__import__('os').getcwd()]"], id="code"),
        pytest.param("\"[Doc(page_content='A.'), Doc(text='B.')]\"", ["A.", "B."], id="LangChain"),
        pytest.param("nan", [], id="nothing"),
    ],
)
def test_a_cell_of_contexts(cell: str, texts: list[str], read: Read) -> None:
    found = read(f"question,answer,contexts\nQ?,A.,{cell}\n", "mine.csv")
    assert [d.text for d in found.response.documents.values()] == texts


@pytest.mark.parametrize(
    ("cell", "texts"),
    [("A. |B.|C.", ["A. ", "B.", "C."]), ("| a | b |", ["| a | b |"]), ("x|--|y", ["x|--|y"])],
    ids=["joined", "a table", "a rule of a table"],
)
def test_the_contexts_of_a_golden_of_deepeval(cell: str, texts: list[str], read: Read) -> None:
    found = read(f"input,actual_output,retrieval_context\nQ?,A.,{cell}\n", "mine.csv")
    assert [d.text for d in found.response.documents.values()] == texts


def test_cells_hold_line_ends(read: Read) -> None:
    found = read('question,answer,contexts\n"Q\n?","Yes.\nNo.","A."\nP?,B.,C.\n', "mine.csv")
    assert [r.place.line for r in found.responses] == [4, 5]
    assert [s.text for s in found.responses[0].sentences] == ["Yes.", "No."]


def test_what_is_too_large_is_passed_over(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRECJUDGE_LIMITS", "depth=2")
    rows = "Q?,A.,\"['C.']\"\nP?,B.,\"[[['C.']]]\"\n"
    found = read(f"question,answer,contexts\n{rows}", "mine.csv")
    assert (len(found.pairs), found.kinds) == (1, ["record_too_large"])


def test_without_the_package_it_is_said(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    (finding,) = reading(file).findings
    assert "pip install 'trecjudge[parquet]'" in finding.message


HEAD = "query_id,query,query_run,passage_id,passage,generated_answer\n"


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        pytest.param(HEAD + "q,Q?,1,[1],C.,A [1][2].\nq,Q?,1,[2],D.,\n", "r.csv", id="CSV"),
        pytest.param(HEAD + "q,Q?,1,[2],D.,\nq,Q?,1,[1],C.,A [1][2].\n", "r.csv", id="numbered"),
        pytest.param(HEAD + "q,Q?,1,[3],D.,\nq,Q?,1,[1],C.,A [1][3].\n,,,,,\n", "r.csv", id="gap"),
        pytest.param("qid\tcontext\tanswer\nq\tC.\tA [1][2].\nq\tD.\tA [1][2].", "r", id="twice"),
        pytest.param("qid,answer,chunk\nq,A [1][2].,\nq,,C.\nq,,D.\n", "r.csv", id="answer first"),
        pytest.param(
            '{"qid": "q", "passage": "D.", "rank": 2}\n{"qid": "p", "passage": "E."}\n'
            '{"qid": "q", "passage": "C.", "rank": 1, "answer": "A [1][2]."}',
            "r.jsonl",
            id="apart, by rank",
        ),
    ],
)
def test_the_rows_of_one_question_are_one_response(rows: str, name: str, read: Read) -> None:
    response = read(rows, name).responses[0]
    cited = [response.documents[c.doc_id or ""].text for c in response.sentences[0].citations]
    assert (response.topic_id, response.text, cited) == ("q", "A.", ["C.", "D."])


def test_samples_of_a_question_are_apart(read: Read) -> None:
    rows = "q,Q?,1,a,C.,A.\nq,Q?,1,b,D.,\nq,Q?,2,a,C.,B.\np,P?,1,a,C.,A.\n"
    found = read(HEAD + rows, "r.csv")
    assert [(r.topic_id, r.sample, len(r.references)) for r in found.responses] == [
        ("q", "", 2),
        ("q~2", "2", 1),
        ("p", "", 1),
    ]


def test_rows_that_each_have_an_answer_of_their_own_are_responses(read: Read) -> None:
    found = read("qid,context,answer\nq,C.,A.\nq,D.,B.\n", "r.csv")
    assert [(r.text, len(r.documents)) for r in found.responses] == [("A.", 1), ("B.", 1)]
    assert found.kinds == ["response_duplicate"]
