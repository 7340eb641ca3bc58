"""Documents of another collection than that of the runs, at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commandline import Done, judge
from tests.endpoint import attesting, serving
from tests.reading import Write, reading
from trecjudge.inputs.documents.store import HeldDocuments
from trecjudge.records import Document

TEXT = "The ferry Perch entered service on 3 May 2022."


def run(run_id: str, cited: list[str], topics: int = 1, more: str = "") -> str:
    """Return a run that cites each of these documents in a sentence, on so many topics."""
    sentences = ", ".join(f'{{"text": "{TEXT}", "citations": ["{i}"]}}' for i in cited)
    return "".join(
        f'{{"metadata": {{"team_id": "t", "run_id": "{run_id}", "topic_id": "{topic}"}},'
        f' "responses": [{sentences}]{more}}}\n'
        for topic in range(topics)
    )


def judged(runs: Path, documents: Path, tmp_path: Path, *more: str | Path) -> Done:
    return judge(runs, tmp_path / "out", "--json", "--documents", documents, *more)


@pytest.fixture
def runs(write: Write, tmp_path: Path) -> Path:
    write(run("r", ["d1", "d2"], topics=3), "runs/r.jsonl")
    write(run("s", ["d1", "d3"], topics=3), "runs/s.jsonl")
    return tmp_path / "runs"


WRONG = {
    "another collection": '{"docid": "x1", "text": "T."}\n{"docid": "x2", "text": "T."}',
    "topics": '{"topic_id": "0", "title": "Q"}\n{"id": "1", "title": "Q"}',
    "topics in TSV": "0\tWhat is it?\n1\tWhat else?\n",
}


@pytest.mark.parametrize("flags", [[], ["--no-check"], ["--max-runs", "1"], ["--run", "s"]])
@pytest.mark.parametrize("documents", WRONG.values(), ids=WRONG)
def test_another_collection_stops_with_both_kinds_of_ids(
    documents: str, flags: list[str], runs: Path, write: Write, tmp_path: Path
) -> None:
    done = judged(runs, write(documents, "wrong"), tmp_path, *flags)
    (line,) = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert done.status == 1
    assert "0 of" in line and "'d1'" in line and ("'x1', 'x2'" in line or "'1'" in line)
    assert not list((tmp_path / "out").glob("*.leaderboard.txt"))


def test_it_stops_before_a_call_is_paid(
    runs: Path, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = write(WRONG["another collection"], "wrong")
    with serving(attesting("full_support")) as server:
        for name, value in {"BASE_URL": server.url, "MODEL": "m", "API_KEY": "k"}.items():
            monkeypatch.setenv(f"OPENAI_{name}", value)
        done = judged(runs, wrong, tmp_path, "--use-env-llm", "--no-check")
        assert (done.status, len(server.requests)) == (1, 0)


def test_one_run_of_another_collection_is_a_finding_of_it(
    runs: Path, write: Write, tmp_path: Path
) -> None:
    write(run("astray", ["z1", "z2"]), "runs/a.jsonl")
    documents = write("".join(f"d{n}\t{TEXT}\n" for n in range(9)), "d.tsv")
    done = judged(runs, documents, tmp_path)
    summary = json.loads(done.out)
    assert (done.status, summary["findings"]["documents_elsewhere"]) == (0, 1)
    assert summary["findings_by_run"]["documents_elsewhere"] == {"astray": 1}
    assert (
        "run 'astray': 0 of 2 citations" in done.err
        and "'z1', 'z2'; --documents has 'd0'" in done.err
    )


def test_a_tiny_overlap_is_warned_of_with_both_figures(write: Write, tmp_path: Path) -> None:
    runs = write(run("r", [f"z{n}" for n in range(99)] + ["d1"], topics=10))
    done = judged(runs, write(f"d1\t{TEXT}\nd2\tT.\n", "d.tsv"), tmp_path)
    assert (done.status, json.loads(done.out)["findings"]["documents_elsewhere"]) == (0, 1)
    assert "10 of 1000 citations are of documents in --documents; cited are 'z0'" in done.err


@pytest.mark.parametrize(("found", "warned"), [(5, 0), (4, 1)], ids=["a twentieth", "fewer"])
def test_a_twentieth_of_the_citations_is_enough(
    found: int, warned: int, write: Write, tmp_path: Path
) -> None:
    cited = [f"d{n}" for n in range(found)] + [f"z{n}" for n in range(100 - found)]
    documents = write("".join(f"d{n}\t{TEXT}\n" for n in range(9)), "d.tsv")
    done = judged(write(run("r", cited)), documents, tmp_path)
    assert json.loads(done.out)["findings"].get("documents_elsewhere", 0) == warned


def test_what_runs_carry_is_judged_beside_another_collection(write: Write, tmp_path: Path) -> None:
    runs = write(run("r", ["d1"], more=f', "documents": {{"d1": "{TEXT}"}}'))
    done = judged(runs, write("x1\tT.\n", "d.tsv"), tmp_path)
    assert (done.status, "what the runs carry themselves is judged" in done.err) == (0, True)


@pytest.mark.parametrize(
    ("more", "status", "kind"),
    [
        pytest.param('{"call": "d1", "text": "T."}\n5\n{"id": ', 3, "document_unknown", id="lost"),
        pytest.param('{"call": "q", "text": "T."}', 1, "", id="more cited than lost"),
    ],
)
def test_what_is_cited_may_be_in_records_that_are_lost(
    more: str, status: int, kind: str, runs: Path, write: Write, tmp_path: Path
) -> None:
    documents = write(f'{{"docid": "x1", "text": "T."}}\n{more}')
    done = judged(runs, documents, tmp_path)
    assert done.status == status
    if kind:
        summary = json.loads(done.out)
        assert summary["findings"][kind] == 12
        assert summary["findings"]["documents_elsewhere"] == 3  # of all, and of each run


def test_runs_that_cite_nothing_need_no_documents(write: Write, tmp_path: Path) -> None:
    done = judged(write(run("r", []) + run("r", [], 2)), write("x1\tT.", "d.tsv"), tmp_path)
    assert done.status == 0


def test_an_only_run_is_not_compared_with_others(write: Write) -> None:
    store = HeldDocuments({"d1": Document("d1", "T.")})
    found = reading(write(run("r", ["z1"]), "a"), store=store)
    assert found.kinds == ["document_missing"]
