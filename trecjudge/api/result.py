"""The result of judging: scores, statistics, findings, judgments; as records and data frames."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import trecjudge  # for what is imported when it is asked for: tables need numpy
from trecjudge.api.inputs import PathLike
from trecjudge.errors import InputError
from trecjudge.findings import KINDS, Finding, ignore, plural, visible_line
from trecjudge.judging.judge import judge_names
from trecjudge.measures import MeasureSpec
from trecjudge.records import Judgment, Response
from trecjudge.results.history import copy_files
from trecjudge.results.jobs import JobFiles, files_of
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.results.outputs import Outputs
from trecjudge.results.statistics import RANKED, RunScore
from trecjudge.scores.leaderboard import Leaderboard
from trecjudge.scores.scoring import Scored
from trecjudge.show.formats import number

if TYPE_CHECKING:
    from pandas import DataFrame


# Records as data frames, where pandas is installed.
WHOLE = "Int64"
"""The type of whole numbers that may be missing: by default a gap would turn 2 into 2.0."""


def frame(
    rows: Iterable[Mapping[str, Any]], columns: Sequence[str], types: Mapping[str, str]
) -> DataFrame:
    """Return rows as a data frame with these columns. Raises ImportError without pandas."""
    try:
        import pandas
    except ImportError as error:
        message = "a data frame needs pandas: pip install 'trecjudge[pandas]'; the records do not"
        raise ImportError(message) from error
    return pandas.DataFrame(list(rows), columns=list(columns)).astype(dict(types))


KINDS_OF_FILE = (
    *("leaderboard", "statistics", "qrels", "judgments", "review", "log", "config"),
    "report",
)
MOST_RUNS = 3
"""Runs that a result names on its line."""
NO_RESPONSE = "no response"
UNDEFINED = "not defined on this response"


@dataclass(frozen=True, slots=True)
class TopicScore:
    """A measure of a run on a topic.

    `value` is None where it is not known, never 0, and `reason` says why. Where only some
    of the items are `unjudged`, `value` is that of the others, `lowest` and `highest` what it could
    be with them (None where the measure has no bounds), and `reason` why the first one is unjudged.
    On a topic that the run does not answer the value is the measure's default, or None, as the
    means have it, and `reason` is `no response`.
    """

    run_id: str
    topic_id: str
    measure: str
    value: float | None
    lowest: float | None
    highest: float | None
    unjudged: int = 0
    reason: str = ""


@dataclass(frozen=True, repr=False)
class Result:
    """The result of judging.

    `judges` are their settings by name, `ranking` the runs, the best first by `ranked_by`. `files`
    are the paths by what is in them, of several judges `qrels.JUDGE`; without an `out_dir` they lie
    in a temporary folder that goes with the result. `gate` counts the responses that the
    workflow's `gate:` marks as `REJECTED`, `REVIEW` and `PASSED`, and is empty without one;
    `exit_status` is what the command would end with. `spent` is what a model cost,
    empty without one; `notes` the messages that a terminal would show.
    """

    name: str
    judges: Mapping[str, Mapping[str, Any]]
    measures: tuple[str, ...]
    ranked_by: str
    ranking: tuple[str, ...]
    scores: tuple[TopicScore, ...]
    statistics: tuple[RunScore, ...]
    findings: tuple[Finding, ...]
    failures: Mapping[str, int]
    lost: int
    gate: Mapping[str, int]
    exit_status: int
    spent: Mapping[str, Any]
    notes: tuple[str, ...]
    outputs: Outputs
    files: Mapping[str, Path]
    _written: os.stat_result = field(compare=False)
    _folder: object = field(compare=False, default=None)
    """The temporary folder, which goes when nothing refers to it."""

    def __repr__(self) -> str:
        means = {one.run_id: one.mean for one in self.statistics if one.measure == self.ranked_by}
        best = ", ".join(f"{run} {number(means.get(run), 3)}" for run in self.ranking[:MOST_RUNS])
        more = f" and {len(self.ranking) - MOST_RUNS} more" if self.ranking[MOST_RUNS:] else ""
        what = f"{self.name}: {', '.join(self.judges)}, ranked by {self.ranked_by}"
        return visible_line(f"<Result {what}: {best}{more}; {self._lacks}>")

    def _repr_html_(self) -> str | None:
        """Return what a notebook shows: the table, what is unjudged, where the evidence is."""
        try:
            table = trecjudge.table(self, "html", on_finding=ignore)
        except InputError:  # another job has written there since
            return None
        path = self.outputs.report if self.outputs.report.exists() else self.files["judgments"]
        what = "report" if path == self.outputs.report else "evidence"
        name = escape(visible_line(str(path)))
        link = f'<a href="{escape(quote(str(path)))}">{name}</a>'
        where = "" if self._is_temporary else f"; {what}: {link}"
        return f"{table}<p>{escape(visible_line(self._lacks))}{where}</p>\n"

    @property
    def _lacks(self) -> str:
        """What is not in the means, in words."""
        kinds = ", ".join(f"{kind} {count}" for kind, count in self.failures.items())
        unjudged = f"{plural(self.unjudged, 'item')} unjudged ({kinds})"
        lost = f"{plural(self.lost, 'finding')} left something out"
        lacks = [*[unjudged][: self.unjudged], *[lost][: self.lost]]
        return "; ".join(lacks) or "all was judged"

    @property
    def unjudged(self) -> int:
        """How many items the judges could not decide; `failures` counts them by kind."""
        return sum(self.failures.values())

    @property
    def complete(self) -> bool:
        """Whether everything was read and judged."""
        return not self.unjudged and not self.lost

    @property
    def rejected(self) -> int:
        """How many responses the gate rejects; the file `review` says which, and why."""
        return self.gate.get("REJECTED", 0)

    def responses(self) -> Iterator[tuple[Response, list[Judgment]]]:
        """Yield each response with its judgments, from the judgments file.

        Raises InputError where another job has written that file since.
        """
        path = self.files["judgments"]
        now = path.stat() if path.exists() else None
        # Same path, other job: its judgments would be taken for those of this result.
        if now is None or _identity(now) != _identity(self._written):
            raise InputError(f"{path}: another job has written there since; judge again")
        return iter(JudgmentsReader(path))

    def outcome(self) -> JobFiles:
        """Return its files as the commands of statistics find a job's. Raises as `responses`."""
        self.responses()
        found = files_of(self.outputs)
        return replace(found, place=Path(self.name)) if self._is_temporary else found

    @property
    def _is_temporary(self) -> bool:
        return str(self.outputs.folder).startswith(str(getattr(self._folder, "name", None)))

    def judgments(self) -> Iterator[Judgment]:
        """Yield every judgment, as `responses`; `failure` is why one is unjudged."""
        return (judgment for _, judgments in self.responses() for judgment in judgments)

    def write(self, out_dir: PathLike, name: str | None = None) -> dict[str, Path]:
        """Write the files of the job as the command does, byte for byte; return their paths.

        Raises OutputError where that cannot be done.
        """
        self.responses()
        packed = self.outputs.packed
        outputs = Outputs(Path(out_dir), self.name if name is None else name, packed)
        with outputs.lock():
            written = copy_files(self.files, self.name, outputs)
            outputs.remove_other_qrels(list(written.values()), judge_names)
        return written

    def scores_frame(self, wide: bool = False) -> DataFrame:
        """Return the scores, a row for each run, topic and measure.

        `wide` gives a row for each run and topic, a column for each measure, and in `reason` the
        reasons of all of them. Raises ImportError without pandas.
        """
        long = frame(map(asdict, self.scores), TopicScore.__slots__, _SCORE_TYPES)
        if not wide:
            return long
        keys = ["run_id", "topic_id"]
        values = long.pivot(index=keys, columns="measure", values="value")
        reasons = (
            long[long["reason"] != ""]
            .groupby(keys)["reason"]
            .agg(lambda texts: "; ".join(dict.fromkeys(texts)))
        )
        table = values[list(self.measures)].assign(reason=reasons).fillna({"reason": ""})
        return table.rename_axis(columns=None).reset_index()

    def statistics_frame(self) -> DataFrame:
        """Return where each run stands by each measure: a row for each `RunScore`."""
        rows = ({name: getattr(one, name) for name in RANKED} for one in self.statistics)
        names = RANKED if self.statistics else ()
        return frame(rows, names, {name: WHOLE for name in names if name.startswith("rank")})

    def findings_frame(self) -> DataFrame:
        """Return the findings, a row each, with their severity and what they do to the scores."""
        return frame(map(_finding_row, self.findings), _FINDING_COLUMNS, _FINDING_TYPES)

    def judgments_frame(self) -> DataFrame:
        """Return the judgments, a row each; of an unjudged one label, grade and value are missing.

        `failure` is the kind and `failure_message` the reason of one that is unjudged.
        """
        rows = map(_judgment_row, self.judgments())
        return frame(rows, _JUDGMENT_COLUMNS, _JUDGMENT_TYPES)


_SCORE_TYPES = {"value": "float64", "lowest": "float64", "highest": "float64"}
_FINDING_COLUMNS = (
    *("kind", "severity", "path", "line", "sentence", "run_id", "topic_id", "message", "value"),
    "effect",
)
_FINDING_TYPES = {"line": WHOLE, "sentence": WHOLE}
_JUDGMENT_COLUMNS = (
    *("run_id", "topic_id", "sentence_index", "doc_id", "citation", "exists", "judge", "label"),
    *("grade", "value", "expected", "p_full", "judged", "failure", "failure_message", "reason"),
    *("attester", "claim", "match", "confidence", "evidence_start", "evidence_end", "evidence"),
    *("nugget_id", "nugget", "nugget_answer", "importance"),
)
_JUDGMENT_TYPES = {
    **dict.fromkeys(("sentence_index", "grade", "evidence_start", "evidence_end"), WHOLE),
    **dict.fromkeys(("value", "expected", "p_full", "confidence"), "float64"),
    "exists": "boolean",
}


def _finding_row(finding: Finding) -> dict[str, Any]:
    row = {name: getattr(finding, name) for name in finding.__slots__ if name != "place"}
    place = {"path": finding.place.path, "line": finding.place.line}
    return row | place | {"severity": finding.severity, "effect": KINDS[finding.kind].effect}


def _judgment_row(judgment: Judgment) -> dict[str, Any]:
    failure, evidence, nugget = judgment.failure, judgment.evidence, judgment.nugget
    plain = {name: getattr(judgment, name, None) for name in _JUDGMENT_COLUMNS}
    return plain | {
        "failure": failure.kind if failure else None,
        "failure_message": failure.message if failure else None,
        "claim": judgment.claim.text if judgment.claim else None,
        "evidence": evidence.quote if evidence else None,
        "evidence_start": evidence.start if evidence else None,
        "evidence_end": evidence.end if evidence else None,
        "nugget_id": nugget.nugget_id if nugget else None,
        "nugget": nugget.text if nugget else None,
        "nugget_answer": nugget.answer if nugget else None,
        "importance": nugget.rank if nugget else None,
    }


def result_of(
    done: Scored,
    outputs: Outputs,
    findings: tuple[Finding, ...],
    notes: tuple[str, ...],
    folder: object,
) -> Result:
    """Return the result of a finished job."""
    summary = done.summary
    reader = JudgmentsReader(outputs.judgments)
    files = {
        what: Path(path)
        for kind in KINDS_OF_FILE
        for what, path in summary.files.items()
        if what.partition(".")[0] == kind
    }
    return Result(
        name=outputs.name,
        judges=reader.header.judges,
        measures=tuple(summary.measures),
        ranked_by=summary.ranked_by,
        ranking=tuple(run.run_id for run in summary.runs),
        scores=tuple(topic_scores(done.board)),
        statistics=tuple(one for column in done.standings.values() for one in column),
        findings=findings,
        failures=summary.failures,
        lost=summary.lost,
        gate=summary.gate,
        exit_status=summary.exit_status,
        spent=summary.calls,
        notes=notes,
        outputs=outputs,
        files=files,
        _written=outputs.judgments.stat(),
        _folder=folder,
    )


def topic_scores(board: Leaderboard) -> Iterator[TopicScore]:
    """Yield a score for each run, expected topic and measure, runs and topics sorted."""
    for run_id in sorted(board.scores):
        for topic_id in board.expected:
            for measure in board.spec.measures:
                yield _topic_score(board, run_id, topic_id, measure)


def _topic_score(
    board: Leaderboard, run_id: str, topic_id: str, measure: MeasureSpec
) -> TopicScore:
    where = (run_id, topic_id, measure.name)
    scores = board.scores[run_id].get(topic_id)
    if scores is None:
        value = None if board.spec.on_missing == "fix_aggregate" else measure.default
        return TopicScore(*where, value, value, value, reason=NO_RESPONSE)
    score = scores[measure.name]
    reason = UNDEFINED if score.value is None else ""
    if score.failure is not None:
        reason = f"{score.failure.kind}: {score.failure.message}"
    return TopicScore(*where, score.value, score.lowest, score.highest, score.unjudged, reason)


def _identity(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_mtime_ns, status.st_size
