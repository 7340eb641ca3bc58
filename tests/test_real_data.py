"""Real runs and topics: all of it is read, and what is found is true."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.reading import reading
from trecjudge.findings import Finding
from trecjudge.inputs.topics import read_topics

SUPPORT = Path("data/rag25_support")


@pytest.mark.parametrize(
    ("name", "run_id", "format_", "responses", "uncited", "citations"),
    [
        ("ragtime/T1_run_1.jsonl", "T1-e2e-omt", "ragtime", 103, 1, 2687),
        ("ragtime/T1_run_2.jsonl", "T1-e2e-omt-weak", "ragtime", 103, 1, 2719),
        (
            "dragun/dragun-organizers-starter-kit-task-2",
            "dragun-organizers-starter-kit-task-2",
            "dragun",
            30,
            0,
            355,
        ),
        ("dragun/garag_rubric", "garag", "dragun", 30, 0, 395),
        ("dragun/organizer-gpt-oss-t2", "organizer-gpt-oss-task-2", "dragun", 30, 0, 317),
        ("rag24/gpt-4o.jsonl", "baseline_rag24.test_gpt-4o_top20", "rag24", 60, 1, 887),
        ("rag25/longeval-default.jsonl", "default_openai_llm_v1", "rag25", 47, 0, 199),
        ("rag25/longeval-official-naive-baseline.jsonl", "my-system", "rag25", 47, 0, 470),
        (
            "rag25/longeval-semantic-minilm.jsonl",
            "semantic_minilm_openai_llm_v1",
            "rag25",
            47,
            0,
            200,
        ),
    ],
)
def test_a_run_without_documents(
    name: str,
    run_id: str,
    format_: str,
    responses: int,
    uncited: int,
    citations: int,
    shared: Path,
) -> None:
    taken: list[str] = []
    found = reading(shared / "data/runs" / name, taken=lambda path, name, why: taken.append(name))
    assert taken == [format_]
    assert {response.run_id for response in found.responses} == {run_id}
    assert len(found.responses) == responses
    assert Counter(found.kinds) == {"documents_not_given": responses - uncited}
    resolved = [c.doc_id for r in found.responses for s in r.sentences for c in s.citations]
    assert (len(resolved), None in resolved) == (citations, False)


def test_the_runs_with_documents(shared: Path) -> None:
    files = sorted((shared / SUPPORT / "runs").iterdir())
    findings: list[Finding] = []
    topics = read_topics(shared / SUPPORT / "topics.jsonl", findings.append)
    found = reading(*files, topics=topics)
    # Eight runs lack a topic or more, two each of seven and six topics, and four of one.
    assert (len(files), len(topics), len(found.responses)) == (53, 8, 406)
    assert Counter(found.kinds) == {"document_missing": 165, "response_missing": 8}
    sentences = [sentence for r in found.responses for sentence in r.sentences]
    assert sum(len(sentence.citations) for sentence in sentences) == 4535
    assert findings == []


@pytest.mark.parametrize(
    ("name", "count", "filled"),
    [
        ("rag-topics-2024.txt", 301, ["title"]),
        ("trec_rag_2025_queries.jsonl", 105, ["title"]),
        (
            "ragtime25_main_eng.jsonl",
            122,
            ["title", "problem_statement", "background", "limit"],
        ),
        ("dragun25.native.jsonl", 30, ["title", "body", "url"]),
        ("dragun25.requests.jsonl", 30, ["title", "problem_statement", "background"]),
        ("biogen.topics.json", 30, ["title", "problem_statement"]),
        ("neuclir-report-requests.txt", 59, []),
    ],
)
def test_a_topic_file(name: str, count: int, filled: list[str], shared: Path) -> None:
    findings: list[Finding] = []
    topics = read_topics(shared / "data/topics" / name, findings.append)
    assert (len(topics), findings) == (count, [])
    for topic in topics.values():
        fields = ("title", "problem_statement", "background", "body", "url", "limit")
        assert [field for field in fields if getattr(topic, field)] == filled


def test_dragun_runs_answer_dragun_topics(shared: Path) -> None:
    topics = read_topics(shared / "data/topics/dragun25.native.jsonl", lambda finding: None)
    found = reading(*sorted((shared / "data/runs/dragun").iterdir()), topics=topics)
    assert (len(found.responses), set(found.kinds)) == (90, {"documents_not_given"})
    assert all(topic.body for topic, _ in found.pairs)
