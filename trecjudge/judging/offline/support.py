"""Support of a sentence by a document: weighed features, a label and its reason."""

from __future__ import annotations

import json
import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

import orjson

from trecjudge.errors import InputError, why
from trecjudge.judging.offline.features import Features, Measurements, measure, overlap_of
from trecjudge.judging.offline.meaning import likeness_in
from trecjudge.judging.offline.prepared import LENGTH, Prepared
from trecjudge.judging.offline.wording import SHIPPED as SHIPPED_FREQUENCIES
from trecjudge.judging.offline.wording import Term, Wording, wording_of
from trecjudge.records import FULL
from trecjudge.settings.limits import read_json_file
from trecjudge.text.embeddings import Encoder
from trecjudge.text.frequencies import Frequencies, frequency_lines, parse_frequencies
from trecjudge.text.languages import language_of_pair
from trecjudge.text.sentences import states_nothing
from trecjudge.text.tokens import read_forms

# Weights of the features, fitted on human labels and read from a file.
# JSON, not YAML: the import of a YAML reader takes longer than that of all the rest here.
_FILE = Path(__file__).with_name("calibration.json")
FORMAT = "trecjudge calibration 1"
MOST_BYTES = 16 << 20
_DIGITS = 4
# Two logistic regressions on the features give P(a person calls it supported, fully or in part)
# and P(a person calls it fully supported). Features are cut to the range that the labels had:
# beyond it nothing is known. Documents that contradict a near copy are too rare for a weight:
# there as much of either probability is kept as people's labels leave of it.
_FARTHEST = 700.0
"""Log odds beyond which a probability is 0 or 1 to a computer."""


class Weight(NamedTuple):
    """One feature: the range that counts, and what a unit of it adds to either log odds."""

    low: float
    high: float
    supported: float
    full: float


class Stacked(NamedTuple):
    """Log odds by words and meaning: intercept + words * those by words + likeness * cosine."""

    intercept: float
    words: float
    likeness: float


class Meaning(NamedTuple):
    """How the likeness of the nearest sentence changes either log odds."""

    supported: Stacked
    full: Stacked


class Kept(NamedTuple):
    """What is left of P(supported) and of P(full), 0 to 1."""

    supported: float
    full: float


class Contradicted(NamedTuple):
    """What is left of the probabilities of near copies that their document contradicts."""

    brief: Kept
    """Of sentences of up to nine content words."""
    long: Kept
    """Of longer ones, of which a part is contradicted."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """A weight for each field of `Features`, in their order, and the two intercepts.

    `frequencies` weigh the words, `how` is where the numbers are from; without `contradicted` the
    package's own count. Without `meaning` it has no weights for an encoder. `languages` are those
    of its labels, as `language_of_pair` has them; None in a file that does not say, which holds for
    all. A calibration equals only itself: it is a key of caches.
    """

    weights: tuple[Weight, ...]
    supported: float
    full: float
    frequencies: Frequencies
    how: tuple[str, ...] = ()
    contradicted: Contradicted | None = None
    meaning: Meaning | None = None
    languages: frozenset[str] | None = None

    def covers(self, language: str) -> bool:
        """Return whether the probabilities are calibrated for pairs in a language."""
        return self.languages is None or language in self.languages

    def log_odds(self, features: Sequence[float]) -> tuple[float, float]:
        """Return the log odds of "supported, fully or in part" and of "fully", by words."""
        supported, full = self.supported, self.full
        for value, (low, high, for_supported, for_full) in zip(features, self.weights, strict=True):
            kept = low if value < low else min(value, high)
            supported += for_supported * kept
            full += for_full * kept
        return supported, full

    def probabilities(
        self, features: Sequence[float], likeness: float | None = None
    ) -> tuple[float, float]:
        """Return P(supported at least in part) and P(fully supported), which is no higher.

        `likeness` is that of the nearest sentence by an encoder; None where none was asked.
        """
        supported, full = self.log_odds(features)
        if likeness is not None and self.meaning is not None:
            supported, full = (
                stack.intercept + stack.words * words + stack.likeness * likeness
                for stack, words in zip(self.meaning, (supported, full), strict=True)
            )
        at_least = _logistic(supported)
        return at_least, min(at_least, _logistic(full))


def _logistic(log_odds: float) -> float:
    return 1 / (1 + math.exp(-max(-_FARTHEST, min(_FARTHEST, log_odds))))


WANTED = "give the file that `judges calibrate --output FILE` wrote"


def read_calibration(path: Path = _FILE) -> Calibration:
    """Read a calibration. Raises ValueError, with what is wrong, if it is not one; OSError."""
    try:
        content = read_json_file(path, MOST_BYTES)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"is no calibration; {WANTED}") from error
    except ValueError as error:
        raise ValueError(f"is no calibration: {error}; {WANTED}") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"is no calibration, its 'format' is not {FORMAT!r}; {WANTED}")
    try:
        return _calibration(content)
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"is a broken calibration: {type(error).__name__}: {error}") from error


@lru_cache(maxsize=1)
def shipped_calibration() -> Calibration:
    """Return the calibration of the package."""
    return read_calibration()


def _calibration(content: Mapping[str, Any]) -> Calibration:
    rows, intercept = content["features"], content["intercept"]
    if set(rows) != set(Features._fields):
        differing = ", ".join(sorted(set(rows) ^ set(Features._fields)))
        raise ValueError(f"is a calibration of other features: {differing}")
    own = content.get("frequencies")
    found = Calibration(
        tuple(
            Weight(**{k: _number(v) for k, v in rows[name].items()}) for name in Features._fields
        ),
        *(_number(intercept["supported"]), _number(intercept["full"])),
        frequencies=SHIPPED_FREQUENCIES if own is None else _frequencies(own),
        how=tuple(map(str, content["how"])),
        contradicted=_read_contradicted(content.get("contradicted")),
        meaning=_read_meaning(content.get("meaning")),
        languages=_read_languages(content.get("languages")),
    )
    numbers = (
        *(found.supported, found.full),
        *chain.from_iterable(found.weights),
        *chain.from_iterable(found.meaning or ()),
    )
    if not all(map(math.isfinite, numbers)):
        raise ValueError("is a broken calibration: a number in it is not finite")
    for name, weight in zip(Features._fields, found.weights, strict=True):
        if weight.low > weight.high:
            raise ValueError(f"is a broken calibration: {name} has low above high")
    return found


def _read_contradicted(content: Mapping[str, Any] | None) -> Contradicted | None:
    """Return the shares of near copies; None where a file has none. Raises ValueError, KeyError."""
    if content is None:
        return None
    rows = (content[name] for name in Contradicted._fields)
    found = Contradicted(*(Kept(*(_number(row[key]) for key in Kept._fields)) for row in rows))
    if not all(0 <= share <= 1 for kept in found for share in kept):
        raise ValueError("is a broken calibration: a share in 'contradicted' is not from 0 to 1")
    return found


def _read_languages(content: object) -> frozenset[str] | None:
    """Return the languages of a file; None where it says none. Raises ValueError."""
    if content is None:
        return None
    if not isinstance(content, list) or not all(isinstance(code, str) for code in content):
        raise ValueError("is a broken calibration: 'languages' is not a list of codes")
    return frozenset(content)


def _read_meaning(content: Mapping[str, Any] | None) -> Meaning | None:
    """Return the weights for an encoder; None where a file has none. Raises KeyError, TypeError."""
    if content is None:
        return None
    rows = (content[name] for name in Meaning._fields)
    return Meaning(*(Stacked(*(_number(row[key]) for key in Stacked._fields)) for row in rows))


def _number(value: object) -> float:
    """Return a number as one; text and truth values are not numbers. Raises TypeError."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is not a number")
    return float(value)


def _frequencies(table: object) -> Frequencies:
    """Return the frequencies of a calibration. Raises ValueError or TypeError."""
    if not isinstance(table, list):
        raise TypeError("frequencies are not a list of lines")
    try:
        return parse_frequencies(table)
    except ValueError as error:
        raise ValueError(f"is a broken calibration: frequencies: {error}") from error


def format_calibration(calibration: Calibration) -> str:
    """Return the text that `read_calibration` reads."""
    named = zip(Features._fields, calibration.weights, strict=True)
    content: dict[str, Any] = {
        "format": FORMAT,
        "how": list(calibration.how),
        "intercept": {
            "supported": round(calibration.supported, _DIGITS),
            "full": round(calibration.full, _DIGITS),
        },
        "features": {
            name: {key: round(number, _DIGITS) for key, number in weight._asdict().items()}
            for name, weight in named
        },
    }
    if calibration.languages is not None:
        content["languages"] = sorted(calibration.languages)
    if calibration.contradicted is not None:
        content["contradicted"] = {
            name: kept._asdict() for name, kept in calibration.contradicted._asdict().items()
        }
    if calibration.meaning is not None:
        content["meaning"] = {
            name: {key: round(number, _DIGITS) for key, number in stack._asdict().items()}
            for name, stack in calibration.meaning._asdict().items()
        }
    if calibration.frequencies is not SHIPPED_FREQUENCIES:
        content["frequencies"] = frequency_lines(calibration.frequencies)
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


@lru_cache(maxsize=8)
def calibration_at(path: str) -> Calibration:
    """Return the calibration of a file, the package's own for "". Raises InputError."""
    if not path:
        return shipped_calibration()
    try:
        return read_calibration(Path(path))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {why(error)}; {WANTED}") from error
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error


# The reason for a label, in words that cannot contradict the label.
Label = Literal["full_support", "partial_support", "no_support"]
_MOST_MISSING = 8
_NEARLY_ALL = 0.9


def reason_of(
    label: Label, found: Measurements, missing: Sequence[str], likeness: float | None = None
) -> str:
    """Return how much of the sentence is in the document, and what speaks against support.

    Full support has most of the sentence there and nothing against it: words that are missing are
    in other words. With any other label the reason lists what is missing or different, if
    anything is.
    """
    share = f"{found.in_document:.0%} of the sentence's weight is in the document"
    if found.in_passage < found.in_document:
        share += f", {found.in_passage:.0%} in one passage"
    if label == "full_support":
        against = list(_reword_notes(found, missing))
    else:
        against = list(_against(found, missing)) or [_reason_undecided(found)]
    nearest = () if likeness is None else (f"likeness of the nearest sentence {likeness:.2f}",)
    return "; ".join((share.replace("%", " %"), *nearest, *against))


def _against(found: Measurements, missing: Sequence[str]) -> Iterator[str]:
    if found.unasserted:
        yield f"only the sentence has {found.unasserted!r}: it does not assert what it says"
    if found.replaced:
        yield f"another stands there for {_list_words(found.replaced)}"
    if found.differ.exchanged:
        yield f"the other way round there: {_list_words(found.differ.exchanged)}"
    if lacking := [word for word in missing if word not in found.replaced]:
        yield f"missing: {_list_words(lacking)}"
    if found.negation_differs:
        yield "negated on one side only"
    if found.direction_differs:
        yield "says the opposite of a word there"


def _reword_notes(found: Measurements, missing: Sequence[str]) -> Iterator[str]:
    if missing:
        yield f"not word for word: {_list_words(missing)}"
    elif found.in_document < _NEARLY_ALL:
        yield "the rest in other words"


def _reason_undecided(found: Measurements) -> str:
    if found.in_document < _NEARLY_ALL:
        return "for the rest it has other words, which may say the same"
    if found.in_passage < found.in_document:
        return "its words are there, but not in one place"
    return "its words are there, but they say too little to tell"


def _list_words(words: Sequence[str]) -> str:
    return ", ".join(map(repr, words))


def as_written(sentence: str, absent: Sequence[Term]) -> tuple[str, ...]:
    """Return the first of the terms as written; bigrams that overlap are joined."""
    spans: list[tuple[int, int]] = [(term.start, term.end) for term in absent[:1]]
    for before, term in pairwise(absent):
        if term.start < before.end:
            spans[-1] = (spans[-1][0], term.end)
        else:
            spans.append((term.start, term.end))
    return tuple(sentence[start:end] for start, end in spans[:_MOST_MISSING])


# What is ruled out may have no more of the probability: the rest goes to the next lower label.
_MOST_RULED_OUT = 0.45
# The same in other words is supported, if not fully, more probably than not.
_LEAST_REWORDED = 0.55
# P(fully supported) of copies, as people label them.
_COPIED = 0.8
# A single content word that weighs less is in too many documents.
_SPECIFIC = 0.5


@dataclass(frozen=True, slots=True)
class SupportComparison:
    """The support of a sentence by a document, as far as words show it.

    `probability` is P(a person calls it supported, fully or in part), `full` P(fully), both 0 to
    1 and calibrated. `label` is the most probable of the three labels, `confidence` its
    probability, `score` the weight to be expected: P(fully) + 0.5 P(in part). `start` and `end`
    are character offsets of the evidence in the document's text, both 0 if nothing was found.
    `missing` are the content words of the sentence that the document lacks, as written, at most
    eight; `numbers_missing` its numbers that the document lacks. `negation_differs`: a word is
    negated on one side only; `direction_differs`: one side has rise where the other has fall;
    `replaced`: words in whose place the document has others. `wanting`: a word is
    replaced, one that a short sentence needs is missing, or it has no content word at all.
    `share` is the share of the sentence's weight that the evidence has. `one_fact`: the sentence
    states only one thing.
    `differing`: words in whose place a near copy has others of no known kind, words added to it,
    and those that relate things otherwise there. `nothing_to_check`: the sentence states nothing.
    `uncalibrated` is the language of the pair where the calibration has no labels of it: then the
    probabilities and the score order pairs, and are no more than that.
    """

    score: float
    label: Label
    start: int
    end: int
    missing: tuple[str, ...]
    numbers_missing: tuple[str, ...]
    negation_differs: bool
    reason: str
    probability: float = 0.0
    full: float = 0.0
    confidence: float = 1.0
    direction_differs: bool = False
    replaced: tuple[str, ...] = ()
    wanting: bool = False
    share: float = 0.0
    one_fact: bool = False
    differing: tuple[str, ...] = ()
    nothing_to_check: bool = False
    uncalibrated: str = ""

    @property
    def expected(self) -> float | None:
        """The weight to be expected of a person, 0 to 1; None where that is not calibrated."""
        return None if self.uncalibrated else round(self.score, _DIGITS)

    @property
    def p_full(self) -> float:
        """P(fully supported), rounded as in files; where it is not calibrated it only orders."""
        return round(self.full, _DIGITS)


def compare(
    sentence: str,
    document: Prepared,
    calibration: Calibration | None = None,
    encoder: Encoder | None = None,
) -> SupportComparison:
    """Return how far `document` supports `sentence`: the same pair always gives the same.

    The probabilities are those of the calibration (the package's own where it is None) for the
    `Features` of the pair. A number that the document lacks, a content word that a short sentence
    lacks, and more than half of any sentence rule full support out, half of the words of a short
    one any support. Of a near copy that the document contradicts as much is kept as people's labels
    leave: one in which another word stands for one, or a single fact that it negates, turns to its
    opposite or has the other way round. A sentence that states nothing is no support, and said to
    be such. With an `encoder` the meaning of longer documents counts beside their words. A sentence
    of function words only is supported where it stands in the document word for word; so is one
    that is longer than a passage, such as a list.
    """
    found = _compare(sentence, document, calibration or shipped_calibration(), encoder)
    assert found is not None
    return found


def compare_if_full(
    sentence: str, document: Prepared, calibration: Calibration
) -> SupportComparison | None:
    """Return what `compare` does; None where the document has too little for full support."""
    return _compare(sentence, document, calibration, if_full=True)


def _compare(
    sentence: str,
    document: Prepared,
    calibration: Calibration,
    encoder: Encoder | None = None,
    if_full: bool = False,
) -> SupportComparison | None:
    if states_nothing(sentence):
        nothing = _nothing("the sentence states nothing that a document could support")
        return replace(nothing, nothing_to_check=True)
    found = _compare_words(sentence, document, calibration, encoder, if_full)
    language = language_of_pair(sentence, document.text)
    if found is None or calibration.covers(language):
        return found
    return replace(found, uncalibrated=language)


def _compare_words(
    sentence: str,
    document: Prepared,
    calibration: Calibration,
    encoder: Encoder | None,
    if_full: bool,
) -> SupportComparison | None:
    wording = wording_of(sentence, calibration.frequencies)
    if not wording.terms:
        return _nothing("the sentence has no words")
    if not _has_content(wording):
        return _of_function_words(wording, document)
    overlap = overlap_of(wording, document)
    if if_full and not overlap.may_be_full:
        return _of_many_segments(wording, document)
    found = measure(overlap)
    likeness = None if encoder is None else likeness_in(wording, document, encoder)
    probability, full = probabilities_of(found, calibration, likeness)
    label, confidence = _most_probable(probability, full)
    if label != FULL and (copy := _of_many_segments(wording, document)):
        return copy
    missing = as_written(wording.text, found.absent)
    return SupportComparison(
        *((probability + full) / 2, label, found.passage.start, found.passage.end, missing),
        *(found.numbers_missing, found.negation_differs),
        reason_of(label, found, missing, likeness),
        probability=probability,
        full=full,
        confidence=confidence,
        direction_differs=found.direction_differs,
        replaced=found.replaced,
        wanting=found.contradicted or found.too_little,
        share=found.in_passage,
        one_fact=found.one_fact,
        differing=(*found.differ.other, *found.differ.added, *found.differ.exchanged),
    )


def _has_content(wording: Wording) -> bool:
    """Return whether there is something to be looked for: more than one common word."""
    if wording.size > 1:
        return True
    return any(term.weight >= _SPECIFIC or not term.listed for term in wording.meaningful)


def _nothing(reason: str) -> SupportComparison:
    return SupportComparison(0.0, "no_support", 0, 0, (), (), False, reason, wanting=True)


def _of_function_words(wording: Wording, document: Prepared) -> SupportComparison:
    """Return full support where a sentence of the document has the same words, else none."""
    for start, end in document.spans:
        if tuple(read_forms(document.text[start:end])[1]) == wording.forms:
            return _compare_copy(start, end)
    return _nothing("the sentence has only function words: nothing in it can be attested")


def _of_many_segments(wording: Wording, document: Prepared) -> SupportComparison | None:
    """Return full support where more segments than a passage has are the sentence, in a row.

    No passage has all of such a sentence, though the document has it as it is.
    """
    ours = _forms(wording.text)
    if not set(ours) <= document.segments_of.keys():
        return None
    theirs = f" {' '.join(chain.from_iterable(document.forms))} "
    at = theirs.find(f" {' '.join(ours)} ")
    if at < 0:
        return None
    begin, ends = theirs.count(" ", 0, at), list(accumulate(map(len, document.forms)))
    first, last = bisect_right(ends, begin), bisect_left(ends, begin + len(ours))
    if last - first < LENGTH:
        return None
    return _compare_copy(document.spans[first][0], document.spans[last][1])


def _compare_copy(start: int, end: int) -> SupportComparison:
    reason = "the sentence stands in the document word for word"
    return SupportComparison(
        *(_COPIED, "full_support", start, end, (), (), False, reason),
        *(_COPIED, _COPIED, _COPIED),
        share=1.0,
    )


@lru_cache(maxsize=1024)
def _forms(sentence: str) -> tuple[str, ...]:
    return tuple(read_forms(sentence)[1])


def probabilities_of(
    found: Measurements, calibration: Calibration, likeness: float | None = None
) -> tuple[float, float]:
    """Return P(supported at least in part), P(fully supported) after what rules it out."""
    if not found.passage.weight:
        return 0.0, 0.0
    probability, full = calibration.probabilities(found.features, likeness)
    return apply_rules(found, probability, full, calibration.contradicted or shipped_shares())


def shipped_shares() -> Contradicted:
    """Return what the package's own calibration leaves of contradicted near copies."""
    shares = shipped_calibration().contradicted
    assert shares is not None
    return shares


def apply_rules(
    found: Measurements, probability: float, full: float, contradicted: Contradicted
) -> tuple[float, float]:
    """Return the two probabilities after what rules full support, any, or none out."""
    if found.halved:
        probability = min(probability, _MOST_RULED_OUT)
    if found.incomplete:
        none = 1 - probability
        least = probability - none if none >= max(full, probability - full) else 0.0
        # No support stays so, though partial support gains what full support loses.
        full = min(full, max(least, _MOST_RULED_OUT * probability))
    if found.contradicted:
        kept = contradicted.brief if found.brief else contradicted.long
        probability, full = probability * kept.supported, full * kept.full
    elif found.reworded:
        probability = max(probability, full + _LEAST_REWORDED * (1 - full))
    return probability, min(full, probability)


def _most_probable(probability: float, full: float) -> tuple[Label, float]:
    none, partial = 1 - probability, probability - full
    if full >= max(none, partial):
        return "full_support", full
    return ("partial_support", partial) if partial >= none else ("no_support", none)
