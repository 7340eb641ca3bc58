"""The verdict on a bare pair, by words or as a judgment says."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from typing import Any

from trecjudge.errors import JudgmentFailed
from trecjudge.evaluation.pairs.reading import BarePair
from trecjudge.judging.attest import NO_TEXT, STRICT_CUT, require_shared_script
from trecjudge.judging.offline.prepared import prepared_text, scripts_of
from trecjudge.judging.offline.support import Calibration, compare
from trecjudge.records import FULL, NONE, NOTHING_TO_CHECK, Failure, Judgment
from trecjudge.text.embeddings import Encoder
from trecjudge.text.languages import language_of_pair
from trecjudge.text.sentences import states_nothing
from trecjudge.text.tokens import scripts, tokenize
from trecjudge.text.visible import is_blank

DECIMALS = 4


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """What was decided on a pair; where it is unjudged, `failure` is the reason.

    `supported` and `full` are P(supported, fully or in part) and P(fully supported), `expected` the
    weight to be expected of a person; None where no attester has them. `language` is that of the
    pair; where it is `uncalibrated`, the numbers order pairs and are no probabilities. `start` and
    `end` are offsets of the evidence in the document, None without any; `words` is how long that
    is.
    """

    pair: BarePair
    words: int
    label: str | None = None
    expected: float | None = None
    full: float | None = None
    supported: float | None = None
    start: int | None = None
    end: int | None = None
    reason: str = ""
    attester: str = ""
    failure: Failure | None = None
    language: str = ""
    uncalibrated: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values, with the labels of people as they are written.

        What is no probability stands in `scores`.
        """
        labels = self.pair.labels
        scores = {"p_full": self.full, "p_supported": self.supported}
        none = dict.fromkeys(scores)
        return {
            "id": self.pair.pair_id,
            "group": self.pair.group,
            "line": self.pair.place.line,
            "label": self.label,
            "expected": None if self.uncalibrated else self.expected,
            **(none if self.uncalibrated else scores),
            "scores": scores if self.uncalibrated else None,
            "language": self.language,
            "evidence": None if self.start is None else {"start": self.start, "end": self.end},
            "reason": self.reason,
            "attester": self.attester,
            "failure": None if self.failure is None else asdict(self.failure),
            "human": labels[0] if len(labels) == 1 else list(labels) or None,
            "digest": digest_texts(self.pair),
        }


def digest_texts(pair: BarePair) -> str:
    """Return what tells the texts of a pair from others: the same in every file and release."""
    digest = hashlib.blake2b(digest_size=8)
    for text in (pair.sentence, pair.document):
        data = text.encode(errors="surrogatepass")
        digest.update(len(data).to_bytes(8) + data)
    return digest.hexdigest()


def judge_by_words(
    pair: BarePair,
    calibration: Calibration,
    strict: bool = False,
    encoder: Encoder | None = None,
) -> PairVerdict:
    """Return the verdict of the offline attester; no model is asked.

    With `strict` that is full support or none, by P(full). With an `encoder` meaning counts, too.
    """
    found = _judge(pair, calibration, strict, encoder)
    language = language_of_pair(pair.sentence, pair.document)
    return replace(found, language=language)


def _judge(
    pair: BarePair, calibration: Calibration, strict: bool, encoder: Encoder | None
) -> PairVerdict:
    if is_blank(pair.document):
        return PairVerdict(pair, 0, failure=Failure(NO_TEXT, "the document has no text"))
    document = prepared_text(pair.document)
    if is_blank(pair.sentence):  # as the citation judge has it
        reason, empty = "the sentence has no text", PairVerdict(pair, document.tokens)
        return replace(empty, label=NONE, expected=0.0, full=0.0, supported=0.0, reason=reason)
    if states_nothing(pair.sentence):
        reason = compare(pair.sentence, document, calibration).reason
        empty = PairVerdict(pair, document.tokens, NOTHING_TO_CHECK)
        return replace(empty, reason=reason, attester="lexical")
    try:
        ours, theirs = scripts(pair.sentence), scripts_of(pair.document)
        require_shared_script("sentence", ours, "document", theirs)
    except JudgmentFailed as failed:
        return PairVerdict(pair, document.tokens, failure=Failure(failed.kind, failed.message))
    found = compare(pair.sentence, document, calibration, encoder)
    score, full, supported = (
        round(n, DECIMALS) for n in (found.score, found.full, found.probability)
    )
    start, end = (found.start, found.end) if found.end > found.start else (None, None)
    label: str = found.label
    if strict:
        label = FULL if found.full >= STRICT_CUT else NONE
    return PairVerdict(
        *(pair, document.tokens, label, score, full, supported, start, end),
        reason=found.reason,
        attester="strict" if strict else "encoder" if encoder else "lexical",
        uncalibrated=bool(found.uncalibrated),
    )


def verdict_of(pair: BarePair, judgment: Judgment) -> PairVerdict:
    """Return the verdict that a judgment on the pair is."""
    evidence = judgment.evidence
    return PairVerdict(
        pair,
        len(tokenize(pair.document)),
        judgment.label,
        judgment.expected,
        start=evidence.start if evidence else None,
        end=evidence.end if evidence else None,
        reason=judgment.reason,
        attester=judgment.attester,
        failure=judgment.failure,
        language=language_of_pair(pair.sentence, pair.document),
    )
