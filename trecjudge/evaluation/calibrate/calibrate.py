"""Fit a calibration file to a file of labels, and evaluate it on unseen topics."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trecjudge.errors import InputError
from trecjudge.evaluation.calibrate.pairs import (
    LabelledPair,
    ReadResponses,
    pairs_of_runs,
    read_pairs,
)
from trecjudge.evaluation.calibrate.quality import (
    Bin,
    Predictions,
    figures,
    reliability,
    why_no_interval,
)
from trecjudge.files import open_target
from trecjudge.findings import Finding, FindingLog
from trecjudge.inputs.labels.vocabulary import Words
from trecjudge.judging.offline.features import Features, Measurements, find
from trecjudge.judging.offline.prepared import prepare
from trecjudge.judging.offline.support import (
    Calibration,
    Weight,
    format_calibration,
    probabilities_of,
    shipped_calibration,
)
from trecjudge.judging.offline.wording import read_wording
from trecjudge.records import Response, Topic
from trecjudge.stats.agreement import BoundedFigure
from trecjudge.text.frequencies import ENOUGH, Frequencies, blend_frequencies, count_frequencies
from trecjudge.text.languages import language_of_pair
from trecjudge.text.tokens import comparable, scripts

Floats = NDArray[np.float64]

SIGNS: dict[str, int] = {
    **dict.fromkeys(("document", "passage", "words", "beginning", "weakest_part"), 1),
    **dict.fromkeys(("neighbours", "run", "names"), 1),
    **dict.fromkeys(("names_missing", "numbers_missing", "turned"), -1),
    **dict.fromkeys(("hedge_dropped", "quotes_missing"), -1),
}
"""1 where more of a feature cannot speak against support, -1 where it cannot speak for it."""

RARE = ("turned", "quotes_missing")
"""Features that are so rarely 1 that all of them would be cut off as outliers."""

_RANGE = (0.005, 0.995)
# The strength of the prior, in labels: held-out figures are flat from 3 to 100. Around weights
# that were fitted before it is stronger: less makes 50 labels do harm, more hardly helps.
_PRIOR = 20.0
_PRIOR_AROUND = 80.0
_COPIED = 0.8
_STEPS = 50


def is_copy(features: Features) -> bool:
    """Return whether the sentence stands in the document nearly word for word.

    Such pairs are no part of a fit: that a copy is supported need not be learnt, and objections of
    people to a copy (out of context, no answer) are not about its words.
    """
    return features.neighbours >= _COPIED


def fit(
    rows: Sequence[Features],
    labels: Sequence[float],
    frequencies: Frequencies,
    prior: Calibration | None = None,
    how: Sequence[str] = (),
) -> Calibration:
    """Return the calibration that the labels (0 none, 0.5 partial, 1 full) of these pairs make.

    The weights are those of `regress`, around those of `prior` or around 0. Raises ValueError if
    full and no support are not both among the labels.
    """
    kept = [index for index, row in enumerate(rows) if not is_copy(row)]
    wanted = np.array([labels[index] for index in kept])
    if not {0.0, 1.0} <= set(wanted):
        raise ValueError("labels of full and of no support are needed, on more than copies")
    values = np.array([rows[index] for index in kept], dtype=np.float64)
    low, high = _ranges(values, prior)
    values = np.clip(values, low, high)
    signs = [SIGNS.get(name, 0) for name in Features._fields]
    before = prior.weights if prior else ()
    supported, for_supported = regress(values, wanted > 0, signs, [w.supported for w in before])
    full, for_full = regress(values, wanted == 1, signs, [w.full for w in before])
    columns = (low, high, for_supported, for_full)
    weights = tuple(Weight(*map(float, row)) for row in zip(*columns, strict=True))
    return Calibration(weights, supported, full, frequencies, tuple(how))


def _ranges(values: Floats, prior: Calibration | None) -> tuple[Floats, Floats]:
    """Return the range of each feature, outliers aside; at least that of the prior."""
    low, high = np.quantile(values, _RANGE, axis=0)
    for name in RARE:
        low[Features._fields.index(name)], high[Features._fields.index(name)] = 0.0, 1.0
    if prior is not None:
        low = np.minimum(low, [weight.low for weight in prior.weights])
        high = np.maximum(high, [weight.high for weight in prior.weights])
    return low, high


def regress(
    values: Floats,
    positive: NDArray[np.bool_],
    signs: Sequence[int],
    around: Sequence[float] = (),
) -> tuple[float, Floats]:
    """Return (intercept, weights) of P(positive), for values of shape (pairs, features).

    Maximum a posteriori under normal priors on the standardised weights, around given ones or 0.
    Weights against their sign (1, -1; 0 for any) become 0, the worst first: so none of those left
    only compensates for another that is too large.
    """
    mean, spread = values.mean(axis=0), values.std(axis=0)
    spread[spread < 1e-9] = 1.0  # a feature that never varies gets the weight of its prior
    design = np.column_stack([np.ones(len(values)), (values - mean) / spread])
    centre = np.zeros(design.shape[1])
    strength = np.full(len(centre), _PRIOR_AROUND if len(around) else _PRIOR)
    strength[0] = 1e-6  # the intercept has next to no prior
    if len(around):
        centre[1:] = np.array(around) * spread
    wanted = np.array([0, *signs])
    kept = np.arange(len(wanted))
    while True:
        beta = np.zeros(len(wanted))
        beta[kept] = _newton(
            design[:, kept], positive.astype(np.float64), centre[kept], strength[kept]
        )
        wrong = beta * wanted
        if wrong.min() >= 0:
            weights = beta[1:] / spread
            return float(beta[0] - weights @ mean), weights
        kept = kept[kept != wrong.argmin()]


def _newton(design: Floats, positive: Floats, centre: Floats, strength: Floats) -> Floats:
    beta = centre.copy()
    for _ in range(_STEPS):
        # Clipped: exp overflows, and beyond 30 a probability is 0 or 1 anyway.
        probability = 1 / (1 + np.exp(-np.clip(design @ beta, -30, 30)))
        slope = design.T @ (probability - positive) + strength * (beta - centre)
        # Not by "@": for a matrix this small its threads wait for one another most of the time.
        doubt = probability * (1 - probability)
        curve = np.einsum("ni,n,nj->ij", design, doubt, design) + np.diag(strength)
        step = np.linalg.solve(curve, slope)
        beta -= step
        if np.abs(step).max() < 1e-8:
            break
    return beta


# Measurements of pairs with word frequencies from the other topics only, as for a new topic.
Table = Callable[[int, Mapping[str, int]], Frequencies]
"""Makes frequencies of the number of passages, and of how many each word is in."""


def measure_apart(
    pairs: Sequence[LabelledPair], groups: Sequence[str], table: Table
) -> tuple[list[Measurements], Frequencies]:
    """Return the measurements of pairs by the table of all other groups; the table of them all.

    The words of a topic are common in its own passages: by a table that has these they would weigh
    less than they do where the weights are used.
    """
    texts: dict[str, dict[str, None]] = {}
    for pair, group in zip(pairs, groups, strict=True):
        texts.setdefault(group, {})[pair.text] = None
    counted = {group: count_frequencies(found) for group, found in texts.items()}
    passages = sum(number for number, _ in counted.values())
    counts: Counter[str] = Counter()
    for _, own in counted.values():
        counts.update(own)
    apart = {g: table(passages - number, counts - own) for g, (number, own) in counted.items()}
    found = measure(pairs, [apart[group] for group in groups])
    return found, table(passages, counts)


def measure(pairs: Sequence[LabelledPair], tables: Sequence[Frequencies]) -> list[Measurements]:
    """Return the measurements of pairs, each by a table; a document is prepared once."""
    prepared = cache(prepare)  # of this call only: the documents may be many
    return [
        find(read_wording(pair.sentence, frequencies), prepared(pair.text))
        for pair, frequencies in zip(pairs, tables, strict=True)
    ]


# Every pair judged by weights that were fitted without its topic.
FEWEST_TOPICS = 3
"""With fewer topics documents are held out instead."""
_FOLDS = 5
"""Groups of documents, by a checksum of their text: the same ones each time."""


def groups_of(pairs: Sequence[LabelledPair]) -> list[str]:
    """Return what each pair is held out with: its topic or, with too few topics, its document."""
    if len({pair.topic_id for pair in pairs}) >= FEWEST_TOPICS:
        return [pair.topic_id for pair in pairs]
    return [f"documents {zlib.crc32(pair.text.encode()) % _FOLDS}" for pair in pairs]


def predict(
    found: Sequence[Measurements], labels: Sequence[float], groups: Sequence[str], by: Calibration
) -> Predictions:
    """Return the predictions of one calibration for all pairs."""
    chances = np.array([probabilities_of(pair, by) for pair in found])
    return Predictions(chances[:, 0], chances[:, 1], np.array(labels), np.array(groups))


def held_out(
    found: Sequence[Measurements],
    labels: Sequence[float],
    groups: Sequence[str],
    like: Calibration,
    prior: Calibration | None = None,
) -> Predictions:
    """Return predictions for all pairs, each by a fit without its group.

    The fits are as that of `like`, with its frequencies. A group without which nothing can be
    fitted is left out. Raises ValueError as `fit` does where that is so of all.
    """
    chances = np.full((len(found), 2), np.nan)
    refused: ValueError | None = None
    for group in dict.fromkeys(groups):
        others = [index for index, own in enumerate(groups) if own != group]
        rows, wanted = [found[i].features for i in others], [labels[i] for i in others]
        try:
            fitted = fit(rows, wanted, like.frequencies, prior)
        except ValueError as error:
            refused = error
            continue
        for index, own in enumerate(groups):
            if own == group:
                chances[index] = probabilities_of(found[index], fitted)
    known = ~np.isnan(chances[:, 0])
    if refused is not None and not known.any():
        raise refused
    supported, full = chances[known].T
    return Predictions(supported, full, np.array(labels)[known], np.array(groups)[known])


# A calibration with word frequencies of own documents, made without labels.
@dataclass(frozen=True, slots=True)
class WordCountReport:
    """Counts of distinct own documents with text, and of the words of the table they make."""

    path: Path
    documents: int
    words: int
    findings: Sequence[Finding]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return asdict(self) | {"path": str(self.path), "findings": list(map(str, self.findings))}


def count_command(read: ReadResponses, out: Path, runs: str) -> WordCountReport:
    """Write the shipped weights with the word frequencies of the documents that `read` brings.

    `runs` is what messages call the runs.

    Raises InputError for inputs that cannot be used, or too few documents.
    """
    findings: list[Finding] = []
    passages, counts = count_frequencies(_texts(read(FindingLog([findings.append]))))
    if passages < ENOUGH:
        raise InputError(
            f"{runs}: {passages} documents with text; at least {ENOUGH} are"
            " needed to count words (--documents supplies text that the runs lack)"
        )
    shipped = shipped_calibration()
    frequencies = blend_frequencies(shipped.frequencies, passages, counts)
    how = (f"Word frequencies of {passages} own documents; the weights are:", *shipped.how)
    with open_target(out) as file:
        own = replace(shipped, frequencies=frequencies, how=how)
        file.write(format_calibration(own).encode())
    return WordCountReport(out, passages, len(frequencies.counts), findings)


def _texts(responses: Iterable[tuple[Topic, Response]]) -> Iterator[str]:
    seen: set[str] = set()  # runs cite the same documents: each counts once
    for _, response in responses:
        for doc_id, document in response.documents.items():
            if doc_id not in seen and document.has_text:
                seen.add(doc_id)
                yield document.full_text


FEWEST_LABELS = 50
"""Labels that a fit needs at least."""


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """A calibration and its figures.

    `labels` were used, `copies` of them in no fit; `passed_over` share no script or have no words.
    `languages` counts the labels by the language of their pairs, `covered` are those with enough.
    `shipped` are the figures of the package's calibration on these labels, `fitted` those of fits
    that did not see the topic (the document, where there are fewer than three topics), and
    `no_interval` is why they have no intervals, if they have none.
    """

    path: Path
    labels: int
    copies: int
    passed_over: int
    groups: int
    held_out: str
    shipped: Sequence[BoundedFigure]
    fitted: Sequence[BoundedFigure]
    no_interval: str | None
    reliability: Sequence[Bin]
    findings: Sequence[Finding]
    languages: Mapping[str, int]

    @property
    def covered(self) -> list[str]:
        """The languages that the calibration holds for: those with as many labels as a fit."""
        return sorted(code for code, count in self.languages.items() if count >= FEWEST_LABELS)

    @property
    def exit_status(self) -> int:
        """0 if all was used, 3 if something could not be read."""
        return 3 if any(finding.severity == "error" for finding in self.findings) else 0

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON values; what does not exist is null."""
        return {
            "path": str(self.path),
            "labels": self.labels,
            "copies": self.copies,
            "passed_over": self.passed_over,
            "held_out": self.held_out,
            "groups": self.groups,
            "languages": dict(self.languages),
            "covered": self.covered,
            "shipped": [figure.as_dict() for figure in self.shipped],
            "fitted": [figure.as_dict() for figure in self.fitted],
            "no_interval": self.no_interval,
            "reliability": [
                {"pairs": b.pairs, "predicted": b.predicted, "observed": b.observed}
                for b in self.reliability
            ],
            "findings": list(map(str, self.findings)),
        }


def calibrate_command(
    labels: Path, read: ReadResponses | None, out: Path, words: Words | None = None
) -> CalibrationReport:
    """Fit to the labels, write the calibration to `out`, and judge it on what it did not see.

    `read` brings the responses that the labels are on; None where labels have texts of their own.

    Raises InputError for inputs that cannot be used; OSError for a file that cannot be written.
    """
    findings: list[Finding] = []
    log = FindingLog([findings.append])
    if read is None:
        labelled = read_pairs(labels, log, words)
    else:
        labelled = pairs_of_runs(labels, read, log, words)
    pairs = [pair for pair in labelled if _comparable(pair)]
    if len(pairs) < FEWEST_LABELS:
        raise InputError(
            f"{labels}: {len(pairs)} labels of pairs that words can compare; at least"
            f" {FEWEST_LABELS} are needed, and more are of more use"
        )
    weights = [pair.weight for pair in pairs]
    groups = groups_of(pairs)
    if len(set(groups)) < 2:
        raise InputError(f"{labels}: all labels are on one document: none can be held out")
    shipped = shipped_calibration()
    found, frequencies = measure_apart(
        pairs, groups, partial(blend_frequencies, shipped.frequencies)
    )
    how = (
        f"Fitted by `calibrate` to {len(pairs)} labels of {labels.name}, around the weights that"
        " the package ships.",
    )
    try:
        fitted = fit([pair.features for pair in found], weights, frequencies, shipped, how)
        unseen = held_out(found, weights, groups, fitted, shipped)
    except ValueError as error:
        raise InputError(f"{labels}: {error}") from error
    # By the shipped frequencies too: the figures of what a user has without calibrating.
    by_shipped = measure(pairs, [shipped.frequencies] * len(pairs))
    kind = "topics" if groups[0] == pairs[0].topic_id else "groups of documents"
    done = CalibrationReport(
        path=out,
        labels=len(pairs),
        copies=sum(is_copy(pair.features) for pair in found),
        passed_over=len(labelled) - len(pairs),
        groups=len(set(groups)),
        held_out=kind,
        shipped=figures(predict(by_shipped, weights, groups, shipped)),
        fitted=figures(unseen),
        no_interval=why_no_interval(unseen, kind),
        reliability=reliability(unseen),
        findings=findings,
        languages=Counter(language_of_pair(pair.sentence, pair.text) for pair in pairs),
    )
    with open_target(out) as file:
        covered = replace(fitted, languages=frozenset(done.covered))
        file.write(format_calibration(covered).encode())
    return done


def _comparable(pair: LabelledPair) -> bool:
    same_script = comparable(scripts(pair.sentence), scripts(pair.text))
    return same_script and bool(read_wording(pair.sentence).terms)
