"""Candidates in order: words close together, several rankings fused, newer documents raised."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, date, datetime
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import orjson

from trecjudge.baseline.index.filters import first_day
from trecjudge.baseline.index.records import Hits, VectorModel
from trecjudge.baseline.masking import mask_personal_data
from trecjudge.baseline.records import Chunk, RetrievedPassage
from trecjudge.baseline.terms import terms as analysed
from trecjudge.errors import PLANNED, InputError, JudgmentFailed, why
from trecjudge.files import open_target, read_text
from trecjudge.findings import brief
from trecjudge.models.model import Model, Program, ReplyLength
from trecjudge.text.sentences import split_sentences


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """A chunk with its score so far, and the parts of it by name."""

    chunk: Chunk
    score: float
    parts: dict[str, float]

    def with_score(self, score: float, **parts: float) -> ScoredChunk:
        """Return it with another score, and further parts."""
        return replace(self, score=score, parts=self.parts | parts)


def order_by_score(candidates: Iterable[ScoredChunk]) -> list[ScoredChunk]:
    """Return candidates by score, the best first; of equal ones by document and place in it."""
    return sorted(candidates, key=lambda c: (-c.score, c.chunk.doc_id, c.chunk.start))


def one_per_document(candidates: Iterable[ScoredChunk]) -> list[ScoredChunk]:
    """Return the first candidate of each document, in the order given."""
    first: dict[str, ScoredChunk] = {}
    for candidate in candidates:
        first.setdefault(candidate.chunk.doc_id, candidate)
    return list(first.values())


def passages_of(candidates: Sequence[ScoredChunk]) -> tuple[RetrievedPassage, ...]:
    """Return candidates as passages, ranked as they stand."""
    return tuple(
        RetrievedPassage(c.chunk, c.score, n, c.parts) for n, c in enumerate(candidates, 1)
    )


COSINE_WEIGHT = 0.5
"""What a cosine counts beside a score by words that is a share of the highest one that can be.
From 0.1 to 0.5 the same is found (`tests/benchmarks/bench_retrieval.py`): 0.5 lets vectors decide
where words find little. A sum of reciprocal ranks, which knows no scores, lost .13 of hit@3."""


def fuse_scores(
    by_words: Sequence[ScoredChunk], by_cosine: Sequence[ScoredChunk], mass: float
) -> list[ScoredChunk]:
    """Return all candidates by score by words / `mass` + COSINE_WEIGHT x cosine, the best first.

    `mass` is the idf of all words of the question, 0 where none is known. Both are absolute, so
    that a question whose words the documents lack is answered by vectors alone. A chunk keeps the
    parts of both. One that is not among the nearest counts as the last of them.
    """
    near = {_place(candidate): candidate for candidate in by_cosine}
    least = by_cosine[-1].score if by_cosine else 0.0
    fused = {
        place: candidate.with_score(COSINE_WEIGHT * candidate.score)
        for place, candidate in near.items()
    }
    for candidate in by_words:
        place = _place(candidate)
        known = near.get(place)
        cosine = least if known is None else known.score
        score = candidate.score / (mass or 1.0) + COSINE_WEIGHT * cosine
        fused[place] = candidate.with_score(score, **({} if known is None else known.parts))
    return order_by_score(fused.values())


def _place(candidate: ScoredChunk) -> tuple[str, int, int]:
    return candidate.chunk.doc_id, candidate.chunk.start, candidate.chunk.end


def day_of(written: str) -> date | None:
    """Return the day of a date in any shape that an index reads, None for no date."""
    day = first_day(written)
    return date.fromisoformat(day[:10]) if day else None


def raise_recent(candidates: Iterable[ScoredChunk], half_life: float) -> list[ScoredChunk]:
    """Return candidates with scores raised by a factor of 1 to 2, the best first.

    The factor is 1 + 2^(-age / half_life), with the age in days before the newest of them: 2 for
    the newest, 1.5 after a half-life. A document without a date keeps its score. So the same
    question gives the same order tomorrow. A date still to come, which may be a slip of the pen,
    counts as the newest, and takes nothing from the others.
    """
    given = [(candidate, day_of(candidate.chunk.document.date)) for candidate in candidates]
    newest = _newest([day for _, day in given if day])
    raised = []
    for candidate, day in given:
        if day and newest:
            factor = 1 + 2 ** (-max((newest - day).days, 0) / half_life)
            candidate = candidate.with_score(candidate.score * factor, recency=factor)
        raised.append(candidate)
    return order_by_score(raised)


def _newest(days: Sequence[date]) -> date | None:
    """Return the newest day that was; where all are still to come, the last; None without any."""
    today = datetime.now(UTC).date()
    return max((day for day in days if day <= today), default=max(days, default=None))


K1, B = 0.9, 0.4
"""How repetition and length count in a window."""
# BM25 counts words wherever they stand in a chunk. Two scores tell more, on its scale: the best
# two sentences in a row, and the neighbours of the question that are neighbours in the chunk too
# (the ordered pairs of Metzler and Croft, SIGIR 2005).
WINDOW_WORDS = 44.0
"""The usual length of two sentences, in words."""
WINDOW_WEIGHT, PAIRS_WEIGHT = 0.5, 0.25
"""How much either counts beside BM25: chosen on one half of the queries, and as good on the other
(`tests/benchmarks/bench_retrieval.py`)."""

FIRST = 50
"""Candidates that are looked at: with 100 the same is found, in nearly twice the time."""

HELD = 1024
"""Chunks whose terms are held, by sentence: some 15 MB."""

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class WeightedQuestion:
    """The terms of a question, each with its weight times idf, and its pairs with theirs."""

    terms: Mapping[str, float]
    pairs: Mapping[Pair, float]


def weigh_question(
    question: str,
    terms: Mapping[str, float],
    idf: Callable[[Iterable[str]], Mapping[str, float]],
) -> WeightedQuestion:
    """Return the wording of a question whose terms are known."""
    forms = analysed(question)
    rare = idf({*forms, *terms})
    weighed = {term: weight * rare.get(term, 0.0) for term, weight in terms.items()}
    pairs = {pair for pair in pairwise(forms) if pair[0] in terms or pair[1] in terms}
    return WeightedQuestion(
        weighed, {pair: sum(rare.get(form, 0.0) for form in pair) for pair in pairs}
    )


def add_closeness(
    candidates: Sequence[ScoredChunk], wording: WeightedQuestion
) -> list[ScoredChunk]:
    """Return candidates, the best first, with the scores of window and pairs added.

    Only the first `FIRST` are looked at: what is added is never below 0, so that they can only rise
    above the others.
    """
    closer = [_closer(candidate, wording) for candidate in candidates[:FIRST]]
    return order_by_score([*closer, *candidates[FIRST:]])


def _closer(candidate: ScoredChunk, wording: WeightedQuestion) -> ScoredChunk:
    sentences = _sentences_of(candidate.chunk.text)
    window = WINDOW_WEIGHT * best_window(sentences, wording.terms)
    pairs = PAIRS_WEIGHT * weigh_pairs(sentences, wording.pairs)
    return candidate.with_score(candidate.score + window + pairs, window=window, pairs=pairs)


@lru_cache(HELD)
def _sentences_of(text: str) -> list[list[str]]:
    """Return the terms of each sentence of a chunk; questions of one topic find the same chunks."""
    return [analysed(sentence) for sentence in split_sentences(text)]


def best_window(sentences: Sequence[Sequence[str]], terms: Mapping[str, float]) -> float:
    """Return the highest BM25 score of two sentences in a row, 0 where no term is there."""
    known = [[form for form in sentence if form in terms] for sentence in sentences]
    lengths = [len(sentence) for sentence in sentences]
    # The last sentence has none after it; of no sentence there is no window.
    windows = zip(known, [*known[1:], []], lengths, [*lengths[1:], 0], strict=False)
    return max((_score(a + b, m + n, terms) for a, b, m, n in windows if a or b), default=0.0)


def _score(known: Sequence[str], length: int, terms: Mapping[str, float]) -> float:
    norm = K1 * (1 - B + B * length / WINDOW_WORDS)
    counts: dict[str, int] = {}
    for form in known:
        counts[form] = counts.get(form, 0) + 1
    return sum(terms[term] * count / (count + norm) for term, count in counts.items())


def weigh_pairs(sentences: Iterable[Sequence[str]], pairs: Mapping[Pair, float]) -> float:
    """Return the sum over the pairs that stand in one of the sentences."""
    there = {pair for sentence in sentences for pair in pairwise(sentence) if pair in pairs}
    return sum(pairs[pair] for pair in sorted(there))


# The first passages put in another order, by what reads them: a model, or an endpoint.

GRADE_PASSAGES = Program(
    "grade_passages",
    "trecjudge.baseline.records:GradePassages",
    aligned_with="passages",
    length=ReplyLength(fixed=20, each=16),
)
AT_ONCE = 10
"""Passages of one request."""


class Ranks(Protocol):
    """Scores texts for a question, to rerank them: a model, or an endpoint's `/rerank`."""

    async def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return a score for each text, in this order; higher is better.

        Raises JudgmentFailed for this question, ModelError for all.
        """


@dataclass(frozen=True, slots=True)
class ModelRanks:
    """Grades passages 0 to 3 by a model; passages of one grade keep the order they had."""

    model: Model

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the grade of each text. Raises JudgmentFailed if one of them has none."""
        groups = [texts[start : start + AT_ONCE] for start in range(0, len(texts), AT_ONCE)]
        found = await asyncio.gather(*(self._grades(question, group) for group in groups))
        return [grade for grades in found for grade in grades]

    async def _grades(self, question: str, texts: Sequence[str]) -> list[float]:
        prediction = await self.model.predict(
            GRADE_PASSAGES, question=question, passages=list(texts)
        )
        given = {graded.number: float(graded.grade) for graded in prediction.grades}
        if set(given) != set(range(1, len(texts) + 1)):
            message = f"the grades are of passages {sorted(given)}, not of 1 to {len(texts)}"
            raise JudgmentFailed("parse", message, call=prediction.call)
        return [given[number] for number in range(1, len(texts) + 1)]


@dataclass(frozen=True, slots=True)
class PlannedRanks:
    """Grades of a plan: those that are cached; passages without any keep their order."""

    ranks: ModelRanks

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the grade of each text, as far as it is known. Raises JudgmentFailed."""
        try:
            return await self.ranks.scores(question, texts)
        except JudgmentFailed as failed:
            if failed.kind != PLANNED:
                raise
            return [0.0] * len(texts)


@dataclass(frozen=True, slots=True)
class MaskedRanks:
    """What `ranks` gives for texts without personal data of a known form."""

    ranks: Ranks

    async def scores(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return the score of each text; see `Ranks.scores`."""
        hidden = [mask_personal_data(text).text for text in texts]
        return await self.ranks.scores(mask_personal_data(question).text, hidden)


async def rerank(
    candidates: Sequence[ScoredChunk], question: str, ranks: Ranks, first: int
) -> list[ScoredChunk]:
    """Return candidates with the first `first` in the order of their new scores, the rest after.

    Of equal new scores the order stays. The rest keep their order, with scores below the others.
    """
    head, rest = candidates[:first], candidates[first:]
    if not head:
        return []
    scores = await ranks.scores(question, [candidate.chunk.text for candidate in head])
    given = [c.with_score(float(s), rerank=float(s)) for c, s in zip(head, scores, strict=True)]
    given.sort(key=lambda candidate: -candidate.score)
    lowest = given[-1].score
    return [*given, *(c.with_score(lowest - 1 / (1 + max(c.score, 0.0))) for c in rest)]


# The calibrated threshold of an index, in a file: from which confidence on an answer is tried.

NEAREST = 20
"""Chunks whose mean cosine is the confidence."""
BY_WORDS = "top BM25 over idf"


def by_vectors(model: VectorModel) -> str:
    """Return the name of the confidence that a model's vectors give."""
    return f"mean cosine of {NEAREST}, {model.name} {model.digest[:12]}"


def cosine_confidence(near: Hits) -> float:
    """Return the mean cosine of the nearest chunks, -1 to 1; 0 where there is none."""
    return sum(score for _, score in near) / len(near) if near else 0.0


def word_confidence(words: Hits, terms: Mapping[str, float], idf: Mapping[str, float]) -> float:
    """Return the top BM25 score over the idf of all terms, 0 to 1 or so: a weak sign."""
    mass = idf_mass(terms, idf)
    return words[0][1] / mass if words and mass > 0 else 0.0


def idf_mass(terms: Mapping[str, float], idf: Mapping[str, float]) -> float:
    """Return the idf of all terms of a question, each times its weight."""
    return sum(weight * idf.get(term, 0.0) for term, weight in terms.items())


def threshold_for(answerable: Sequence[float], others: Sequence[float] = ()) -> float:
    """Return the least confidence of a question to answer, from confidences of known ones.

    With only answerable ones that is their lowest. With others that the documents do not answer it
    is where answerable ones kept and others refused, as shares, are together the most; of several
    such the lowest. Raises ValueError without an answerable one.
    """
    if not answerable:
        raise ValueError("no answerable question")
    if not others:
        return min(answerable)
    known, wrong = sorted(answerable), sorted(others)

    def gain(least: float) -> float:
        kept = 1 - bisect_left(known, least) / len(known)
        return kept + bisect_left(wrong, least) / len(wrong)

    return max(known, key=lambda least: (round(gain(least), 9), -least))


MOST_WRITTEN = 100_000
"""Characters of a file: it has a few numbers and names."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """The least `confidence` of a question to answer, calibrated on one index.

    `by` names what gave the confidence, `index` the index, `index_version` what that held. It was
    calibrated with so many answerable `questions`, and `others` that the documents do not answer.
    """

    least: float
    by: str
    index: str
    index_version: str
    questions: int
    others: int = 0

    def check(self, confidence_by: str, index: str = "") -> None:
        """Raise InputError if it is of another confidence or, if an index is named, of another."""
        if self.by != confidence_by:
            given = f"it is of {self.by!r}, and here the confidence is {confidence_by!r}"
        elif index and self.index != index:
            given = f"it is of the index {self.index!r}, not of {index!r}"
        else:
            return
        raise InputError(f"the threshold does not hold here: {given}; calibrate it again")


def threshold_path(index: str) -> Path:
    """Return where the threshold of an index in a file lies: beside it."""
    return Path(f"{index}.threshold.json")


def write_threshold(path: Path, threshold: Threshold) -> None:
    """Write a threshold, whole or not at all. Raises OutputError."""
    with open_target(path) as file:
        options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        file.write(orjson.dumps(asdict(threshold), option=options))


def read_threshold(path: Path) -> Threshold:
    """Return the threshold of a file. Raises InputError for a file that has none."""
    try:
        record = orjson.loads(read_text(path, MOST_WRITTEN))
    except FileNotFoundError as error:
        raise InputError(
            f"{path}: no such file; `rag search INDEX --calibrate` writes it"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {why(error)}") from error
    except orjson.JSONDecodeError as error:
        raise InputError(f"{path}: is no JSON: {error}") from error
    names = [field.name for field in fields(Threshold)]
    if not isinstance(record, dict) or set(record) != set(names):
        message = f"has not the fields {', '.join(names)}"
        raise InputError(f"{path}: {message}; calibrate it again")
    least = record["least"]
    if isinstance(least, bool) or not isinstance(least, int | float):
        raise InputError(f"{path}: least is {brief(least)}, not a number")
    return Threshold(**record)
