"""From a judgments file to qrels, leaderboard and summary: no judge runs, no model is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from trecjudge.errors import InputError
from trecjudge.files import whole
from trecjudge.findings import Finding, OnFinding
from trecjudge.inputs.labels import ItemKey, takes_labels
from trecjudge.judging.judge import code_of_others
from trecjudge.judging.panel import (
    NamedJudge,
    Panel,
    hiding_failures,
    make_panel,
    panel_spec,
    ranked_by_judge,
)
from trecjudge.measures import LeaderboardSpec
from trecjudge.records import Judgment, Place, Response
from trecjudge.results.judgments import Header, JudgmentsReader
from trecjudge.results.outputs import Outputs
from trecjudge.results.trec import QrelsRow, leaderboard_line, qrels_line
from trecjudge.scores.corrections import HumanLabels
from trecjudge.scores.leaderboard import (
    Leaderboard,
    best_grades,
    pooled_qrels,
    response_qrels,
)
from trecjudge.scores.review import KEYS, panel_rules, read_gate, review
from trecjudge.scores.statistics import standing_lines, standings_of
from trecjudge.scores.summary import Summary, summarise
from trecjudge.settings.plugins import find_in_working_folder, module_of_others

if TYPE_CHECKING:
    from trecjudge.stats.standing import Standing

PASSED = "PASSED"
Asked = tuple[str, str, str, str]
"""(topic_id, doc_id, sentence, claim), as texts: the question that a grade answers."""


def spec_of(reader: JudgmentsReader, trust: bool = False) -> LeaderboardSpec:
    """Return the measures that a judgments file is to be scored by; `trust` as for `panel_of`."""
    panel, header = panel_of(reader, trust), reader.header
    return panel_spec(panel, header.leaderboard, header.measures)


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

    `standings` are the rank and the intervals of each run, by measure.
    """

    summary: Summary
    board: Leaderboard
    standings: Mapping[str, Sequence[Standing]]


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
    return scored(reader, outputs, labels, report, panel_of(reader, trust)).summary


def scored(
    reader: JudgmentsReader,
    outputs: Outputs,
    labels: Mapping[ItemKey, str] | None = None,
    report: OnFinding | None = None,
    panel: Panel | None = None,
) -> Scored:
    """Write the qrels and the leaderboards of a judgments file and return what was scored.

    `labels` are those of people on some items: they correct the means in the statistics. Grades
    that contradict each other in pooled qrels go to `report`. `panel` are the file's judges, where
    they are at hand. Raises InputError if the file is not whole, before any file is replaced.
    """
    header = reader.header
    panel = panel_of(reader) if panel is None else panel
    spec = panel_spec(panel, header.leaderboard, header.measures)
    takers = {s.name: s.judge for s in panel if takes_labels(s.judge)}
    people = HumanLabels(labels or {}, takers)
    board = Leaderboard(spec, header.topics)
    rules, marked = panel_rules(panel, read_gate(header.gate)), Counter[str]()
    first, pooled = next(iter(header.judges)), header.qrels_pool or spec.pooled_qrels
    pool = Pool(reader.path, report)
    # All files or none: each replaces its old one only if nothing failed before the end.
    with ExitStack() as files:
        qrels = files.enter_context(whole(outputs.qrels))
        leaderboard = files.enter_context(whole(outputs.leaderboard))
        statistics = files.enter_context(whole(outputs.statistics))
        reviews = files.enter_context(whole(outputs.review)) if rules else None
        for response, judgments in reader:
            board.add(response, judgments)
            if labels:  # without labels nothing is corrected: its work is spared
                people.add(spec, response, judgments)
            if reviews is not None:
                scores = board.scores[response.run_id][response.topic_id]
                found = review(rules, spec, response, judgments, scores)
                marked[found["status"] if found else PASSED] += 1
                reviews.write(
                    orjson.dumps(found, option=orjson.OPT_APPEND_NEWLINE) if found else b""
                )
            # Qrels have one grade for a document: that of the first judge.
            graded = [j for j in judgments if j.judge == first]
            if pooled:
                pool.add(response, graded)
            else:
                qrels.write(_text(response_qrels(response, graded)))
        board.finish()
        qrels.write(_text(pooled_qrels(pool.best)))
        for row in board.rows():
            leaderboard.write(leaderboard_line(row).encode())
        standings = standings_of(board, people)
        statistics.writelines(standing_lines(board, standings))
    summary = summarise(outputs.name, ",".join(header.judges), board, standings)
    summary.ranked_by_judge = ranked_by_judge(panel, summary.measures)
    summary.failures_unknown = hiding_failures(panel)
    if labels is not None:
        summary.labels = people.counts
    for what in ("leaderboard", "statistics", "qrels"):
        summary.files[what] = str(getattr(outputs, what))
    if rules:
        summary.gate = {status: marked[status] for status in (*KEYS.values(), PASSED)}
        summary.files["review"] = str(outputs.review)
    return Scored(summary, board, standings)


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
        where = "" if index is None else f", sentence {index}"
        message = (
            f"run {judgment.run_id!r}, topic {judgment.topic_id!r}: document {judgment.doc_id!r} is"
            f" graded {judgment.grade}, for the same in run {run_id!r}{where} {grade}: the highest"
            " counts"
        )
        place = Place(str(self.path))
        shown = str(judgment.grade)
        own = judgment.sentence_index, judgment.run_id, judgment.topic_id
        return Finding("grade_conflict", place, message, shown, *own)


def _text(rows: Iterable[QrelsRow]) -> bytes:
    return "".join(qrels_line(row) for row in rows).encode()
