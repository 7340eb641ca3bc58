"""From a judgments file to qrels, leaderboard and summary: no judge runs, no model is asked."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from trecjudge.errors import InputError
from trecjudge.files import whole
from trecjudge.findings import Finding, OnFinding, ignore
from trecjudge.inputs.labels import ItemKey, Labels, labels_of, takes_labels
from trecjudge.judging.judge import code_of_others, judge_names
from trecjudge.judging.panel import (
    NamedJudge,
    Panel,
    hiding_failures,
    make_panel,
    panel_spec,
    pooling_judges,
    ranked_by_judge,
)
from trecjudge.measures import LeaderboardSpec
from trecjudge.records import Judgment, Place, Response, Vote
from trecjudge.results.judgments import Header, JudgmentsReader
from trecjudge.results.outputs import Outputs
from trecjudge.results.statistics import RunScore
from trecjudge.results.trec import QrelsRow, leaderboard_line, qrels_line
from trecjudge.scores.corrections import HumanLabels
from trecjudge.scores.leaderboard import Coverage, Leaderboard
from trecjudge.scores.qrels import best_grades, pooled_qrels, response_qrels
from trecjudge.scores.response_scores import ResponseScores
from trecjudge.scores.review import KEYS, ReviewRule, panel_rules, read_gate, review
from trecjudge.scores.statistics import rank_by_measure, statistics_lines
from trecjudge.scores.summary import Summary, summarise
from trecjudge.settings.plugins import find_in_working_folder, module_of_others

RATE_DIGITS = 4
Cell = tuple[str, str, str]
"""(topic_id, label of one voter, label of the other)"""


@dataclass(slots=True)
class JudgeVotes:
    """The counts of one judge, of the items on which two voters at least decided."""

    items: int = 0
    differ: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    pairs: dict[tuple[str, str], Counter[Cell]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    weighted: dict[Cell, float] = field(default_factory=lambda: defaultdict(float))
    sampled: Counter[str] = field(default_factory=Counter)
    """Of each voter with samples, the items with two of them at least."""
    flipped: Counter[str] = field(default_factory=Counter)
    """Of these, the items where its samples differ."""

    def add(self, topic_id: str, votes: Sequence[Vote]) -> None:
        """Add the votes on an item."""
        self.failed.update(vote.voter for vote in votes if vote.failure)
        given = [(vote.voter, vote.label) for vote in votes if vote.label is not None]
        if len(given) < 2:
            return
        self.items += 1
        self.differ += len({label for _, label in given}) > 1
        for (one, own), (other, theirs) in combinations(given, 2):
            self.pairs[one, other][topic_id, own, theirs] += 1
            self.weighted[topic_id, own, theirs] += 1 / (len(given) - 1)
        for name, labels in _samples(given).items():
            self.sampled[name] += 1
            self.flipped[name] += len(set(labels)) > 1

    def take(self, other: JudgeVotes) -> None:
        """Add what was counted apart."""
        self.items += other.items
        self.differ += other.differ
        for name in ("failed", "sampled", "flipped"):
            getattr(self, name).update(getattr(other, name))
        for pair, cells in other.pairs.items():
            self.pairs[pair].update(cells)
        for cell, weight in other.weighted.items():
            self.weighted[cell] += weight

    def as_dict(self, judge: str) -> dict[str, Any]:
        """Return the figures as JSON values."""
        from trecjudge.stats.agreement import alpha_of_all, voter_pair  # numpy: not at start

        alpha = alpha_of_all(self.weighted)
        pairs = [voter_pair(names, cells).as_dict() for names, cells in self.pairs.items()]
        flips = [self._flips(name) for name in self.sampled]
        return {
            "judge": judge,
            "items": self.items,
            "differ": self.differ,
            "alpha": alpha.pooled,
            "alpha_interval": list(alpha.interval),
            "pairs": pairs,
            "samples": flips,
            "failed": dict(self.failed),
        }

    def _flips(self, voter: str) -> dict[str, Any]:
        items, differ = self.sampled[voter], self.flipped[voter]
        rate = round(differ / items, RATE_DIGITS)
        return {"voter": voter, "items": items, "differ": differ, "flip_rate": rate}


def _samples(given: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for voter, label in given:
        name, apart, _ = voter.rpartition("#")
        if apart:
            found.setdefault(name, []).append(label)
    return {name: labels for name, labels in found.items() if len(labels) > 1}


@dataclass(slots=True)
class VoteTally:
    """Counts votes by judge: no more is held than topics, pairs of voters and pairs of labels."""

    judges: dict[str, JudgeVotes] = field(default_factory=dict)

    def add(self, judgments: Iterable[Judgment]) -> None:
        """Add the votes on a response."""
        for judgment in judgments:
            if judgment.votes:
                own = self.judges.setdefault(judgment.judge, JudgeVotes())
                own.add(judgment.topic_id, judgment.votes)

    def take(self, other: VoteTally) -> None:
        """Add what was counted apart."""
        for judge, own in other.judges.items():
            self.judges.setdefault(judge, JudgeVotes()).take(own)

    def figures(self) -> list[dict[str, Any]]:
        """Return how the voters of each judge agree; empty where no judge has voters."""
        return [own.as_dict(judge) for judge, own in self.judges.items()]


PASSED = "PASSED"
Asked = tuple[str, str, str, str]
"""(topic_id, doc_id, sentence, claim), as texts: the question that a grade answers."""


def spec_of(reader: JudgmentsReader, trust: bool = False) -> LeaderboardSpec:
    """Return the measures that a judgments file is to be scored by; `trust` as for `panel_of`."""
    return header_spec(panel_of(reader, trust), reader.header)


def header_spec(panel: Panel, header: Header) -> LeaderboardSpec:
    """Return the measures of the judges of a judgments file, by its header."""
    return panel_spec(panel, header.leaderboard, header.measures, header.by_expected)


def panel_of(reader: JudgmentsReader, trust: bool = False) -> list[NamedJudge]:
    """Return the judges of a judgments file.

    Raises InputError where the file names code that is neither ours nor an installed judge, unless
    `trust` lets it be imported: a file that was received must be safe to open.
    """
    header = reader.header
    if trust:
        find_in_working_folder()
    else:
        for what, code in _code_of_others(header):
            message = f"its {what} would run {code}, which is not ours"
            raise InputError(f"{reader.path}: {message}; if you trust it, add --trust")
    names = list(header.judges)
    settings = header.judges if len(names) > 1 else header.judges[names[0]]
    return make_panel(names, settings)


def _code_of_others(header: Header) -> Iterator[tuple[str, str]]:
    """Yield the judges and measures of a file that are not ours, each with where its code lies."""
    for name in header.judges:
        if code := code_of_others(name):
            yield f"judge {name!r}", code
    for reference in header.measures:
        if module := module_of_others(reference):
            yield f"measure {reference!r}", f"the module {module}"


@dataclass(frozen=True, slots=True)
class Scored:
    """The summary of a scored job, and the numbers behind it.

    `standings` are the runs by each measure, the best first.
    """

    summary: Summary
    board: Leaderboard
    standings: Mapping[str, Sequence[RunScore]]


@dataclass(frozen=True, slots=True)
class PartScores:
    """What scoring a part of a job's responses came to; qrels and reviews are in files.

    `marked` counts responses by the status that the gate gives.
    """

    scores: Mapping[str, Mapping[str, ResponseScores]]
    coverage: Mapping[str, Coverage]
    marked: Counter[str]
    votes: VoteTally = field(default_factory=VoteTally)


@dataclass(slots=True)
class JobScoring:
    """Scores responses one after the other, and writes the files of a job's numbers.

    `labels` are those of people on some items: they correct the means in the statistics. Grades
    that contradict each other in pooled qrels go to `report`.
    """

    header: Header
    panel: Panel
    path: Path
    labels: Mapping[ItemKey, str] | None = None
    report: OnFinding | None = None
    spec: LeaderboardSpec = field(init=False)
    board: Leaderboard = field(init=False)
    people: HumanLabels = field(init=False)
    rules: list[ReviewRule] = field(init=False)
    pools: dict[str, Pool] = field(init=False)
    """The grades over all runs of each judge whose qrels are pooled."""
    marked: Counter[str] = field(default_factory=Counter)
    votes: VoteTally = field(default_factory=VoteTally)

    def __post_init__(self) -> None:
        header, panel = self.header, self.panel
        self.spec = header_spec(panel, header)
        takers = {s.name: s.judge for s in panel if takes_labels(s.judge)}
        if isinstance(self.labels, Labels):
            self.labels.rename(labels_of(takers.values()), self.report or ignore)
        self.people = HumanLabels(self.labels or {}, takers)
        self.board = Leaderboard(self.spec, header.topics)
        self.rules = panel_rules(panel, read_gate(header.gate))
        pooling = self.judges if header.qrels_pool else pooling_judges(panel)
        self.pools = {name: Pool(self.path, self.report) for name in pooling}

    @property
    def judges(self) -> list[str]:
        """The names of the judges, in their order."""
        return [named.name for named in self.panel]

    @property
    def in_parts(self) -> bool:
        """Whether parts of the responses can be scored apart: neither pooled nor corrected."""
        return not self.pools and not self.labels

    def add(self, response: Response, judgments: Sequence[Judgment]) -> tuple[list[bytes], bytes]:
        """Score a response; return each judge's lines of qrels, and its line of the review file."""
        self.board.add(response, judgments)
        self.votes.add(judgments)
        if self.labels:  # without labels nothing is corrected: its work is spared
            self.people.add(self.spec, response, judgments)
        reviewed = b""
        if self.rules:
            scores = self.board.scores[response.run_id][response.topic_id]
            found = review(self.rules, self.spec, response, judgments, scores)
            self.marked[found["status"] if found else PASSED] += 1
            reviewed = orjson.dumps(found, option=orjson.OPT_APPEND_NEWLINE) if found else b""
        return [self._qrels_of_judge(name, response, judgments) for name in self.judges], reviewed

    def _qrels_of_judge(
        self, judge: str, response: Response, judgments: Sequence[Judgment]
    ) -> bytes:
        graded = [j for j in judgments if j.judge == judge]
        if pool := self.pools.get(judge):
            pool.add(response, graded)
            return b""
        return self._text(response_qrels(response, graded))

    def _text(self, rows: Iterable[QrelsRow]) -> bytes:
        return "".join(qrels_line(row, self.header.qrels_as) for row in rows).encode()

    def take(self, part: PartScores) -> None:
        """Add what was scored apart. Parts come in the order of the job's responses."""
        self.board.take(part.scores, part.coverage)
        self.marked += part.marked
        self.votes.take(part.votes)

    @property
    def part(self) -> PartScores:
        """What was scored until now, to be taken by the scoring of the whole."""
        return PartScores(self.board.scores, dict(self.board.coverage), self.marked, self.votes)

    @contextmanager
    def files(self, outputs: Outputs) -> Iterator[ScoreFiles]:
        """Open the files: each replaces its old one only if nothing failed before the end.

        Of several judges, those that graded nothing have no qrels.
        """
        qrels = list(outputs.qrels_of(self.judges).values())
        with ExitStack() as files:
            yield ScoreFiles(
                [files.enter_context(whole(path)) for path in qrels],
                files.enter_context(whole(outputs.leaderboard)),
                files.enter_context(whole(outputs.statistics)),
                files.enter_context(whole(outputs.review)) if self.rules else None,
            )
        kept = [path for path in qrels if len(qrels) == 1 or path.stat().st_size]
        outputs.remove_other_qrels(kept, judge_names)

    def finish(self, files: ScoreFiles) -> Mapping[str, Sequence[RunScore]]:
        """Work out means and intervals, and write them; return the standings by measure."""
        self.board.finish()
        for name, file in zip(self.judges, files.qrels, strict=True):
            if pool := self.pools.get(name):
                file.write(self._text(pooled_qrels(pool.best)))
        for row in self.board.rows():
            files.leaderboard.write(leaderboard_line(row).encode())
        standings = rank_by_measure(self.board, self.people)
        files.statistics.writelines(statistics_lines(self.board, standings))
        return standings

    def summary(self, outputs: Outputs, standings: Mapping[str, Sequence[RunScore]]) -> Summary:
        """Return the summary of what was scored and written."""
        summary = summarise(outputs.name, ",".join(self.judges), self.board, standings)
        summary.ranking_named = bool(self.header.leaderboard.get("sort_by"))
        summary.ranked_by_judge = {
            judge: self.board.spec.in_place_of(self.board.choose_defined(name))
            for judge, name in ranked_by_judge(self.panel, summary.measures).items()
        }
        summary.voters = self.votes.figures()
        summary.failures_unknown = hiding_failures(self.panel)
        if self.labels is not None:
            summary.labels = self.people.counts(summary.ranked_by)
        for what in ("leaderboard", "statistics"):
            summary.files[what] = str(getattr(outputs, what))
        for judge, path in outputs.qrels_of(self.judges).items():
            if path.exists():
                what = "qrels" if len(self.panel) == 1 else f"qrels.{judge}"
                summary.files[what] = str(path)
        if self.rules:
            statuses = (*KEYS.values(), PASSED)
            summary.gate = {status: self.marked[status] for status in statuses}
            summary.files["review"] = str(outputs.review)
        return summary


@dataclass(frozen=True, slots=True)
class ScoreFiles:
    """The open files of a job's numbers: qrels of each judge; `review` is None without a gate."""

    qrels: Sequence[BinaryIO]
    leaderboard: BinaryIO
    statistics: BinaryIO
    review: BinaryIO | None

    def write(self, qrels: Sequence[bytes], reviewed: bytes) -> None:
        """Write the lines of a response."""
        for file, lines in zip(self.qrels, qrels, strict=True):
            file.write(lines)
        if self.review is not None:
            self.review.write(reviewed)


def score(
    reader: JudgmentsReader,
    outputs: Outputs,
    labels: Mapping[ItemKey, str] | None = None,
    report: OnFinding | None = None,
    trust: bool = False,
) -> Summary:
    """Write the qrels and the leaderboards of a judgments file and return the summary.

    As `scored`, by the judges that the file names; `trust` as for `panel_of`.
    """
    return score_file(reader, outputs, labels, report, panel_of(reader, trust)).summary


def score_file(
    reader: JudgmentsReader,
    outputs: Outputs,
    labels: Mapping[ItemKey, str] | None = None,
    report: OnFinding | None = None,
    panel: Panel | None = None,
) -> Scored:
    """Write the qrels and the leaderboards of a judgments file and return what was scored.

    `labels` and `report` as for `JobScoring`. `panel` are the file's judges, where they are at
    hand. Raises InputError if the file is not whole, before any file is replaced.
    """
    panel = panel_of(reader) if panel is None else panel
    scoring = JobScoring(reader.header, panel, reader.path, labels, report)
    with scoring.files(outputs) as files:
        for response, judgments in reader:
            files.write(*scoring.add(response, judgments))
        standings = scoring.finish(files)
    return Scored(scoring.summary(outputs, standings), scoring.board, standings)


@dataclass(slots=True)
class Pool:
    """The best grade of each document over all runs; grades that cannot both be right are reported.

    Two sentences on one document may have different grades. One sentence has one grade on it, or
    the runs carry different texts of it, or the judge decided it in two ways.
    """

    path: Path
    report: OnFinding | None = None
    best: dict[tuple[str, str], int] = field(default_factory=dict)
    first: dict[Asked, tuple[int, str, int | None]] = field(default_factory=dict)
    """Question -> its first grade, with the run and the sentence that had it."""

    def add(self, response: Response, judgments: Sequence[Judgment]) -> None:
        """Add the grades of a response."""
        if response.sample:  # whether a document is relevant is a matter of the topic
            judgments = [replace(j, topic_id=response.topic_asked) for j in judgments]
        best_grades(judgments, self.best)
        texts = {sentence.index: " ".join(sentence.text.split()) for sentence in response.sentences}
        for judgment in judgments:
            if judgment.grade is None or judgment.doc_id is None or self.report is None:
                continue
            index = judgment.sentence_index
            text = "" if index is None else texts.get(index, "")
            claim = judgment.claim.text if judgment.claim else ""
            asked = (judgment.topic_id, judgment.doc_id, text, claim)
            own = (judgment.grade, judgment.run_id, index)
            first = self.first.setdefault(asked, own)
            if first[0] != judgment.grade:
                self.report(self._conflict(judgment, first))

    def _conflict(self, judgment: Judgment, first: tuple[int, str, int | None]) -> Finding:
        grade, run_id, index = first
        where = "" if index is None else f", sentence {index + 1}"
        message = (
            f"run {judgment.run_id!r}, topic {judgment.topic_id!r}: document {judgment.doc_id!r} is"
            f" graded {judgment.grade}, for the same in run {run_id!r}{where} {grade}: the highest"
            " counts"
        )
        place = Place(str(self.path))
        shown = str(judgment.grade)
        own = judgment.sentence_index, judgment.run_id, judgment.topic_id
        return Finding("grade_conflict", place, message, shown, *own)
