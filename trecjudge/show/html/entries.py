"""Responses, leaderboard and flipped judgments as the page takes them: plain JSON values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from trecjudge.findings import visible
from trecjudge.inputs.packed import PackedRows
from trecjudge.judging.claims.kinds import kind_not_stated
from trecjudge.measures import DIGITS
from trecjudge.records import AskedNugget, Evidence, Judgment, ProvenanceLine, Response
from trecjudge.records.signs import SIGN_KINDS
from trecjudge.results.judgments import JudgmentsReader, failure_record, without_text
from trecjudge.results.statistics import RunScore
from trecjudge.scores.leaderboard import Leaderboard, mean_for_page, sure_places
from trecjudge.scores.response_scores import Score
from trecjudge.scores.scoring import spec_of
from trecjudge.show.formats import language_cell, letters, rank_bounds
from trecjudge.show.html.blocks import Blocks
from trecjudge.show.judgments import sentence_texts, text_of
from trecjudge.show.retrieval import version_text
from trecjudge.show.tables import disambiguate
from trecjudge.show.templates import LONGEST
from trecjudge.show.tones import marks_of, paths_by_judge, statings, tone, word

# A judged response as the page takes it: plain JSON values, without empty fields.
SAME = (
    *("sentence_index", "doc_id", "citation", "exists", "label", "grade", "value"),
    *("reason", "attester", "judge", "match", "confidence"),
)
"""Fields of a judgment that the page takes as they are."""

OF_PROVENANCE = (
    *("sentence_index", "doc_id", "start", "end", "rank", "retriever", "score", "time"),
)
"""Fields of provenance that the page takes as they are."""

OF_MEASURE = (
    *("name", "judge", "description", "lower_is_better"),
    *("default", "default_if_undefined"),
)
"""What the page needs to compute means over only some topics."""

NUGGETS = "nuggets"


@dataclass(frozen=True, slots=True)
class Entries:
    """Makes entries for the page; without `document_text` nothing of a document gets into them.

    Nuggets go to the `blocks`, each once: an entry has their positions.
    """

    document_text: bool = True
    blocks: Blocks = field(default_factory=lambda: Blocks(()))
    names_others: bool = True
    """Whether other runs may be named: on a team's own page they may not."""

    def response(
        self,
        response: Response,
        judgments: Sequence[Judgment],
        documents: Mapping[str, int],
    ) -> dict[str, Any]:
        """Return a response. `documents` has the position of each document's text."""
        stated = self._statings(response, judgments)
        sentences = [
            {
                "index": s.index,
                # Where nuggets are stated is counted in the text that was judged.
                "text": s.text if stated else s.shown,
                "citations": [c.doc_id or c.value for c in s.citations],
            }
            for s in response.sentences
        ]
        marks = marks_of(judgments)
        entry: dict[str, Any] = {"statings": stated} if stated else {}
        if paths := self._paths(response, judgments):
            entry["paths"] = paths
        found = response.signs.items()
        if signs := {n: sign.at for n, sign in found if sign.at and SIGN_KINDS[n].sentence}:
            entry["signs"] = signs
        if response.provenance:
            entry["provenance"] = list(map(_origin, response.provenance))
        return entry | {
            "run": response.run_id,
            "sentences": sentences,
            "tones": {judge: found.tones for judge, found in marks.items()},
            "open": {judge: found.open for judge, found in marks.items()},
            "judgments": [self.judgment(judgment) for judgment in judgments],
            "documents": documents,
        }

    def _statings(self, response: Response, judgments: Sequence[Judgment]) -> list[dict[str, Any]]:
        return [
            {
                "at": one.place,
                "nugget": self._place(response.topic_id, one.nugget),
                "tone": one.tone,
                "where": one.where,
            }
            for one in statings(response, judgments)
        ]

    def _paths(
        self, response: Response, judgments: Sequence[Judgment]
    ) -> dict[str, list[dict[str, Any]]]:
        shown = judgments if self.document_text else [without_text(j) for j in judgments]
        found = paths_by_judge(response, shown)
        return {judge: [path.as_dict() for path in paths] for judge, paths in found.items()}

    def _place(self, topic_id: str, nugget: AskedNugget) -> int:
        def entry() -> dict[str, Any]:
            return _drop_empty(asdict(nugget) | {"importance": nugget.rank})

        return self.blocks.add_once(NUGGETS, topic_id, nugget, entry)

    def judgment(self, judgment: Judgment) -> dict[str, Any]:
        """Return a judgment with its tone and word; empty fields are left out."""
        shown = judgment if self.document_text else without_text(judgment)
        same = {name: getattr(shown, name) for name in SAME}
        more: dict[str, Any] = {
            "tone": tone(shown),
            "word": word(shown),
            "evidence": _evidence(shown.evidence) if shown.evidence else None,
            "failure": failure_record(shown.failure),
            "claim": asdict(shown.claim) if shown.claim else None,
            "kind": kind_not_stated(shown),
            "sources": [_drop_empty(asdict(source)) for source in shown.sources],
            "facts": [asdict(fact) for fact in shown.facts],
            "votes": [_drop_empty(asdict(vote)) for vote in shown.votes],
        }
        if shown.opponent is not None:
            named = shown.opponent.run_id if self.names_others else ""
            against = {"run": named, "again": shown.opponent.again or None}
            more["opponent"] = {**_drop_empty(against), "first": shown.opponent.first}
        if shown.nugget is not None:
            more["nugget"] = self._place(shown.topic_id, shown.nugget)
        return _drop_empty(same | more)


def _origin(line: ProvenanceLine) -> dict[str, Any]:
    """Return where a sentence is from; without the quote, which is in the document's text."""
    same = {name: getattr(line, name) for name in OF_PROVENANCE}
    version = version_text(line.document_version, line.document_digest)
    return _drop_empty(same | {"version": version})


def named_documents(response: Response, judgments: Iterable[Judgment]) -> list[str]:
    """Return the ids of the documents that a response cites or a judgment names, each once."""
    judged = (doc_id for j in judgments for doc_id in (j.doc_id, *(s.doc_id for s in j.sources)))
    return list(dict.fromkeys(doc_id for doc_id in (*response.cited_ids(), *judged) if doc_id))


def _evidence(evidence: Evidence) -> dict[str, Any]:
    # Of each judgment one: `asdict`, which copies deeply, would take a tenth of a report's time.
    return {"start": evidence.start, "end": evidence.end, "quote": evidence.quote}


def _drop_empty(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, "", [], ())}


UNJUDGED, NO_RESPONSE = "?", ""
"""In place of a score: nothing could be judged, there is no response."""

# The leaderboard as the page takes it: runs in order, means with intervals, scores per topic.
Statistics = Mapping[tuple[str, str], RunScore]
"""(run_id, measure) -> what is known of the mean beside it"""
NOTHING = RunScore("", "")


def standings(
    board: Leaderboard,
    known: Statistics,
    teams: Mapping[str, str],
    among: Leaderboard | None = None,
) -> dict[str, Any]:
    """Return runs (the best first), measures and scores: `scores[measure][run][topic]`.

    Places are those `among` all runs, where the board has only some.

    A score is a number, None where the measure is not defined, UNJUDGED or NO_RESPONSE. `bounds` of
    a measure are [run, topic, lowest, highest] for each score that unjudged items leave open.
    """
    order = board.ranking()
    measures = board.spec.measures
    ranked = board.ranking_measure
    places = sure_places(among or board, ranked)
    ids = [*order, *board.expected]
    shown = zip(ids, disambiguate(list(map(visible, ids)), LONGEST), strict=True)
    return {
        "ranked_by": board.spec.ranked_by,
        "gaming": {name: kind.sentence for name, kind in SIGN_KINDS.items()},
        "ranks_for": board.ranks_for,
        # Of names that are too long: no two of them may look alike.
        "shown": {name: short for name, short in shown if len(name) > LONGEST},
        "measures": [
            {name: getattr(m, name) for name in OF_MEASURE} | {"aggregate": m.aggregate_name}
            for m in measures
        ],
        "runs": [
            _run(board, run_id, known, teams.get(run_id, ""))
            | {"place": places[run_id], "open": board.mean(run_id, ranked).is_open}
            for run_id in order
        ],
        "scores": [
            [[_score(board, run_id, topic, m.name) for topic in board.expected] for run_id in order]
            for m in measures
        ],
        "bounds": [list(_bounds(board, order, m.name)) for m in measures],
    }


def _run(board: Leaderboard, run_id: str, statistics: Statistics, team: str) -> dict[str, Any]:
    coverage = board.coverage[run_id]
    judged, expected = board.counts(run_id, board.ranking_measure)
    known = [statistics.get((run_id, m.name), NOTHING) for m in board.spec.measures]
    means = [
        mean_for_page(board, run_id, measure)
        | {"low": one.low, "high": one.high, "groups": letters(one.groups), "human": one.human}
        | {"ranks": rank_bounds(one, "{}–{}") if measure.name == board.ranking_measure.name else ""}
        for measure, one in zip(board.spec.measures, known, strict=True)
    ]
    return {
        "id": run_id,
        "team": team,
        "responses": coverage.responses,
        "expected_responses": coverage.expected_responses,
        "judged": judged,
        "expected": expected,
        "signs": {name: coverage.share(name) for name in coverage.signs},
        "shows": [name for name in coverage.signs if coverage.shows(name)],
        "language": language_cell(coverage.languages) if coverage.is_foreign else "",
        "means": means,
    }


def _bounds(
    board: Leaderboard, order: Sequence[str], measure: str
) -> Iterator[tuple[int, int, float | None, float | None]]:
    for run, run_id in enumerate(order):
        for topic, topic_id in enumerate(board.expected):
            scores = board.scores[run_id].get(topic_id)
            if scores is not None and (score := scores[measure]).is_open:
                yield run, topic, score.lowest, score.highest


def _score(board: Leaderboard, run_id: str, topic_id: str, measure: str) -> float | str | None:
    scores = board.scores[run_id].get(topic_id)
    if scores is None:
        return None if (topic_id, measure) in board.undefined else NO_RESPONSE
    return _show_score(scores[measure])


def _show_score(score: Score) -> float | str | None:
    if score.value is None:
        return None if score.judged else UNJUDGED
    # As in the leaderboard, so that ties are ties on the page too.
    return round(score.value, DIGITS)


ItemKey = tuple[str, int | None, str | None, str | None, str]
"""judge, sentence, document, citation, claim, nugget or what is measured: what is judged."""


HEIGHTS = {"good": 1.0, "part": 0.5, "bad": 0.0, "missing": 0.0, "against": -0.5}
"""How high a tone stands among labels."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What one output decided on an item: enough to see a flip."""

    tone: str
    word: str
    grade: int | None
    value: float | None
    reason: str = ""

    def differs(self, other: Decision) -> bool:
        """Return whether the two decide differently; reasons may differ."""
        ours = (self.word, self.grade, self.value)
        return ours != (other.word, other.grade, other.value)

    def distance(self, other: Decision) -> float:
        """Return how far two decisions are apart, 1 between the ends of a scale of labels."""
        if self.value is not None and other.value is not None:
            return abs(self.value - other.value)
        heights = HEIGHTS.get(self.tone), HEIGHTS.get(other.tone)
        if heights[0] is not None and heights[1] is not None:
            # Labels of one tone may differ in grade, which counts less than another tone.
            return abs(heights[0] - heights[1]) + 0.01 * self._grades_apart(other)
        return float(self._grades_apart(other))

    def _grades_apart(self, other: Decision) -> int:
        if self.grade is None or other.grade is None:
            return 0
        return abs(self.grade - other.grade)

    @property
    def is_judged(self) -> bool:
        """Whether there is a decision; False where the item is unjudged."""
        return self.tone != "unjudged"

    def as_dict(self) -> dict[str, str]:
        """The decision as the page shows it."""
        value = "" if self.value is None else f" {self.value:.3f}"
        return {"tone": self.tone, "word": f"{self.word}{value}", "reason": self.reason}


@dataclass(slots=True)
class Other:
    """Another output of the same runs: its leaderboard and its decisions.

    `renamed` maps our judges to its own. Where none is common, the first of both are compared.
    Without `document_text` no reason that may quote a document is kept, of either output.
    """

    name: str
    reader: JudgmentsReader
    board: Leaderboard
    document_text: bool = True
    renamed: dict[str, str] = field(default_factory=dict)
    decisions: PackedRows = field(default_factory=PackedRows)
    """(key, tone, word, grade, value, place) of each item, by (run_id, topic_id)."""
    pairs: Counter[tuple[tuple[str, str], tuple[str, str]]] = field(default_factory=Counter)
    """How often (tone and word here, tone and word there), where both sides decided."""
    unjudged: Counter[str] = field(default_factory=Counter)
    """How many common items are unjudged `here`, `there` or on `both` sides."""
    only_here: int = 0
    common: int = 0
    """Items that both outputs have, judged or not."""

    def flips(self, response: Response, judgments: Iterable[Judgment]) -> list[dict[str, Any]]:
        """Count judgments by the other output's decision, and return those that differ.

        An item that one side left unjudged is no flip: it is counted apart.
        """
        group = response.run_id, response.topic_id
        decisions = {
            key: (Decision(*fields), place) for key, *fields, place in self.decisions.rows(group)
        }
        flipped: list[tuple[int, Judgment, int]] = []
        common: set[ItemKey] = set()
        for at, judgment in enumerate(judgments):
            key = _key(judgment, self.renamed.get(judgment.judge))
            if key not in decisions:
                self.only_here += 1
                continue
            common.add(key)
            (other, place), ours = decisions[key], self.decision(judgment)
            if not (ours.is_judged and other.is_judged):
                self.unjudged[
                    "there" if ours.is_judged else "here" if other.is_judged else "both"
                ] += 1
                continue
            self.pairs[(ours.tone, ours.word), (other.tone, other.word)] += 1
            if ours.differs(other):
                flipped.append((at, judgment, place))
        self.common += len(common)
        texts = sentence_texts(response)
        return [self._flip(texts, *flip) for flip in self._read_again(group, flipped)]

    def _read_again(
        self, group: tuple[str, str], flipped: Sequence[tuple[int, Judgment, int]]
    ) -> Iterator[tuple[int, Judgment, Judgment]]:
        if not flipped:
            return
        _, theirs = self.reader.again(*group, [place for *_, place in flipped])
        for (at, ours, _), other in zip(flipped, theirs, strict=True):
            yield at, ours, other

    def _flip(
        self, texts: Mapping[int, str], at: int, ours: Judgment, theirs: Judgment
    ) -> dict[str, Any]:
        here, there = self.decision(ours), self.decision(theirs)
        return {
            "at": at,
            "run": ours.run_id,
            "topic": ours.topic_id,
            "judge": ours.judge,
            "sentence_index": ours.sentence_index,
            "doc_id": ours.doc_id or ours.citation,
            "claim": ours.claim.index if ours.claim else None,
            "nugget": ours.about if ours.nugget else None,
            "text": ours.claim.text if ours.claim else text_of(ours, texts),
            "size": here.distance(there),
            "here": here.as_dict(),
            "there": there.as_dict(),
        }

    def decision(self, judgment: Judgment) -> Decision:
        """Return what is kept of a judgment, of ours or of the other output's."""
        shown = judgment if self.document_text else without_text(judgment)
        fields = tone(shown), word(shown), shown.grade, shown.value
        return Decision(*fields, shown.reason)

    def as_dict(self, ours: Leaderboard) -> dict[str, Any]:
        """Return counts, and how each measure that both have moved for each run."""
        pairs = [{"here": a, "there": b, "count": n} for (a, b), n in sorted(self.pairs.items())]
        return {
            "name": self.name,
            "met": self.pairs.total(),
            "unjudged": {where: self.unjudged[where] for where in ("here", "there", "both")},
            "only_here": self.only_here,
            "only_there": self.decisions.size - self.common,
            "pairs": pairs,
            "moves": list(_moves(ours, self.board)),
        }


def read_other(
    name: str,
    reader: JudgmentsReader,
    ours: Sequence[str],
    document_text: bool = True,
    trust: bool = False,
) -> Other:
    """Return another output, to compare with one of `ours`; `trust` as in `ReportOptions`."""
    theirs = list(reader.header.judges)
    common = {judge: judge for judge in ours if judge in theirs}
    board = Leaderboard(spec_of(reader, trust), reader.header.topics)
    other = Other(name, reader, board, document_text, renamed=common or {ours[0]: theirs[0]})
    compared = set(other.renamed.values())
    for response, judgments in reader:
        _add(other, response, judgments, compared)
    board.finish()
    return other


def _add(
    other: Other, response: Response, judgments: Sequence[Judgment], compared: set[str]
) -> None:
    other.board.add(response, judgments)
    own: dict[ItemKey, tuple[Any, ...]] = {}
    for place, judgment in enumerate(judgments):
        if judgment.judge in compared:
            made = other.decision(judgment)
            fields = made.tone, made.word, made.grade, made.value, place
            own[_key(judgment, judgment.judge)] = fields
    group = response.run_id, response.topic_id
    other.decisions.put(group, ((key, *fields) for key, fields in own.items()))


def _key(judgment: Judgment, judge: str | None) -> ItemKey:
    place = judge or "", judgment.sentence_index
    if judgment.identity:
        # The document is part of the decision: a claim may be found elsewhere, or nowhere.
        return *place, None, None, judgment.identity
    measured = judgment.label or "" if judgment.value is not None else ""
    return *place, judgment.doc_id, judgment.citation, measured


def _moves(ours: Leaderboard, theirs: Leaderboard) -> Iterator[dict[str, Any]]:
    named = {measure.name: measure for measure in theirs.spec.measures}
    for measure in ours.spec.measures:
        if measure.name not in named:
            continue
        there = named[measure.name]
        places_here, places_there = sure_places(ours, measure), sure_places(theirs, there)
        for run_id in ours.ranking():
            if run_id in theirs.scores:
                yield {
                    "run": run_id,
                    "measure": measure.name,
                    "here": mean_for_page(ours, run_id, measure),
                    "there": mean_for_page(theirs, run_id, there),
                    "place_here": places_here[run_id],
                    "place_there": places_there[run_id],
                }
