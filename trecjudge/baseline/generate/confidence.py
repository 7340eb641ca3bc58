"""How sure an answer is: by the words of its passages, by the tokens of a model, or by votes."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from trecjudge.baseline.records import Answer, AnswerSentence, ConfidenceSource
from trecjudge.errors import JudgmentFailed
from trecjudge.findings import plural
from trecjudge.judging.offline.prepared import prepare
from trecjudge.judging.offline.support import SupportComparison, compare
from trecjudge.models.envelope import mean_chance
from trecjudge.models.model import Prediction
from trecjudge.records import FULL, ModelCall

BY: Mapping[ConfidenceSource, str] = {
    "words": "offline attester: mean P(full support) of the sentences by a passage that they cite",
    "logprobs": "model: mean over the sentences of exp(mean log-probability of their tokens)",
    "votes": "model: mean share of further answers that say a sentence, by the offline attester",
}
"""What `confidence` is. Only that by words is calibrated."""
LACKING: Mapping[ConfidenceSource, str] = {
    "words": "the language has no calibration",
    "logprobs": "the endpoint gave no log-probabilities of their tokens, or a module wrote them",
    "votes": "too few further answers came, or the language has no calibration",
}
"""Why an answer has no `confidence`."""
TEMPERATURE = 1.0
"""That of the further answers: at 0 they would all be the same."""


@dataclass(frozen=True, slots=True)
class AnswerConfidence:
    """How sure an answer is, 0 to 1, and what that is from; both None where it is not known.

    `grounded`: each sentence has most probably full support by a passage that it cites.
    """

    value: float | None
    source: str | None
    grounded: bool | None

    @classmethod
    def of(cls, answer: Answer) -> AnswerConfidence:
        """Return the confidence of an answer, by words unless a model was asked for it."""
        best = [_best_support(sentence) for sentence in answer.sentences]
        given = [None if found.uncalibrated else found.full for found in best]
        if answer.confidence_from not in ("", BY["words"]):
            given = [sentence.confidence for sentence in answer.sentences]
        known = [one for one in given if one is not None]
        grounded = all(found.label == FULL for found in best) if best else None
        if not known or len(known) < len(given):
            return cls(None, None, grounded)
        return cls(round(fmean(known), 4), answer.confidence_from or BY["words"], grounded)


def lacking_confidence(answers: Iterable[Mapping[str, Any]], source: ConfidenceSource) -> str:
    """Return how many answers, as objects, have no confidence, and why; "" where all have one."""
    known = [one["confidence"] is not None for one in answers if not one["abstained"]]
    if all(known):
        return ""
    lacking = f"{known.count(False)} of {plural(len(known), 'answer')}"
    return f"{lacking} have no confidence: {LACKING[source]}"


def _best_support(sentence: AnswerSentence) -> SupportComparison:
    passages = (one.passage.chunk.text for one in sentence.support)
    found = (compare(sentence.text, prepare(text)) for text in passages)
    return max(found, key=lambda one: one.full)


def chance_of_sentence(call: ModelCall, text: str) -> float | None:
    """Return exp of the mean log-probability of the tokens of a sentence in a reply, 0 to 1.

    Quotes and field names do not count: what is copied is sure. None where the endpoint gave no
    log-probabilities, or the reply does not have the sentence letter by letter.
    """
    reply = call.reply.encode(errors="surrogatepass")
    for ascii_only in (False, True):
        written = json.dumps(text, ensure_ascii=ascii_only).encode(errors="surrogatepass")
        if found := re.search(rb'"text"\s*:\s*(' + re.escape(written) + rb")", reply):
            return mean_chance(call.logprobs, found.start(1) + 1, found.end(1) - 1)
    return None


def votes_sampling(votes: int, seed: int | None) -> list[dict[str, Any]]:
    """Return how each further answer is sampled; equal seeds would give equal answers."""
    return [
        {"temperature": TEMPERATURE} | ({} if seed is None else {"seed": seed + number})
        for number in range(1, votes + 1)
    ]


async def texts_of_votes(
    asked: Iterable[Awaitable[Prediction]], hide: Callable[[str], str]
) -> list[str]:
    """Return what further answers say, "" of one that has no answer; those that fail are left out.

    There are none where no more than half came. `hide` masks what they say. Raises ModelError.
    """

    async def text_of(asked: Awaitable[Prediction]) -> str | None:
        try:
            found = await asked
        except JudgmentFailed:
            return None
        said = found.fields["sentences"] if found.fields["answerable"] != "no" else ()
        return hide(" ".join(" ".join(one.text.split()) for one in said))

    texts = await asyncio.gather(*map(text_of, asked))
    came = [text for text in texts if text is not None]
    return came if 2 * len(came) > len(texts) else []


def by_votes(
    sentences: Iterable[AnswerSentence], answers: Sequence[str]
) -> tuple[AnswerSentence, ...]:
    """Return sentences, the confidence of each the share of further answers that say it.

    As SelfCheckGPT (Manakul et al., EMNLP 2023), by the offline attester: an answer says a sentence
    if it most probably supports it in full. Without answers, and in a language for which the
    attester is not calibrated, there is no confidence.
    """
    said = [prepare(text) for text in answers if text]
    voted = []
    for sentence in sentences:
        found = [compare(sentence.text, answer) for answer in said]
        known = answers and not any(one.uncalibrated for one in found)
        share = sum(one.label == FULL for one in found) / len(answers) if known else None
        voted.append(replace(sentence, confidence=share))
    return tuple(voted)
