"""Responses made of drafts: topics, ids, documents, and what a run shows as a whole."""

from __future__ import annotations

import json

import pytest

from tests.reading import PLAIN, Read, Write, answer, citing, reading, responses
from trecjudge.inputs.documents.store import HeldDocuments
from trecjudge.records import Document, Place, Sentence


def test_a_response_knows_where_it_was_read(read: Read) -> None:
    place = read(f"\n{PLAIN}").response.place
    assert (place.path.rpartition("/")[2], place.line) == ("run.jsonl", 2)
    assert str(Place("a", 2)) == "a:2"


TOPIC_IDS = {
    "topic_id": ('"topic_id": "7"', "7", []),
    "integer": ('"topic_id": 7', "7", []),
    "request_id": ('"request_id": "7"', "7", []),
    "narrative_id": ('"narrative_id": 7', "7", []),
    "one id, twice": ('"topic_id": 7, "request_id": "7"', "7", []),
    "spaces": ('"topic_id": " 7 "', "7", []),
    "empty beside a good one": ('"topic_id": "", "narrative_id": "7"', "7", []),
    "conflict": ('"request_id": "8", "topic_id": "7"', "7", ["topic_id_conflict"]),
    "007": ('"topic_id": "7", "narrative_id": "007"', "7", ["topic_id_conflict"]),
}


@pytest.mark.parametrize(("ids", "topic_id", "kinds"), TOPIC_IDS.values(), ids=TOPIC_IDS)
def test_the_topic_id(ids: str, topic_id: str, kinds: list[str], read: Read) -> None:
    found = read(PLAIN.replace('"topic_id": "1"', ids))
    assert (found.answers, found.kinds) == ([("r", topic_id)], kinds)


@pytest.mark.parametrize(
    "ids", ['"x": 1', '"topic_id": null', '"topic_id": true', '"topic_id": 7.0']
)
def test_a_response_without_topic_id_is_found(ids: str, read: Read) -> None:
    found = read(PLAIN.replace('"topic_id": "1"', ids))
    assert (found.responses, found.kinds[0]) == ([], "topic_id_missing")


@pytest.mark.parametrize(
    ("ids", "run_id", "team_id", "kinds"),
    [
        ('"team_id": "u", "run_id": 12', "12", "u", []),
        ('"run_id": "r"', "r", "", ["team_id_missing"]),
        ('"team_id": null, "run_id": "r"', "r", "", ["team_id_missing"]),
        ('"team_id": "u"', "run", "u", ["run_id_missing"]),
        ('"team_id": "u", "run_id": [1]', "run", "u", ["run_id_missing"]),
    ],
    ids=["integer run_id", "no team", "null team", "no run_id", "list as run_id"],
)
def test_run_and_team(ids: str, run_id: str, team_id: str, kinds: list[str], read: Read) -> None:
    found = read(PLAIN.replace('"team_id": "t", "run_id": "r"', ids))
    assert (found.response.run_id, found.response.team_id, found.kinds) == (run_id, team_id, kinds)


@pytest.mark.parametrize(
    ("sentences", "texts", "kinds"),
    [
        pytest.param('[{"text": "A."}, {"text": "B."}]', ["A.", "B."], [], id="objects"),
        pytest.param('["A.", "B."]', ["A.", "B."], [], id="texts"),
        pytest.param('[{"text": "A."}, null]', ["A.", ""], ["sentence_unusable"], id="null entry"),
        pytest.param(
            '[{"text": null}, {"text": "B."}]', ["", "B."], ["sentence_unusable"], id="null text"
        ),
        pytest.param('[{}, {"text": "B."}]', ["", "B."], ["sentence_unusable"], id="no text"),
        pytest.param('[{"text": 5}, "B."]', ["", "B."], ["sentence_unusable"], id="number as text"),
        pytest.param('[{"text": ""}, "B."]', ["", "B."], [], id="empty sentence beside another"),
        pytest.param('"A is. B is."', ["A is.", "B is."], ["response_not_a_list"], id="one text"),
        pytest.param('[{"text": "A\\nB "}]', ["A\nB "], [], id="text is kept as it is"),
    ],
)
def test_sentences(sentences: str, texts: list[str], kinds: list[str], read: Read) -> None:
    found = read(responses(sentences))
    wanted = [Sentence(index, text) for index, text in enumerate(texts)]
    assert (list(found.response.sentences), found.kinds) == (wanted, kinds)


@pytest.mark.parametrize(
    ("sentences", "count"),
    [
        pytest.param("[]", 0, id="no sentence"),
        pytest.param("null", 0, id="null"),
        pytest.param('[{"text": ""}]', 1, id="empty text"),
        pytest.param('[{"text": " \\n"}]', 1, id="blank text"),
        pytest.param('[{"text": "\\u200b"}]', 1, id="text that is not seen"),
        pytest.param('[{"text": null}]', 1, id="null text"),
        pytest.param('""', 0, id="empty text for a list"),
        pytest.param('" "', 0, id="blank text for a list"),
    ],
)
def test_a_response_with_no_text_is_a_response(sentences: str, count: int, read: Read) -> None:
    found = read(responses(sentences))
    assert len(found.response.sentences) == count
    assert found.kinds.count("response_empty") == 1


def test_a_sentence_of_reasoning_is_left_out_and_the_others_keep_their_places(read: Read) -> None:
    listed = '[{"text": "<think>a", "citations": [0]}, {"text": "</think>"}, {"text": "b"}]'
    found = read(responses(listed))
    assert (found.response.sentences, found.kinds) == ((Sentence(2, "b"),), ["reasoning_cut"])


def test_a_row_is_a_sentence_and_the_file_has_it_as_written(read: Read) -> None:
    found = read(responses('"|A|B|\\n|-|-|\\n|c|d|"'))
    assert found.response.sentences == (Sentence(0, "A: c; B: d.", written="|c|d|"),)


def test_a_response_with_no_text_keeps_its_citations(read: Read) -> None:
    found = read(answer('[{"text": "", "citations": [0]}]', more=', "documents": {"a": "A."}'))
    assert (found.cited, found.kinds) == (["a"], ["response_empty"])


def test_a_sentence_without_citations_key_cites_nothing(read: Read) -> None:
    assert read(responses('[{"text": "S."}]')).cited == []


DOCUMENTS = {
    "plain text": ('{"a": "A."}', Document("a", "A."), []),
    "list": ('[{"id": "a", "text": "A."}]', Document("a", "A."), []),
    "no id inside": ('{"a": {"text": "A."}}', Document("a", "A."), []),
    "null": ('{"a": null}', Document("a"), ["own_document_empty"]),
    "blank": ('{"a": {"text": " "}}', Document("a", " "), ["own_document_empty"]),
    "a title only": ('[{"id": "a", "title": "T"}]', Document("a", "", "T"), ["own_document_empty"]),
    "an id only": ('[{"id": "a"}]', Document("a"), ["own_document_empty"]),
    "another one": ('{"b": "B."}', None, ["document_missing"]),
    "none": ("[]", None, ["document_missing"]),
    "number": ('{"a": 5, "b": "B."}', None, ["documents_unusable", "document_missing"]),
}


@pytest.mark.parametrize(("documents", "wanted", "kinds"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_documents(documents: str, wanted: Document | None, kinds: list[str], read: Read) -> None:
    found = read(citing('["a"]', f', "documents": {documents}'))
    assert found.response.documents_given
    assert (found.response.documents.get("a"), found.kinds) == (wanted, kinds)


@pytest.mark.parametrize("more", ["", ', "documents": null'], ids=["absent", "null"])
def test_without_documents_no_citation_is_reported_as_of_nothing(more: str, read: Read) -> None:
    found = read(citing("[0, 1]", more))
    assert (found.response.documents_given, found.cited) == (False, ["a", "b"])
    assert found.kinds == ["documents_not_given"]
    assert "has 2 citations and no document text" in str(found.findings[0])


def test_without_documents_and_citations_nothing_is_missed(read: Read) -> None:
    assert read(citing("[]", "")).kinds == []


def test_documents_are_kept_the_cited_ones_first(read: Read) -> None:
    assert list(read(citing('["b"]')).response.documents) == ["b", "a"]


def test_chunks_of_one_document_are_all_its_text(read: Read) -> None:
    documents = '[{"id": "a", "text": "A."}, {"id": "a", "text": "Other."}]'
    found = read(citing('["a"]', f', "documents": {documents}'))
    assert found.response.documents["a"].text == "A.\n\nOther."
    assert found.kinds == ["document_chunks"]


ODD = {
    "sentence_unusable": '"answer": [{"text": 7}], "references": []',
    "citation_out_of_range": '"answer": [{"text": "S.", "citations": [9]}], "references": []',
    "citation_duplicate": '"answer": [{"text": "S.", "citations": [0, 0]}], "references": ["a"]',
    "document_missing": '"answer": [{"text": "S.", "citations": ["d"]}], "documents": {}',
    "own_document_empty": '"answer": [{"text": "S.", "citations": ["d"]}], "documents": {"d": ""}',
    "documents_not_given": '"answer": [{"text": "S.", "citations": ["d"]}]',
    "references_unusable": '"answer": [{"text": "S."}], "references": 7',
    "reference_unusable": '"answer": [{"text": "S."}], "references": [null]',
    "response_empty": '"answer": []',
}


@pytest.mark.parametrize(("kind", "rest"), ODD.items(), ids=ODD)
def test_a_finding_carries_its_run_and_topic(kind: str, rest: str, read: Read) -> None:
    ids = '"metadata": {"team_id": "t", "run_id": "r", "narrative_id": 7}'
    findings = [f for f in read(f"{{{ids}, {rest}}}").findings if f.kind == kind]
    assert [(f.run_id, f.topic_id) for f in findings] == [("r", "7")]


def test_a_finding_carries_the_name_that_its_run_got(write: Write) -> None:
    one = answer('[{"text": "S.", "citations": [9]}]')
    found = reading(write(one, "a"), write(one.replace('"t"', '"u"'), "b"))
    about = [(f.run_id, f.topic_id) for f in found.findings if f.kind == "citation_out_of_range"]
    assert about == [("r", "1"), ("u/r", "1")]


def test_a_document_without_text_that_nobody_cites_is_found(read: Read) -> None:
    found = read(citing('["a"]', ', "documents": {"a": "A.", "z": ""}'))
    assert [(str(f).split(": ")[1], f.run_id, f.topic_id) for f in found.findings] == [
        ("carries 'z' without text", "r", "1")
    ]
    assert found.response.documents["z"].hollow


@pytest.mark.parametrize(
    ("beside", "hollow", "kind"),
    [
        pytest.param(None, True, "own_document_empty", id="nothing"),
        pytest.param({}, True, "own_document_empty", id="other documents only"),
        pytest.param({"a": "A."}, False, "", id="its text"),
        pytest.param({"a": ""}, False, "document_empty", id="no text either"),
    ],
)
def test_whose_doing_it_is_that_a_document_has_no_text(
    beside: dict[str, str] | None, hollow: bool, kind: str, read: Read
) -> None:
    held = None if beside is None else {i: Document(i, text) for i, text in beside.items()}
    store = None if held is None else HeldDocuments(held)
    found = read(citing('["a"]', ', "documents": {"a": ""}'), store=store)
    assert (found.response.documents["a"].hollow, "".join(found.kinds)) == (hollow, kind)


CARRIED = citing("[0]")
BARE = citing("[0]", "").replace('"narrative_id": "1"', '"narrative_id": "2"')


@pytest.mark.parametrize("null", [False, True], ids=["absent", "null"])
def test_documents_left_out_of_one_response_are_not_there(null: bool, write: Write) -> None:
    bare = f'{BARE[:-1]}, "documents": null}}' if null else BARE
    found = reading(write(f"{bare}\n{CARRIED}\n"))
    assert [response.documents_given for response in found.responses] == [True, True]
    assert found.kinds == ["documents_withheld", "document_missing"]
    assert "carries no documents for 1 citations; elsewhere the run does" in str(found.findings[0])


def test_so_are_those_of_a_run_in_two_files(write: Write) -> None:
    found = reading(write(BARE, "a.jsonl"), write(CARRIED, "b.jsonl"))
    assert found.responses[0].documents_given


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param('"run_id": "r"', '"run_id": "s"', id="another run"),
        pytest.param('"team_id": "t"', '"team_id": "u"', id="another team"),
        pytest.param('"run_id": "r"', '"run_id": null', id="no run_id"),
    ],
)
def test_another_run_hides_nothing(old: str, new: str, write: Write) -> None:
    files = write(BARE.replace(old, new), "a.jsonl"), write(CARRIED, "b.jsonl")
    first, second = reading(*files).responses
    assert (first.documents_given, second.documents_given) == (False, True)


def test_without_run_ids_runs_are_known_by_their_files(write: Write) -> None:
    bare, carried = (text.replace('"run_id": "r"', '"run_id": ""') for text in (BARE, CARRIED))
    files = write(bare, "a/x.jsonl"), write(carried, "b/x.jsonl")
    assert not reading(*files).responses[0].documents_given


UNNAMED = CARRIED.replace('"narrative_id": "1"', '"narrative_id": "2"').replace("[0]", '["a"]')


@pytest.mark.parametrize(
    ("elsewhere", "unnamed"),
    [
        pytest.param(CARRIED, False, id="it gives ids elsewhere, and hides them here"),
        pytest.param("", True, id="it never gives ids"),
        pytest.param(
            CARRIED.replace('"run_id": "r"', '"run_id": "s"'), True, id="another run does"
        ),
    ],
)
def test_ids_left_out_of_one_response_are_the_runs_doing(
    elsewhere: str, unnamed: bool, write: Write
) -> None:
    record = json.loads(UNNAMED) | {"references": [], "documents": [{"text": "Filler."}]}
    response = reading(write(f"{json.dumps(record)}\n{elsewhere}\n")).responses[0]
    assert response.documents_unnamed == unnamed
    assert (response.has("a") is None) == unnamed


def test_neuclir(read: Read) -> None:
    found = read(
        '{"request_id": "304", "run_id": "zho", "collection_ids": ["neuclir/1/zho"],'
        ' "sentences": [{"text": "S.", "citations": ["a-1", "b-2"]}]}'
    )
    assert (found.answers, found.cited) == ([("zho", "304")], ["a-1", "b-2"])
    assert found.kinds == ["documents_not_given"]


def test_biogen_integers_are_ids(read: Read) -> None:
    found = read(
        '{"metadata": {"team_id": "t", "run_id": "r", "topic_id": 181}, "responses":'
        ' [{"text": "S.", "citations": [22802756, "34765068"]}]}'
    )
    assert (found.answers, found.cited) == ([("r", "181")], ["22802756", "34765068"])


def test_ikat_turns_are_topics(read: Read) -> None:
    found = read(
        '{"metadata": {"team_id": "t", "run_id": "r", "run_type": "automatic"}, "turn_id": "1_2",'
        ' "references": {"clueweb22-en0000-00-00000:1": 0.5}, "responses": [{"text": "S.",'
        ' "citations": {"clueweb22-en0000-00-00000:1": 0.5}, "ptkb_provenance": [1]}]}'
    )
    assert found.answers == [("r", "1_2")]
    assert found.citations[0].score == 0.5
