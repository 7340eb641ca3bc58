"""Judgments chosen by run, topic, label, document or word; a line each, or in a file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import orjson
from rich.cells import cell_len

from trecjudge.errors import InputError, unknown
from trecjudge.findings import brief, visible
from trecjudge.inputs.labels.vocabulary import support_label
from trecjudge.judging.claims.kinds import kind_not_stated
from trecjudge.records import Judgment, Response, Vote
from trecjudge.results.json_lines import PARQUET
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.results.leaderboards.writing import csv_line
from trecjudge.show.formats import TopicNames, cell_text
from trecjudge.show.tables import NumberedForms, cut

UNJUDGED, MISSING = "unjudged", "missing_document"
# Judgments chosen by run, topic, judge, label, document or word, read one response at a time.


def verdict_of(judgment: Judgment) -> str:
    """Return a judgment's label, `missing_document` or `unjudged`; an empty text without one.

    A citation of no document is kept apart from one without support, although both are labelled so.
    """
    if judgment.failure is not None:
        return UNJUDGED
    if judgment.exists is False and judgment.citation is not None:
        return MISSING
    return judgment.label or ""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which judgments are wanted: an empty field takes all, one with several values any of them.

    `text` is looked for in sentence, claim and nugget, in upper and lower case.
    """

    runs: Sequence[str] = ()
    topics: Sequence[str] = ()
    judges: Sequence[str] = ()
    labels: Sequence[str] = ()
    documents: Sequence[str] = ()
    unjudged: bool = False
    text: str = ""

    def of_all_labels(self) -> Selection:
        """Return the selection without its labels: what its judgments are a share of."""
        return replace(self, labels=(), unjudged=False)

    @property
    def is_of_responses(self) -> bool:
        """Whether whole responses are wanted: by run and topic only."""
        others = (self.judges, self.labels, self.documents, self.unjudged, self.text)
        return not any(others)

    def takes_response(self, response: Response) -> bool:
        """Return whether a response may hold wanted judgments."""
        of_run = not self.runs or response.run_id in self.runs
        return of_run and (not self.topics or response.topic_id in self.topics)

    def takes(self, judgment: Judgment, sentence: str) -> bool:
        """Return whether a judgment on a response that is taken is wanted."""
        if self.judges and judgment.judge not in self.judges:
            return False
        if self.documents and not {judgment.doc_id, judgment.citation} & set(self.documents):
            return False
        # `--unjudged` beside `--label` adds the unjudged items to those with the labels.
        if (self.labels or self.unjudged) and not self._says(verdict_of(judgment)):
            return False
        word = self.text.casefold()
        return word in sentence.casefold() or word in judgment.about.casefold()

    def _says(self, label: str) -> bool:
        if self.unjudged and label == UNJUDGED:
            return True
        wanted = {text.casefold() for text in self.labels}
        return label.casefold() in wanted | {support_label(text) for text in wanted}


@dataclass(slots=True)
class Selected:
    """The wanted judgments of a file, response by response; labels are counted on the way."""

    reader: JudgmentsReader
    selection: Selection
    judgments: int = 0
    responses: int = 0
    runs: dict[str, None] = field(default_factory=dict)
    topics: dict[str, None] = field(default_factory=dict)
    judges: dict[str, None] = field(default_factory=dict)
    labels: Counter[str] = field(default_factory=Counter)

    def __iter__(self) -> Iterator[tuple[Response, list[Judgment]]]:
        """Yield responses with their wanted judgments.

        Raises InputError with what there is, where a name is asked for that is nowhere.
        """
        selection = self.selection
        self.judges |= dict.fromkeys(self.reader.header.judges)
        for response, judgments in self.reader:
            self._note(response, judgments)
            if not selection.takes_response(response):
                continue
            texts = sentence_texts(response)
            wanted = [j for j in judgments if selection.takes(j, text_of(j, texts))]
            if wanted or selection.is_of_responses:
                self.responses += 1
                self.judgments += len(wanted)
                yield response, wanted
        self.check(selection)

    def _note(self, response: Response, judgments: Iterable[Judgment]) -> None:
        self.runs[response.run_id] = self.topics[response.topic_id] = None
        for judgment in judgments:
            self.judges[judgment.judge] = None
            self.labels[verdict_of(judgment)] += 1

    def check(self, wanted: Selection) -> None:
        """Raise InputError for a name of a selection that was nowhere in what was read."""
        for what, names, known in (
            ("run", wanted.runs, self.runs),
            ("topic", wanted.topics, self.topics),
            ("judge", wanted.judges, self.judges),
            ("label", wanted.labels, self._known_labels(wanted)),
        ):
            for name in names:
                if name not in known:
                    raise InputError(unknown(what, name, known))

    def _known_labels(self, wanted: Selection) -> dict[str, None]:
        there = [label for label in self.labels if label]
        cased = [text for text in wanted.labels if text.casefold() in map(str.casefold, there)]
        short = [text for text in wanted.labels if support_label(text) in there]
        # A known label is accepted even where no judgment has it.
        return dict.fromkeys([*sorted(there), *cased, *short, UNJUDGED, MISSING])

    @property
    def none_line(self) -> str:
        """A line where nothing fits: the labels that there are, with their counts."""
        labels = ", ".join(f"{label} {n}" for label, n in self.labels.most_common() if label)
        return f"no judgment fits; labels in the job: {labels or 'none'}"


def sentence_texts(response: Response) -> dict[int, str]:
    """Return the sentences of a response by index."""
    return {sentence.index: sentence.shown for sentence in response.sentences}


def text_of(judgment: Judgment, texts: Mapping[int, str]) -> str:
    """Return the sentence of a judgment, no text where it is on the whole response."""
    return texts.get(-1 if judgment.sentence_index is None else judgment.sentence_index, "")


# Judgments in lines: one a judgment on a terminal, or as JSONL, CSV or TSV in a file.
LOOKED_AT = 200
"""Judgments that set the widths of the columns, since the list starts before all are read."""
Row = tuple[Judgment, str]
"""A judgment and its sentence."""
COLUMNS = ("run", "topic", "#", "document", "label", "judge")
TOPIC, INDEX = COLUMNS.index("topic"), COLUMNS.index("#")
MOST = (16, 8, 5, 16, 16, 10)
MOST_OF_WORDS = (16, 14, 5, 10, 16, 10)
"""Characters that each name may take in a line of 80; in longer lines more. The second are for
topics that are named by the first words of their question."""
TEXTS = ("failure", "reason", "claim", "nugget", "evidence", "votes", "text")
"""Fields that are no names."""
FIELDS = (
    *("run_id", "topic_id", "sentence_index", "doc_id", "citation", "judge", "verdict", "label"),
    *("grade", "value", "exists", "confidence", "kind", *TEXTS),
)
NAMES = ("run_id", "topic_id", "doc_id")
LOST = re.compile(r"[ \r\n]\n|\n[ \r]")
"""Line ends of which a reader of tables keeps only one."""
JSONL = ".jsonl"
SEPARATORS = {JSONL: "", PARQUET: "", ".csv": ",", ".tsv": "\t"}
"""What separates cells, by the ending of a file."""


def judgment_fields(row: Row) -> dict[str, Any]:
    """Return a judgment for a file: as it is stored, in one level, with its sentence.

    `verdict` is the label, `missing_document` or `unjudged`; `sentence_index` counts from 0. `kind`
    is what a claim is about that no document states, `confidence` P(label) of a claim.
    """
    judgment, text = row
    plain = {name: getattr(judgment, name, None) for name in FIELDS}
    return plain | {
        "verdict": verdict_of(judgment) or None,
        "failure": judgment.failure.kind if judgment.failure else None,
        "claim": judgment.claim.text if judgment.claim else None,
        "kind": kind_not_stated(judgment),
        "nugget": judgment.about if judgment.nugget else None,
        "votes": "; ".join(map(_vote, judgment.votes)) or None,
        "evidence": judgment.evidence.quote if judgment.evidence else None,
        "text": text or None,
    }


def _vote(vote: Vote) -> str:
    return f"{vote.voter}: {vote.label or vote.failure}"


def file_lines(path: Path, rows: Iterable[Row]) -> Iterator[bytes]:
    """Yield judgments as lines of a file, its format by the ending; a pipe takes JSONL.

    Raises InputError for another ending, and an id that a table cannot hold.
    """
    separator = SEPARATORS[_ending(path)]
    if not separator:
        for row in rows:
            yield orjson.dumps(judgment_fields(row), option=orjson.OPT_APPEND_NEWLINE)
        return
    yield csv_line(FIELDS, separator).encode()
    for row in rows:
        cells = {name: cell_text(value) for name, value in judgment_fields(row).items()}
        for name in NAMES:
            if LOST.search(cells[name]):
                message = f"{name} {brief(cells[name])}: a table does not keep its line ends"
                raise InputError(f"--output {path}: {message}; give a {JSONL} file")
        if separator == "\t":  # tools that read it take no line ends in a cell; ids are kept
            cells |= {name: " ".join(cells[name].split()) for name in TEXTS}
        yield csv_line(cells.values(), separator).encode()


def _ending(path: Path) -> str:
    ending = path.suffix.lower()
    if not ending and path.is_relative_to("/dev"):
        return JSONL
    if ending not in SEPARATORS:
        raise InputError(f"--output {path}: {unknown('ending', ending, SEPARATORS)}")
    return ending


class _Layout:
    """The columns of a line, as wide as the first rows need; the text has what is left."""

    def __init__(self, rows: Sequence[Sequence[str]], width: int) -> None:
        spare = max(width - 80, 0) // 4
        self._widths = []
        in_words = any(" " in row[TOPIC] for row in rows)
        every = MOST_OF_WORDS if in_words else MOST
        for place, (header, most) in enumerate(zip(COLUMNS, every, strict=True)):
            cells = max(cell_len(row[place]) for row in rows)
            limit = cells if place == INDEX else most + spare
            self._widths.append(min(max(cells, len(header)), limit) if cells else 0)
        taken = sum(self._widths) + sum(1 for own in self._widths if own)
        self._text = max(width - taken, 8)
        self._forms = list(map(NumberedForms, self._widths))

    def line(self, cells: Sequence[str], text: str) -> str:
        padded = (
            self._pad(form.of(cell), width, place == INDEX)
            for place, (form, cell, width) in enumerate(
                zip(self._forms, cells, self._widths, strict=True)
            )
            if width
        )
        return " ".join((*padded, cut(text, self._text))).rstrip()

    def _pad(self, cell: str, width: int, is_number: bool) -> str:
        blanks = " " * (width - cell_len(cell))
        return f"{blanks}{cell}" if is_number else f"{cell}{blanks}"


def judgment_lines(rows: Iterable[Row], width: int, several_judges: bool) -> Iterator[str]:
    """Yield a header, and a line for each judgment, in so many columns; sentences count from 1."""
    rest = iter(rows)
    first = list(islice(rest, LOOKED_AT))
    if not first:
        return
    topics = TopicNames()
    layout = _Layout([_cells(row, several_judges, topics) for row in first], width)
    yield layout.line(COLUMNS if several_judges else (*COLUMNS[:-1], ""), "text")
    for row in chain(first, rest):
        yield layout.line(_cells(row, several_judges, topics), visible(_text(row)))


def _cells(row: Row, several_judges: bool, topics: TopicNames) -> tuple[str, ...]:
    judgment, _ = row
    index = judgment.sentence_index
    label = verdict_of(judgment)
    if not label and judgment.value is not None:
        label = f"{judgment.value:.3f}"
    cells = (
        judgment.run_id,
        topics.of(judgment.topic_id),
        "" if index is None else str(index + 1),
        judgment.doc_id or judgment.citation or "",
        label,
        judgment.judge if several_judges else "",
    )
    return tuple(map(visible, cells))


def _text(row: Row) -> str:
    judgment, text = row
    return judgment.about or text
