"""The invented runs, banks and scripted decisions by which ARGUE's measures are checked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.fakes import ScriptedModel
from tests.reading import documents_of
from trecjudge.errors import JudgmentFailed
from trecjudge.inputs.nuggets.bank_files import read_banks
from trecjudge.inputs.runs import RunReader
from trecjudge.inputs.topics import read_topics
from trecjudge.judges.argue import ArgueJudge
from trecjudge.judges.argue.program import Stated
from trecjudge.judging.panel import NamedJudge, panel_spec
from trecjudge.judging.runner import JudgedResponse, Runner
from trecjudge.models.model import Model
from trecjudge.records import Response, Topic
from trecjudge.scores.leaderboard import Leaderboard

Fails = Callable[[Mapping[str, Any]], bool]
DATA = Path(__file__).parent / "argue"
DECISIONS = json.loads((DATA / "decisions.json").read_text())
TOPICS = ("901", "902", "903")
_DOCUMENTS = [json.loads(line) for line in (DATA / "documents.jsonl").read_text().splitlines()]
_ID_OF = {f"{d['title']}\n{d['text']}": d["docid"] for d in _DOCUMENTS}


def expected(name: str) -> dict[str, Any]:
    """Return a file of expected values."""
    found: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text())
    return found


def scripted(fails: Fails = lambda inputs: False) -> ScriptedModel:
    """Return a model that decides as the script says; what is not listed is no.

    Where `fails` says so, its reply cannot be read.
    """

    def answer(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        if fails(inputs):
            raise JudgmentFailed("parse", "unreadable")
        return _answer(inputs)

    return ScriptedModel(answer)


def _answer(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    sentence = inputs["sentence"]
    if "document" in inputs:
        attested = [sentence, _ID_OF[inputs["document"]]] in DECISIONS["attested"]
        return {"label": "full_support" if attested else "no_support", "evidence": ""}
    if "earlier" in inputs:
        return {
            "negative": sentence in DECISIONS["negative"],
            "needs_citation": sentence in DECISIONS["requires_citation"],
            "first": sentence not in DECISIONS["not_first"],
        }
    return {"stated": [_stated(sentence, *q) for q in enumerate(inputs["questions"], 1)]}


def _stated(sentence: str, number: int, question: str) -> Stated:
    text, _, listed = question.partition(" (1) ")
    answers = [answer.partition(") ")[2] or answer for answer in f"1) {listed}".split("; (")]
    own = [i for i, a in enumerate(answers, 1) if [sentence, text, a] in DECISIONS["nugget"]]
    confirms = [sentence, text] in DECISIONS["confirms_unanswerable"]
    return Stated(number=number, reason="So.", answers=[1] if confirms else own)


def pairs(bank: Path, runs: Sequence[str]) -> list[tuple[Topic, Response]]:
    """Return the responses of runs with their topics and nuggets."""
    banks = read_banks([bank], lambda finding: None)
    topics = {
        topic_id: replace(topic, nuggets=banks[topic_id].nuggets)
        for topic_id, topic in read_topics(DATA / "topics.jsonl", lambda finding: None).items()
    }
    store = documents_of([DATA / "documents.jsonl"], DATA, lambda finding: None)
    files = [DATA / "runs" / f"{run}.jsonl" for run in runs]
    reader = RunReader(files, lambda finding: None, store=store, dataset="ragtime")
    return [(topics[response.topic_id], response) for _, response in reader]


def judged(
    judge: ArgueJudge, model: Model, given: Sequence[tuple[Topic, Response]]
) -> list[JudgedResponse]:
    """Return the responses judged."""

    async def collect() -> list[JudgedResponse]:
        panel = [NamedJudge("argue", judge)]
        return [found async for found in Runner(panel, model).run(given)]

    return asyncio.run(collect())


def board(
    judge: ArgueJudge, found: Sequence[JudgedResponse], topics: Sequence[str] | None = TOPICS
) -> Leaderboard:
    """Return the finished leaderboard of judged responses."""
    spec = panel_spec([NamedJudge("argue", judge)])
    made = Leaderboard(spec, topics)
    for each in found:
        made.add(each.response, [replace(j, judge="argue") for j in each.judgments])
    made.finish()
    return made
