"""The weights of claims, from a file or by a model: `claim_weights` of the judge `attribution`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from trecjudge.errors import InputError, JudgmentFailed, unknown, why
from trecjudge.findings import Finding, brief
from trecjudge.inputs.sources.containers import lines
from trecjudge.measures import HUGE
from trecjudge.models.model import Model, Program, ReplyLength
from trecjudge.records import Claim, Judgment, Place, Topic

KEYS = ("topic_id", "run_id", "claim", "sentence_index", "weight")
Key = tuple[str, str, str | int]
"""topic, run ("" for every run), and the claim's text or the index of its sentence"""


MODEL = "model"
"""In place of a file: a model weighs the claims of each answer."""
WEIGH = Program(
    "weigh_claims",
    "trecjudge.judging.claims.program:WeighClaims",
    aligned_with="claims",
    length=ReplyLength(fixed=10, each=3),
)


async def weigh_by_model(topic: Topic, claims: Sequence[Claim], model: Model) -> list[Claim]:
    """Return the claims of an answer with the weights that a model gives them, 0 to 10.

    A single claim weighs whatever it weighs: for it no model is asked. Raises JudgmentFailed.
    """
    if len(claims) < 2:
        return list(claims)
    parts = (topic.title, topic.problem_statement, topic.background, topic.body)
    question = "\n".join(dict.fromkeys(filter(None, map(str.strip, parts))))
    if not question:
        raise JudgmentFailed("no_topic_text", "nothing is known of the topic: --rag-topics")
    prediction = await model.predict(
        WEIGH, question=question, claims=[claim.text for claim in claims]
    )
    weights: list[float] = prediction.fields["weights"]
    if not any(weights):
        raise JudgmentFailed("empty", f"the model gives each of {len(claims)} claims the weight 0")
    return [replace(c, importance=weight) for c, weight in zip(claims, weights, strict=True)]


def _same(text: str) -> str:
    """Return what two ways to write a claim have in common."""
    return " ".join(text.split()).rstrip(" .!。！").casefold()


@dataclass(frozen=True, slots=True)
class Importance:
    """Weights of claims, each a finite number >= 0, with the line of the file that gives it."""

    path: str
    weights: Mapping[Key, tuple[float, int]]

    def key_of(self, run_id: str, topic_id: str, claim: Claim) -> Key | None:
        """Return the row that weighs a claim: by words before sentence, of its run first."""
        wanted: tuple[str | int, ...] = (_same(claim.text), claim.sentence_index)
        keys = ((topic_id, run, what) for what in wanted for run in (run_id, ""))
        return next((key for key in keys if key in self.weights), None)

    def weigh(self, run_id: str, topic_id: str, claims: Iterable[Claim]) -> list[Claim]:
        """Return claims with the weights of the file; one that it does not name keeps its own."""
        keyed = ((claim, self.key_of(run_id, topic_id, claim)) for claim in claims)
        return [replace(c, importance=self.weights[key][0]) if key else c for c, key in keyed]

    def unused(self, judged: Iterable[Iterable[Judgment]]) -> Iterator[Finding]:
        """Yield a finding for each row that weighs no claim of a job, with what it does not know.

        `judged` are the judgments of its responses.
        """
        used: set[Key | None] = set()
        topics: dict[str, set[str]] = {}
        for judgment in (one for response in judged for one in response):
            topics.setdefault(judgment.topic_id, set()).add(judgment.run_id)
            if judgment.claim is not None:
                used.add(self.key_of(judgment.run_id, judgment.topic_id, judgment.claim))
        runs = dict.fromkeys(run for own in topics.values() for run in own)
        for key, (_, line) in self.weights.items():
            if key in used:
                continue
            topic_id, run_id, what = key
            of = f" of run {run_id}" if run_id else ""
            if topic_id not in topics:
                lacks = unknown("topic", topic_id, topics)
            elif run_id and run_id not in topics[topic_id]:
                lacks = f"no response on topic {topic_id}: {unknown('run', run_id, runs)}"
            elif isinstance(what, int):
                lacks = f"no claim of sentence {what}{of} on topic {topic_id} is left to it"
            else:
                lacks = f"no claim{of} on topic {topic_id} reads {brief(what)}"
            place = Place(self.path, line)
            yield Finding("claim_weight_unused", place, lacks, topic_id=topic_id)


@lru_cache(maxsize=8)
def importance_at(path: str) -> Importance:
    """Return the weights of a file: JSONL of topic_id, claim or sentence_index, weight; run_id.

    `sentence_index` counts from 0, as in judgments. Raises InputError with the line.
    """
    weights: dict[Key, tuple[float, int]] = {}
    try:
        found = [(number, line) for number, line in lines(Path(path)) if line.strip()]
    except OSError as error:
        raise InputError(f"claim_weights: {path}: cannot be read: {why(error)}") from error
    for number, line in found:
        try:
            key, weight = _row(orjson.loads(line))
            if key in weights:
                raise ValueError(f"line {weights[key][1]} weighs the same")
        except ValueError as error:
            raise InputError(f"claim_weights: {path}:{number}: {error}") from error
        weights[key] = weight, number
    if not weights:
        raise InputError(f"claim_weights: {path}: no line weighs a claim")
    return Importance(path, weights)


def _row(found: Any) -> tuple[Key, float]:
    if not isinstance(found, dict):
        raise ValueError("not a JSON object")
    record: dict[str, Any] = found
    record.setdefault("weight", None)
    for name in record:
        if name not in KEYS:
            raise ValueError(unknown("key", name, KEYS))
    topic_id, run_id, weight = record.get("topic_id"), record.get("run_id"), record["weight"]
    named = [record[name] for name in ("claim", "sentence_index") if record.get(name) is not None]
    if type(topic_id) not in (str, int) or type(run_id) not in (str, int, type(None)):
        raise ValueError("give topic_id, and run_id if the weight is of one run only")
    if type(weight) not in (int, float) or not 0 <= weight < HUGE:
        raise ValueError(f"weight is {brief(weight)}, not a finite number >= 0")
    what = named[0] if len(named) == 1 else None
    if isinstance(what, str) and what.strip() and "claim" in record:
        what = _same(what)
    elif type(what) is not int or what < 0 or "sentence_index" not in record:
        raise ValueError("give one of claim (its text) and sentence_index (from 0)")
    return (str(topic_id), "" if run_id is None else str(run_id), what), float(weight)
