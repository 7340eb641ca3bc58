"""Documents of every shape, judged: what counts, what is unjudged, and how a job ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commandline import judge
from tests.reading import Write, answer
from trecjudge.results.leaderboards.reading import read_rows

TEXT = "The ferry Perch entered service on 3 May 2022."
OTHER = "The lamp of the harbour burns paraffin oil since 1901."
GOOD = f'[{{"text": "{TEXT}", "citations": [0]}}, {{"text": "{OTHER}", "citations": ["b"]}}]'

EVERY = ["citation", "support", "citation_score", "attribution", "faithfulness", "grounding"]


def means(folder: Path) -> dict[str, float]:
    rows = read_rows(folder / "x.leaderboard.txt", lambda finding: pytest.fail(str(finding)))
    return {
        row.measure: row.value for _, row in rows if row.topic_id is None and "." not in row.measure
    }


TEXTS = {
    "texts": f'["{TEXT}", "{OTHER}"]',
    "objects of text": f'[{{"text": "{TEXT}"}}, {{"text": "{OTHER}"}}]',
    "LangChain": f'[{{"page_content": "{TEXT}", "metadata": {{"source": "x.pdf"}}}},'
    f' {{"page_content": "{OTHER}", "metadata": {{"source": "x.pdf"}}}}]',
    "names of the field": f'[{{"docno": "a", "text": "{TEXT}"}},'
    f' {{"ClueWeb22-ID": "b", "Clean-Text": "{OTHER}"}}]',
}


@pytest.mark.parametrize("documents", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize(
    ("judge_name", "wanted"),
    [("citation", {"CITATION_SUPPORT": 1.0}), ("grounding", {"HALLUCINATION_RATE": 0.0})],
)
def test_texts_that_a_run_carries_are_judged(
    judge_name: str, wanted: dict[str, float], documents: str, write: Write, tmp_path: Path
) -> None:
    run = write(answer(GOOD, more=f', "documents": {documents}'))
    done = judge(run, tmp_path / "out", "--judge", judge_name, "-q")
    assert (done.status, means(tmp_path / "out") | wanted) == (0, means(tmp_path / "out"))


@pytest.mark.parametrize("judge_name", ["citation", "grounding", "attribution", "citation_score"])
@pytest.mark.parametrize("documents", ["5", "[1, 2]", '[{"rank": 1}]'])
def test_documents_that_cannot_be_read_leave_it_unjudged(
    judge_name: str, documents: str, write: Write, tmp_path: Path
) -> None:
    run = write(answer(GOOD, more=f', "documents": {documents}'))
    done = judge(run, tmp_path / "out", "--judge", judge_name, "--json")
    summary = json.loads(done.out)
    assert (done.status, summary["findings"]["documents_not_given"]) == (3, 1)
    assert summary["findings"]["documents_unusable"] >= 1


IN_PART = {
    "not read": ('[{"p": "Two words", "q": "Or three."}]', "not_read"),
    "a cut excerpt": ('[{"excerpt": "Kettles, [...]"}]', "excerpt_cut"),
    "cut at its start": ('[{"quote": "… of kettles."}]', "excerpt_cut"),
    "said to be cut": ('[{"text": "Kettles", "truncated": true}]', "excerpt_cut"),
}


@pytest.mark.parametrize(("contexts", "kind"), IN_PART.values(), ids=IN_PART)
@pytest.mark.parametrize("judge_name", EVERY)
def test_what_the_rest_of_a_document_may_say_is_unjudged(
    judge_name: str, contexts: str, kind: str, write: Write, tmp_path: Path
) -> None:
    said = "Nine in ten kettles whistle through their spout [1]."
    run = write(f'{{"question": "Kettles?", "answer": "{said}", "contexts": {contexts}}}')
    done = judge(run, tmp_path / "out", "--judge", judge_name, "--json")
    assert (done.status, set(json.loads(done.out)["failures"])) == (3, {kind})


@pytest.mark.parametrize("judge_name", EVERY)
def test_what_a_cut_excerpt_says_is_judged(judge_name: str, write: Write, tmp_path: Path) -> None:
    contexts = '[{"excerpt": "The Alder bridge was opened in 1931 by the mayor ..."}]'
    asked = '"question": "Alder bridge?", "answer": "The Alder bridge was opened in 1931 [1]."'
    run = write(f'{{{asked}, "contexts": {contexts}}}')
    assert judge(run, tmp_path / "out", "--judge", judge_name, "-q").status == 0


@pytest.mark.parametrize("contexts", ["5", "\"['A b.' 'C d.', 'E f.']\""])
def test_contexts_that_cannot_be_read_leave_all_unjudged(
    contexts: str, write: Write, tmp_path: Path
) -> None:
    run = write(f'{{"question": "Q?", "answer": "Trams ran in May.", "contexts": {contexts}}}')
    names = "grounding,attribution,faithfulness"
    done = judge(run, tmp_path / "out", "--judge", names, "--json")
    assert (done.status, set(json.loads(done.out)["failures"])) == (3, {"not_read"})


@pytest.mark.parametrize("judge_name", ["citation", "grounding", "attribution", "citation_score"])
def test_what_a_collection_lost_is_unjudged(judge_name: str, write: Write, tmp_path: Path) -> None:
    documents = write(f'{{"docno": "a", "text": "{TEXT}"}}\n{{"call": "b", "text": "T."}}', "d")
    out = tmp_path / "out"
    done = judge(
        write(answer(GOOD)), out, "--documents", documents, "--judge", judge_name, "--json"
    )
    summary = json.loads(done.out)
    assert (done.status, summary["findings"]["document_unknown"]) == (3, 1)
    if judge_name == "citation":
        assert means(out)["CITATION_SUPPORT"] == 1.0


def test_an_unreadable_document_shields_no_other_citation(write: Write, tmp_path: Path) -> None:
    documents = f'[{{"docno": "a", "text": "{TEXT}"}}, 5, {{"words": "These are its words."}}]'
    run = write(answer(GOOD, more=f', "documents": {documents}'))
    done = judge(run, tmp_path / "out", "-q")
    assert (done.status, means(tmp_path / "out")["CITATION_SUPPORT"]) == (0, 0.5)
