"""Every format, through the rules of its track as `check` applies them."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.baseline.generate.material import answer, passage
from tests.commandline import command
from tests.reading import reading
from trecjudge.baseline.generate.formats import FORMATS, RunFacts, answer_limits, format_for
from trecjudge.baseline.records import Answer, Chunk
from trecjudge.check.rules import all_tracks
from trecjudge.errors import InputError
from trecjudge.inputs.topics import read_topics
from trecjudge.records import Topic

SEGMENT = "msmarco_v2.1_doc_12_345#{}_99"
UUID = "0f0e0d0c-1111-4222-8333-44445555666{}"


@dataclass(frozen=True)
class Shape:
    """The topics of a track as their file has them, and the ids of its documents."""

    topics: str
    ids: str

    def documents(self) -> list[str]:
        return [self.ids.format(n) for n in (1, 2, 3)]


def two(*records: dict[str, Any]) -> str:
    return "\n".join(map(json.dumps, records)) + "\n"


def rag(*ids: str) -> str:
    return two(*({"id": i, "title": f"What is “known” of {i}?"} for i in ids))


def ragtime(*ids: str) -> str:
    same = {"collection_id": "ragtime/1/all", "title": "Trams", "limit": 2000}
    texts = {"background": "I teach.", "problem_statement": "Tell me of trams."}
    return two(*({"topic_id": i, "request_id": i} | same | texts for i in ids))


ARTICLES = two(
    *(
        {"url": "u", "title": "A tram", "headings": "h", "body": "It runs.", "docid": docid}
        for docid in ("msmarco_v2.1_doc_99_1", "msmarco_v2.1_doc_99_2")
    )
)
SHAPES = {
    "rag24": Shape("2024-11\twhat do trams cost\n2024-12\twho pays\n", SEGMENT),
    "rag25": Shape(rag("11", "12"), SEGMENT),
    "rag26": Shape("rag2026-1\tWhat do trams cost?\nrag2026-2\tWho pays?\n", "shard_0{}_17"),
    "longeval26": Shape(rag("a" * 32, "b" * 32), "4711{}"),
    "ragtime25": Shape(ragtime("1001", "1002"), f"{UUID}_7"),
    "ragtime26": Shape(ragtime("2001", "2002"), f"{UUID}_7"),
    "dragun25": Shape(ARTICLES, SEGMENT),
    "neuclir24": Shape(
        two(*({"request_id": i, "problem_statement": "Trams?", "limit": 2000} for i in "12")),
        UUID,
    ),
    "biogen25": Shape(
        json.dumps([{"id": i, "question": "What is it?", "topic": "trams"} for i in (181, 182)]),
        "1234{}",
    ),
    "ikat25": Shape(two(*({"turn_id": i, "title": "Trams?"} for i in ("1_2", "1_3"))),
                    "clueweb22-en0001-02-0000{}:7"),
}  # fmt: skip


def checked(
    name: str, folder: Path, answers: list[Answer], facts: RunFacts
) -> tuple[int, list[str]]:
    """Write answers in a format; return the exit status of `check`, and what it found."""
    run = folder / "run.jsonl"
    run.write_text("".join(f"{json.dumps(format_for(name).record(a, facts))}\n" for a in answers))
    done = command("check", run, "--rag-topics", folder / "topics", "--json")
    report = json.loads(done.out)
    (one,) = report["runs"]
    assert one["track"] == name
    return done.status, [broken["rule"] for broken in one["violations"]]


def topics(name: str, folder: Path) -> list[Topic]:
    (folder / "topics").write_text(SHAPES[name].topics)
    return list(read_topics(folder / "topics", lambda finding: None).values())


def test_every_track_with_answers_has_a_format() -> None:
    # BioGen's task A gives the answers; CheckThat's articles are of claims, not of topics.
    assert (
        set(FORMATS) == set(SHAPES) == set(all_tracks()) - {"autojudge", "biogen25a", "checkthat26"}
    )


@pytest.mark.parametrize("empty", [0, 1], ids=["the first abstains", "the second abstains"])
@pytest.mark.parametrize("name", FORMATS)
def test_a_run_passes_the_check_of_its_track(name: str, empty: int, tmp_path: Path) -> None:
    first, second = topics(name, tmp_path)
    one, other, third = SHAPES[name].documents()
    cited = [("Trams cost “much”.", [one, other]), ("Cities pay.", [other]), ("So it is.", [third])]
    facts = RunFacts("extractive-bm25", "lab", "extractive: sentences of passages, no model")
    answers = [answer(first, cited), answer(second, cited)]
    answers[empty] = replace(answer((first, second)[empty], []), abstained="nothing was found")
    status, rules = checked(name, tmp_path, answers, facts)
    read = reading(tmp_path / "run.jsonl").responses
    assert [response.abstained for response in read] == [(None, True)[n == empty] for n in (0, 1)]
    assert status == 0
    assert set(rules) <= {"response_empty", "field_missing"}


@pytest.mark.parametrize("name", FORMATS)
def test_a_full_answer_is_not_too_long(name: str, tmp_path: Path) -> None:
    first, second = topics(name, tmp_path)
    limits = answer_limits(format_for(name).track, first)
    texts: list[str] = []
    while limits.fit([*texts, "Ten words of ﬁne text stand in this long sentence."]):
        texts.append("Ten words of ﬁne text stand in this long sentence.")
    doc_ids = SHAPES[name].documents()[: limits.citations]
    long = [(text, doc_ids) for text in texts]
    facts = RunFacts("a" * 20, "lab", "x")
    status, rules = checked(name, tmp_path, [answer(t, long) for t in (first, second)], facts)
    assert (status, "too_long" in rules) == (0, False)
    one_more = [(*long, long[0])]
    status, rules = checked(name, tmp_path, [answer(first, one_more[0])], facts)
    assert "too_long" in rules


def test_how_an_answer_is_declared() -> None:
    facts = RunFacts("r", "lab", "extractive: no model")
    made = {name: format_for(name).record(answer(Topic("1"), []), facts) for name in FORMATS}
    declared = {name for name, record in made.items() if "extractive" in json.dumps(record)}
    # These have no place for it: the name of the run says it.
    assert set(FORMATS) - declared == {"rag24", "dragun25", "neuclir24"}
    assert set(made["rag26"]["metadata"]) == {
        "team_id", "narrative_id", "narrative", "run_id", "run_desc",
    }  # fmt: skip


def test_documents_are_carried_only_if_asked_for() -> None:
    whole = {"d": passage("d", "Trams run.", title="Trams").chunk}

    def look_up(doc_id: str) -> Chunk | None:
        return whole.get(doc_id)

    said = answer(Topic("1", "t"), [("Trams run.", ["d", "gone"])])
    facts = RunFacts("r", "lab", "x", look_up)
    carried = format_for("rag25").record(said, facts)["documents"]
    assert carried == {"d": {"docid": "d", "title": "Trams", "text": "Trams run."}}
    assert "documents" not in format_for("rag25").record(said, RunFacts("r", "lab", "x"))


@pytest.mark.parametrize(
    ("name", "run_id", "fits"),
    [("rag26", "a" * 20, True), ("rag26", "a" * 21, False), ("rag25", " ", False)],
)
def test_a_run_id_that_the_track_refuses(name: str, run_id: str, fits: bool) -> None:
    facts = RunFacts(run_id, "lab", "x")
    if fits:
        format_for(name).check(facts)
        return
    with pytest.raises(InputError, match="--run-id"):
        format_for(name).check(facts)


def test_names_of_formats() -> None:
    assert format_for("ragtime") is FORMATS["ragtime26"]
    with pytest.raises(InputError, match="did you mean 'rag25'"):
        format_for("rag-25")
