"""The report of a job: its files, read in turn and put into one page."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, cast

import orjson

from trecjudge.errors import InputError
from trecjudge.evaluation.trust.card import read_card
from trecjudge.files import make_folder, resolve_links, whole
from trecjudge.findings import Finding
from trecjudge.inputs.packed import PackedRows
from trecjudge.judging.battles import battles_of
from trecjudge.judging.panel import leading_measures
from trecjudge.records.battles import Battle
from trecjudge.records.signs import SIGN_KINDS
from trecjudge.results.config import RecordedInputs, read_config
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.results.outputs import Outputs
from trecjudge.results.statistics import read_statistics
from trecjudge.scores.leaderboard import Leaderboard, judged_by_judge, too_few_topics
from trecjudge.scores.scoring import panel_of, spec_of
from trecjudge.scores.summary import claim_remarks, stated_confidence
from trecjudge.show.formats import describe_test, question_lines, withheld_text
from trecjudge.show.html import figures
from trecjudge.show.html.blocks import MOST_WAITING, Blocks
from trecjudge.show.html.cards import Cards, RunFacts, of_all_runs
from trecjudge.show.html.entries import (
    Entries,
    Other,
    Statistics,
    named_documents,
    read_other,
    standings,
)
from trecjudge.show.html.figures import Figure, Sides
from trecjudge.show.html.home import agreement_lines, home_shown
from trecjudge.show.html.job import (
    Trail,
    job_shown,
    kinds_of,
    moment,
    read_reviews,
    read_texts,
    read_trail,
    topics_for_page,
)
from trecjudge.show.html.labelling import LabelKinds
from trecjudge.show.html.page import Page, write_page
from trecjudge.show.html.sheet import sheet_paths, sheet_values
from trecjudge.show.tables import fold_equal, mean_cells
from trecjudge.show.tones import GROUPS, MEANINGS, OUTCOMES, QUESTIONS, SIGNS
from trecjudge.stats.scores import Scores

MEGABYTE = 1_000_000
MOST = 20
"""Megabytes of blocks that a page holds; beyond, they go into files beside it."""
MANY = 100_000
"""Judgments beyond which a browser reads those on one topic first."""
SPOOLED = 4 * MEGABYTE
"""Bytes of deflated blocks that are held in memory; beyond, a file without a name holds them."""


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """The request for a report.

    `inputs` are where topics, runs and documents lie, where the config's paths are not right any
    more. `document_text` None follows the job. `compare` is another job on the same runs, `truth`
    the scores of others, `truth_measures` as for `renamed_measures`. `most` are megabytes.
    `trust` lets code of others that the judgments name be imported.
    """

    outputs: Outputs
    inputs: RecordedInputs | None = None
    document_text: bool | None = None
    compare: Outputs | None = None
    truth: Scores | None = None
    truth_measures: Sequence[str] = ()
    most: float = MOST
    trust: bool = False
    told: Sequence[str] = ()
    """Sentences that stand first among the notes."""
    runs: Sequence[str] = ()
    """The runs of a team that gets a sheet; empty for the report of all runs."""
    sheets: Path | None = None
    """The folder that gets a sheet of each run."""


@dataclass(frozen=True, slots=True)
class Written:
    """A report on disk: its size in bytes, files beside it, and what it lacks."""

    path: Path
    size: int
    beside: int
    notes: list[str]

    def as_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        return {
            "report": str(self.path),
            "bytes": self.size,
            "beside": self.beside,
            "notes": self.notes,
        }


def write_report(wanted: ReportOptions) -> Written:
    """Write NAME.report.html beside the other files of a job. Raises a TrecJudgeError."""
    outputs = wanted.outputs
    # Beside the report, where there is room for it: a temporary folder may lie in memory.
    with tempfile.SpooledTemporaryFile(SPOOLED, dir=str(outputs.folder)) as spool:
        report = _Report(wanted, cast(BinaryIO, spool))
        return report.write(outputs.report)


def write_sheets(wanted: ReportOptions) -> list[Written]:
    """Write the sheets that are `wanted`, each with its values as JSON beside it.

    Everything is read once for all of them. Raises a TrecJudgeError.
    """
    folder = wanted.sheets or wanted.outputs.folder
    make_folder(folder)
    with tempfile.SpooledTemporaryFile(SPOOLED, dir=str(folder)) as spool:
        report = _Report(wanted, cast(BinaryIO, spool))
        return [report.sheet(runs).write(path) for path, runs in report.pages.items()]


class _Report:
    """All that a page is made of, read; what is shown later only is in `blocks`."""

    def __init__(self, wanted: ReportOptions, spool: BinaryIO) -> None:
        self.wanted, outputs = wanted, wanted.outputs
        documents = PackedRows()
        self._read_judgments(documents)
        self.config = read_config(outputs.config)
        self.inputs = self._choose_inputs()
        self._make_trails(spool)
        strict = wanted.inputs is not None
        self.texts = read_texts(self.inputs, self.blocks_of, documents, strict)
        del documents
        self.other = self._read_other()
        self._fill_blocks()
        read_reviews(outputs.review, self.blocks_of)
        logged = read_trail(outputs, self.trail_of, self.texts.response_at, self.inputs)
        for trail in (self.trail, *self.trails.values()):
            trail.logged = logged
        self.known = _statistics(outputs.statistics)
        alone = wanted.truth is None and self.other is None
        self.ours = None if alone else figures.scores_of_job(outputs, self.board)
        self.with_other = self._correlate_other()
        self.sides = list(self._sides())

    def _read_judgments(self, documents: PackedRows) -> None:
        """Read the judgments; put the documents that they name into `documents`, by response.

        What a report needs only for a while is not kept here: a large job has much of it.
        """
        path, trust = self.wanted.outputs.judgments, self.wanted.trust
        reader = JudgmentsReader(path)
        self.board = Leaderboard(spec_of(reader, trust), reader.header.topics)
        self.panel = panel_of(reader, trust)
        self.judges = [named.name for named in self.panel]
        self.teams: dict[str, str] = {}
        self.on_nuggets: dict[str, None] = {}
        battles: list[Sequence[Battle]] = []
        for response, judgments in reader:
            battles += filter(None, [battles_of(response, judgments)])
            self.board.add(response, judgments)
            self.teams[response.run_id] = response.team_id
            self.on_nuggets.update((j.judge, None) for j in judgments if j.nugget)
            ids = named_documents(response, judgments)
            documents.put((response.run_id, response.topic_id), ids)
        self.board.finish()
        self.matrix = figures.win_matrix(battles, self.board.ranking()) if battles else None
        self.stated = stated_confidence(self.board)
        self.edited, self.sha256 = reader.edited, reader.sha256
        if not self.board.scores:
            raise InputError(f"{path}: holds no response")

    def _make_trails(self, spool: BinaryIO) -> None:
        """Give each page its blocks: a report has one for all runs, a sheet one for its own."""
        wanted, every = self.wanted, self.board.scores
        self.among: Leaderboard | None = None
        self.trail = Trail(Blocks(self.board.expected, spool))
        self.trails: dict[str, Trail] = {}
        self.pages: Mapping[Path, Sequence[str]] = {}
        judge = self.board.ranking_measure.judge
        if wanted.runs or wanted.sheets:
            self.among = self.board
            self.pages = sheet_paths(wanted.outputs, every, wanted.runs, wanted.sheets)
            most = MOST_WAITING // len(self.pages)
            for runs in self.pages.values():
                own = Trail(Blocks(self.board.expected, spool, most), of_team=True)
                self.trails |= dict.fromkeys(runs, own)
        self.facts = {run: RunFacts(judge) for run in self.trails or every}
        self.three = of_all_runs(self.board)

    def trail_of(self, run_id: str) -> Trail | None:
        """Return what the page of a run has of the log; None where no page has the run."""
        return self.trails.get(run_id) if self.among else self.trail

    def blocks_of(self, run_id: str) -> Blocks | None:
        """Return the blocks of the page of a run; None where no page has it."""
        trail = self.trail_of(run_id)
        return trail.blocks if trail else None

    def sheet(self, runs: Sequence[str]) -> _Report:
        """Return the report of a team's own runs."""
        made = copy(self)
        made.board, made.trail = self.board.only(runs), self.trails[runs[0]]
        made.stated = stated_confidence(made.board)
        return made

    def write(self, path: Path) -> Written:
        """Write the page; of a sheet its values beside it."""
        page = self.page()
        blocks = self.trail.blocks.pack()
        beside = write_page(path, page, blocks, int(self.wanted.most * MEGABYTE))
        if self.among:
            found = sheet_values(page.name, self.cards, page.head["scores"])
            with whole(path.with_suffix(".json")) as file:
                file.write(orjson.dumps(found, option=orjson.OPT_INDENT_2))
        return Written(path, path.stat().st_size, beside, self.notes())

    @property
    def cards(self) -> Cards:
        """The cards of the runs of this page, placed among all runs."""
        runs = list(self.board.scores)
        return Cards(self.among or self.board, runs, self.facts, self.three, self.known)

    def _choose_inputs(self) -> RecordedInputs:
        """Return where the texts are, and whether those of documents may be shown."""
        inputs = self.config.inputs.moved_to(self.wanted.inputs)
        allowed = self.wanted.document_text
        return inputs if allowed is None else replace(inputs, document_text=allowed)

    def _read_other(self) -> Other | None:
        """Read the output to compare with; where its name is ours, its folder is named too."""
        other = self.wanted.compare
        if other is None:
            return None
        same = other.name == self.wanted.outputs.name
        name = f"{resolve_links(other.folder).name}/{other.name}" if same else other.name
        reader = JudgmentsReader(other.judgments)
        return read_other(name, reader, self.judges, self.inputs.document_text, self.wanted.trust)

    def _fill_blocks(self) -> None:
        self.kinds = LabelKinds()
        for response, judgments in JudgmentsReader(self.wanted.outputs.judgments):
            if (blocks := self.blocks_of(response.run_id)) is None:
                continue
            entries = Entries(self.inputs.document_text, blocks, not self.among)
            entry = entries.response(response, judgments, self.texts.documents_of(response))
            blocks.add("topic", response.topic_id, entry)
            self.facts[response.run_id].add(response, judgments)
            self.kinds.add(judgments)
            for flip in self.other.flips(response, judgments) if self.other else ():
                blocks.add("flips", None, flip)

    def _correlate_other(self) -> Mapping[str, Sequence[Figure]]:
        """Return how the order of runs agrees with that of the other output, by common measure."""
        if self.ours is None or self.other is None or self.wanted.compare is None:
            return {}
        theirs = figures.scores_of_job(self.wanted.compare, self.other.board)
        common = {measure.name for measure in self.other.board.spec.measures}
        names = [measure.name for measure in self.board.spec.measures if measure.name in common]
        return figures.correlate_measures(theirs, self.ours, {name: name for name in names})

    def page(self) -> Page:
        """Return the page, with notes on what is missing."""
        head, cards = self._head(), self.cards.cards()
        for card in cards:
            self.trail.blocks.add("cards", None, card)
        static = (
            head
            | _totals(head)
            | {
                "home": home_shown(head, cards),
                "agreement": list(self._agreement_lines(head)),
                "by_judge": self._by_judge(),
                "test": describe_test(self._test or ""),
                "too_few_topics": self._too_few_topics(),
            }
        )
        charts = [*figures.own_charts(self.board, head["leading"])]
        charts += figures.stated_charts(self.stated)
        agreeing = [c for both in self.sides for c in figures.agreement(self.board, both)]
        name = self.wanted.outputs.name
        notes = [self.inputs.without_folders(note) for note in self.notes()]
        if self.edited:  # the command itself was told by the reader
            notes.append("the judgments were edited since they were judged: their SHA-256 differs")
        if withheld := sum(
            map(Counter, (run.withheld for run in self.board.coverage.values())), Counter()
        ):
            notes.append(withheld_text(withheld, "judgment"))
        notes += question_lines(self.board.coverage.values())
        path = self.wanted.outputs.card
        made = read_card(path) if path.is_file() else None
        job = job_shown(self.config.record, self.trail.prompts, not self.among, made)
        written = moment(self.config.written)
        return Page(name, static, charts, notes, head, written, job, agreeing)

    def _fold_measures(self) -> tuple[list[str], list[str]]:
        """Return the measures to show at first, and lines on those that repeat one of them."""
        board = self.board
        leading = leading_measures(self.panel, board.spec)
        ranked = board.spec.ranked_by
        names = sorted(leading, key=lambda name: name != ranked)  # which ranks is never left out
        columns = {m: mean_cells(board.means[run, m] for run in board.scores) for m in names}
        kept, lines = fold_equal(columns)
        return [name for name in leading if name in kept], lines

    def _by_judge(self) -> str:
        board, judges = self.board, self.judges
        counts = judged_by_judge(board.coverage.values(), judges).items()
        return ", ".join(f"{j} {n} of {of}" for j, (n, of) in counts) if len(judges) > 1 else ""

    def _shown_statistics(self) -> Statistics:
        """Return the statistics, without groups where no test could have told runs apart.

        A sheet has none either: they say which of the others are alike.
        """
        if not self.among and not self._too_few_topics():
            return self.known
        return {key: replace(one, groups=()) for key, one in self.known.items()}

    @property
    def _test(self) -> str | None:
        """What made the groups; None where there are none, as on a sheet."""
        if self.among:
            return None
        return next((one.test for one in self.known.values() if one.groups), None)

    def _too_few_topics(self) -> str:
        runs, topics = len(self.board.scores), len(self.board.expected)
        return "" if self._test is None else too_few_topics(runs, topics, self._test)

    def _head(self) -> dict[str, Any]:
        board, trail, among = self.board, self.trail, self.among
        counted = {} if among else self.config.findings  # these are of all runs
        items = sum(coverage.expected for coverage in board.coverage.values())
        leading, folded = self._fold_measures()
        return standings(board, self._shown_statistics(), self.teams, among) | {
            "leading": leading,
            "folded": folded,
            "name": self.wanted.outputs.name,
            "model": self.config.model,
            "judges": self.judges,
            "digest": self.sha256,
            "labels": self.kinds.labels({one.name: one.judge for one in self.panel}),
            "ranking_judge": board.ranking_measure.judge,
            "large": items > MANY,
            # Of a topic that no file has another team may be the one who says what it asks.
            "topics": topics_for_page(
                self.texts.given if among else self.texts.topics, board.expected
            ),
            "signs": SIGNS,
            "meanings": MEANINGS,
            "nuggets": list(self.on_nuggets),
            "of_nuggets": GROUPS,
            "asked": QUESTIONS,
            "outcomes": OUTCOMES,
            "findings": kinds_of(trail.findings if trail.logged else counted),
            "logged": trail.logged,
            "calls": trail.calls,
            "compared": self._compare_other(),
            "battles": None if among else self.matrix,
            "of_all": self.three if among else None,
            "of_runs": len((among or board).scores),
        }

    def _compare_other(self) -> dict[str, Any] | None:
        if self.other is None or self.wanted.compare is None:
            return None
        ours, theirs = self.wanted.outputs, self.wanted.compare
        return self.other.as_dict(self.board) | {
            "labels": figures.labels_agreement(theirs.judgments, ours.judgments),
            "correlations": self.with_other,
        }

    def _sides(self) -> Iterator[Sides]:
        """Yield what the order of the runs is compared with: a truth, another job."""
        board, truth, ours = self.board, self.wanted.truth, self.wanted.outputs.name
        if truth is not None:
            renamed = figures.renamed_measures(self.wanted.truth_measures, board)
            means = figures.means_of_truth(
                truth, board, renamed, strict=bool(self.wanted.truth_measures)
            )
            unjudged = figures.unjudged_of_truth(truth, renamed)
            order = figures.correlate_measures(truth, self.ours, renamed) if self.ours else {}
            yield Sides(ours, Path(truth.name).name, means, unjudged, order, renamed)
        if self.other is not None:
            theirs = self.other.board
            means, unjudged = figures.means_of(theirs), figures.unjudged_of(theirs)
            yield Sides(ours, self.other.name, means, unjudged, self.with_other)

    def _agreement_lines(self, head: Mapping[str, Any]) -> Iterator[str]:
        labels = head["compared"] and head["compared"]["labels"]
        for both in self.sides:
            own = labels if self.other is not None and both.name == self.other.name else None
            yield from agreement_lines(both.name, both.figures, head["ranked_by"], own)

    def notes(self) -> list[str]:
        missing = self.texts.missing
        if self.among:  # which file is not there may be another team's
            missing = [note.partition(":")[0] for note in missing]
        remarks = [] if self.among else self.board.remarks  # they name runs
        notes = [*self.wanted.told, *missing, *remarks, *claim_remarks(self.board)]
        notes += [found.line for found in self.stated]
        if not self.inputs.document_text:
            notes.append("text of documents is left out, as requested")
        elif not self.inputs.runs and not self.inputs.documents:
            notes.append(
                "no text of documents: the config does not name the runs; give"
                " --rag-responses or --documents"
            )
        if not self.trail.logged:
            notes.append("no log beside the judgments: no places of findings, no prompts as sent")
        return notes


def _statistics(path: Path) -> Statistics:
    """Return the statistics of a NAME.leaderboard.jsonl; none where there is no such file.

    Raises InputError with file and line for a line that is no statistic.
    """

    def refuse(finding: Finding) -> NoReturn:
        raise InputError(str(finding))

    found = read_statistics(path, refuse) if path.is_file() else ()
    return {(one.run_id, one.measure): one for one in found}


def _totals(head: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the static part of the page shows beyond the head block."""
    runs, judges = head["runs"], head["judges"]
    means = [mean for run in runs for mean in run["means"]]
    lower = {m["name"] for m in head["measures"] if m["lower_is_better"]}
    return {
        "ranked_lower": head["ranked_by"] in lower,
        "ranked_at": [m["name"] for m in head["measures"]].index(head["ranked_by"]),
        "judge": f"{'judge' if len(judges) == 1 else 'judges'} {', '.join(judges)}",
        "judged": sum(run["judged"] for run in runs),
        "expected": sum(run["expected"] for run in runs),
        "has_intervals": any(mean["low"] is not None for mean in means),
        "sign_columns": [
            name
            for name in SIGN_KINDS
            if any(name in run["shows"] for run in runs)
            or (name == "copied" and any(run["signs"].get(name) for run in runs))
        ],
        "has_languages": any(run["language"] for run in runs),
        "has_groups": any(mean["groups"] for mean in means),
        "has_ranks": any(mean["ranks"] for mean in means),
        # Notes change no score: they would hide how many problems there are.
        "findings_total": sum(k["count"] for k in head["findings"] if k["severity"] != "note"),
    }
