"""Tables that fit a terminal: names are shortened, numbers never."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, takewhile
from typing import TYPE_CHECKING, Literal, TypeVar

from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions
from rich.text import Text

from trecjudge.findings import plural, visible, visible_line
from trecjudge.measures import DIGITS
from trecjudge.show.formats import TopicNames, interval, number

if TYPE_CHECKING:
    from trecjudge.evaluation.agreement import Agreement
    from trecjudge.evaluation.people import Likeness, PeopleAgreement
    from trecjudge.results.statistics import RunScore
    from trecjudge.stats.labelling import LabelCandidate
    from trecjudge.stats.shrinkage import Forecast


# Text in the columns of a terminal: names shortened in the middle, headers, lines that fit.
PART = re.compile(r"[^\s_]*_+|\S+")


def shorten(text: str, width: int, mark: str = "…") -> str:
    """Return a text in so many columns of a terminal; of a long one the middle is left out."""
    if cell_len(text) <= width:
        return text
    room = max(width - cell_len(mark), 0)
    behind = room // 2
    return f"{_first(text, room - behind)}{mark}{_first(text[::-1], behind)[::-1]}"


def cut(text: str, width: int, mark: str = "…") -> str:
    """Return a text on one line in so many columns; of a long one the end is left out."""
    line = " ".join(text.split())
    if cell_len(line) <= width:
        return line
    return f"{_first(line, max(width - cell_len(mark), 0)).rstrip()}{mark}"


def _first(text: str, width: int) -> str:
    # A text is as wide as it has characters, or wider: more of it is never needed.
    return chop_cells(text[: width + 1], width)[0] if width and text else ""


def disambiguate(
    texts: Sequence[str], width: int, mark: str = "…", among: Sequence[str] = ()
) -> list[str]:
    """Return each text in so many columns; those that would look alike show where they differ.

    They differ from those of `among` too, which are not returned. Where no place shows that, they
    end in a number: different texts never look the same.
    """
    short = {text: shorten(text, width, mark) for text in dict.fromkeys((*texts, *among))}
    groups = _alike(short)
    while groups:
        for same in groups:
            short |= {text: _around(text, _common(same), width, mark) for text in same}
        # Of three that begin alike two may begin alike still further on.
        groups = [s for s in _alike(short) if any(set(s) < set(same) for same in groups)]
    numbers = NumberedForms(width, mark)
    whole = {text for text, form in short.items() if text == form}
    numbers.taken = whole | set(short.values())
    for same in _alike(short):
        short |= {text: numbers.next_form(text) for text in sorted(set(same) - whole)}
    return [short[text] for text in texts]


def _common(texts: Sequence[str]) -> int:
    """Return how many characters all of several texts begin with."""
    columns = zip(*texts, strict=False)
    return sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, columns))


def _alike(short: Mapping[str, str]) -> list[list[str]]:
    found: dict[str, list[str]] = {}
    for text, form in short.items():
        found.setdefault(form, []).append(text)
    return [same for same in found.values() if len(same) > 1]


class NumberedForms:
    """Texts in so many columns as they come, one by one: each of a form that no other one has."""

    def __init__(self, width: int, mark: str = "…") -> None:
        self.taken: set[str] = set()
        self._width, self._mark = width, mark
        self._known: dict[str, str] = {}
        self._texts: dict[str, str] = {}

    def of(self, text: str) -> str:
        """Return the form of a text, always the same one."""
        if text not in self._known:
            form, seen = shorten(text, self._width, self._mark), set[str]()
            while form in self._texts and form not in seen:
                seen.add(form)
                common = _common([text, self._texts[form]])
                form = _around(text, common, self._width, self._mark)
            if form in self.taken:
                form = self.next_form(text)
            self.taken.add(form)
            self._known[text], self._texts[form] = form, text
        return self._known[text]

    def next_form(self, text: str) -> str:
        """Return the start of a text with the first number that makes a form of its own."""
        tails = (f"{self._mark}{number}" for number in count(2))
        forms = (f"{_first(text, max(self._width - cell_len(t), 0))}{t}" for t in tails)
        form = next(form for form in forms if form not in self.taken)
        self.taken.add(form)
        return form


def _around(text: str, place: int, width: int, mark: str) -> str:
    start = _first(text[:place], width // 4)
    gap = mark if place > len(start) else ""
    rest = cut(text[place:], max(width - cell_len(start) - cell_len(gap), 0), mark)
    return f"{start}{gap}{rest}"


def stack_header(header: str, width: int) -> list[str]:
    """Return a header in lines of this width, parted at spaces and behind `_`, never in a word."""
    lines: list[str] = []
    for part in PART.findall(header):
        last = lines[-1] if lines else ""
        joined = f"{last}{part}" if last.endswith("_") else f"{last} {part}"
        if lines and cell_len(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(part)
    return lines


def longest_part(header: str) -> int:
    """Return the width of a header's widest part."""
    return max(map(cell_len, PART.findall(header)), default=0)


def within(parts: Iterable[str], width: int, gap: str = ", ") -> str:
    """Return the first parts, as many as fit into so many columns whole."""
    line = ""
    for part in parts:
        more = f"{line}{gap}{part}" if line else part
        if cell_len(more) > width:
            break
        line = more
    return line


# Tables that fit a terminal: names are shortened, numbers never; what does not fit is below.
GAP = 2
LONGEST_WORD = 24
"""Columns of a word in a header: a longer one is shortened in the middle."""


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column of a table, its cells as text.

    A `key` is repeated in every part of a table that is too wide for one. `spare` ones are left out
    from the right: `first` before anything is shortened, `last` where that is not enough. `least`
    is the width to which cells may be shortened in the middle, so that they still differ from each
    other and from those of `among`; None for numbers. The cells of a `stacked` one are names of
    measures, never cut: they stand in lines, as headers do.
    """

    header: str
    cells: Sequence[str]
    is_left: bool = False
    is_key: bool = False
    least: int | None = None
    spare: Literal["", "first", "last"] = ""
    is_stacked: bool = False
    among: Sequence[str] = ()

    def of(self, text: Callable[[str], str]) -> TextColumn:
        """Return the column with `text` applied to header and cells."""
        cells = [text(cell) for cell in self.cells]
        among = [text(cell) for cell in self.among]
        return replace(self, header=text(self.header), cells=cells, among=among)


@dataclass(frozen=True, slots=True)
class _SizedColumn:
    """A column with the widths that it can have."""

    column: TextColumn
    mark: str
    natural: int
    least: int

    @classmethod
    def of(cls, column: TextColumn, width: int | None, mark: str) -> _SizedColumn:
        cells = max(map(cell_len, column.cells), default=0)
        word = longest_part(column.header)
        if width is None:
            return cls(column, mark, max(cells, word), max(cells, word))
        word = min(word, LONGEST_WORD)
        natural = max(cells, word)
        if column.is_stacked:
            return cls(column, mark, natural, max(word, *map(longest_part, column.cells), 0))
        if column.least is None or cells <= column.least:
            return cls(column, mark, natural, natural)
        return cls(column, mark, natural, min(max(column.least, word), natural))

    def header(self, width: int) -> list[str]:
        return [shorten(line, width, self.mark) for line in stack_header(self.column.header, width)]

    def lines(self, texts: Iterable[str], width: int) -> list[str]:
        return [self._pad(text, width) for text in texts]

    def cells(self, width: int) -> list[list[str]]:
        """Return the lines of each cell."""
        column = self.column
        if column.is_stacked:
            return [self.lines(stack_header(cell, width), width) for cell in column.cells]
        forms = disambiguate(column.cells, width, self.mark, column.among)
        return [[line] for line in self.lines(forms, width)]

    def _pad(self, text: str, width: int) -> str:
        blanks = " " * (width - cell_len(text))
        return f"{text}{blanks}" if self.column.is_left else f"{blanks}{text}"


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table at most as wide as the terminal, or of any width with `wide`.

    Columns that do not fit beside the others follow in a further part, behind its keys; spare ones
    are left out, and a line says so.
    """

    columns: Sequence[TextColumn]
    title: str = ""
    wide: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        width = None if self.wide else options.max_width
        if self.title:
            title = textwrap.wrap(
                visible(self.title),
                options.max_width,
                break_long_words=False,
                break_on_hyphens=False,
            )
            yield from (Text(line, "italic") for line in title)
        # What a terminal cannot encode is written escaped, and wider.
        mark, clean = ("...", _escape) if options.ascii_only else ("…", _one_line)
        laid = [_SizedColumn.of(column.of(clean), width, mark) for column in self.columns]
        kept = laid if width is None else _without_spare(laid, width)
        for place, part in enumerate(_split_columns(kept, width)):
            headers, rows = _lines(part, _widths(part, width))
            yield from (Text("") for _ in range(bool(place)))
            yield from (Text(line, "bold") for line in headers)
            yield from map(Text, rows)
        if left := [one.column.header for one in laid if one not in kept]:
            yield Text(f"no room for {', '.join(left)}: --wide")


def _one_line(text: str) -> str:
    """Return a cell without what would move the cells behind it."""
    return visible_line(text).replace("\t", "\\x09")


def _escape(text: str) -> str:
    return _one_line(text).encode("ascii", "backslashreplace").decode()


def _split_columns(laid: Sequence[_SizedColumn], width: int | None) -> Iterator[list[_SizedColumn]]:
    """Yield the columns part by part, each with the keys and as many others as fit."""
    keys = [one for one in laid if one.column.is_key]
    part = list(keys)
    for one in laid:
        if one.column.is_key:
            continue
        if width is not None and len(part) > len(keys) and _least_width([*part, one]) > width:
            yield part
            part = list(keys)
        part.append(one)
    yield part


def _without_spare(laid: Sequence[_SizedColumn], width: int) -> list[_SizedColumn]:
    """Return the columns without as many spare ones as make the rest fit."""
    kept = list(laid)
    for when, total in (("first", _natural_width), ("last", _least_width)):
        for one in reversed([one for one in laid if one.column.spare == when]):
            if total(kept) > width:
                kept.remove(one)
    return kept


def _natural_width(part: Sequence[_SizedColumn]) -> int:
    return sum(one.natural for one in part) + GAP * (len(part) - 1)


def _least_width(part: Sequence[_SizedColumn]) -> int:
    return sum(one.least for one in part) + GAP * (len(part) - 1)


def _widths(part: Sequence[_SizedColumn], width: int | None) -> list[int]:
    """Return the width of each column; where the line is too long, the widest are shortened."""
    whole = [max(one.natural, cell_len(one.column.header)) for one in part]
    if width is None or sum(whole) + GAP * (len(whole) - 1) <= width:
        return whole
    widths = [one.natural for one in part]
    excess = _natural_width(part) - width
    while excess > 0:
        room = [w if w > one.least else 0 for w, one in zip(widths, part, strict=True)]
        widest = max(range(len(room)), key=room.__getitem__, default=0)
        if not room or not room[widest]:
            break
        widths[widest] -= 1
        excess -= 1
    return widths


def _lines(part: Sequence[_SizedColumn], widths: Sequence[int]) -> tuple[list[str], list[str]]:
    headers = [one.header(width) for one, width in zip(part, widths, strict=True)]
    height = max(map(len, headers), default=0)
    # Headers with fewer lines stand at the bottom, directly above their cells.
    tops = [[""] * (height - len(lines)) + lines for lines in headers]
    padded = [o.lines(t, w) for o, t, w in zip(part, tops, widths, strict=True)]
    cells = [one.cells(width) for one, width in zip(part, widths, strict=True)]
    rows = [line for row in zip(*cells, strict=True) for line in _join_lines(row, widths)]
    return _join_columns(padded), rows


def _join_lines(row: Sequence[Sequence[str]], widths: Sequence[int]) -> list[str]:
    """Return the lines of a row: a cell with fewer of them begins in the first."""
    height = max(map(len, row))
    if height == 1:
        return _join_columns(row)
    return _join_columns(
        [
            [*own, *[" " * width] * (height - len(own))]
            for own, width in zip(row, widths, strict=True)
        ]
    )


def _join_columns(columns: Sequence[Sequence[str]]) -> list[str]:
    return [(" " * GAP).join(row).rstrip() for row in zip(*columns, strict=True)]


# Columns that say the same as another one, told in a line in place of being shown.
def fold_equal(columns: Mapping[str, Sequence[Hashable]]) -> tuple[list[str], list[str]]:
    """Return the columns that differ from all before them, and a line on the others.

    A cell without a value is None; a column of nothing else is left out, unless it is the first. Of
    a single row nothing is folded: that two values of it are equal may be chance.
    """
    rows = max(map(len, columns.values()), default=0)
    if rows < 2:
        return list(columns), []
    alike: dict[tuple[Hashable, ...], list[str]] = {}
    for name, cells in columns.items():
        alike.setdefault(tuple(cells), []).append(name)
    kept: list[str] = []
    lines = []
    for cells, (first, *others) in alike.items():
        empty = [first, *others] if kept and set(cells) == {None} else []
        kept += [] if empty else [first]
        if empty:
            lines.append(f"no value in any of {rows} rows: {', '.join(empty)}")
        elif others:
            verb = "is" if len(others) == 1 else "are"
            lines.append(f"{', '.join(others)} {verb} the same as {first} in all {rows} rows")
    return kept, lines


def mean_cells(means: Iterable[RunScore]) -> list[Hashable]:
    """Return means as cells to be compared: to as many digits as files have, with their bounds."""
    ends = ((mean.mean, mean.lowest, mean.highest) for mean in means)
    return [
        None
        if known[0] is None
        else tuple(None if end is None else round(end, DIGITS) for end in known)
        for known in ends
    ]


# Tables and lines of the statistics commands.
T = TypeVar("T")

LEAST_NAME = 10
MOST_ROWS = 20
"""Rows of a table that are shown without --all."""
MEASURES = ("measure", "truth", "correlation")
"""Headers of columns whose cells are names of measures, and of coefficients."""


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    left: int = 1,
    once: Collection[str] = (),
    wide: bool = False,
    among: Sequence[str] = (),
) -> TextTable:
    """Return a table, the first `left` columns names, flush left, and all others right.

    A column of `once` that is the same in all of several rows stands in the title. `among` are
    names that the rows do not have, and that no shortened one may look like.
    """
    cells = [[str(cell) for cell in row] for row in rows]
    by_column = list(zip(*cells, strict=True)) if cells else [()] * len(columns)
    shared, kept = [], []
    for place, (header, own) in enumerate(zip(columns, by_column, strict=True)):
        if header in once and len(own) > 1 and len(set(own)) == 1:
            shared.append(f"{header} {own[0]}")
            continue
        is_name, is_stacked = place < left, header in MEASURES
        least = LEAST_NAME if is_name else None
        column = TextColumn(header, own, is_name, is_name, least, is_stacked=is_stacked)
        kept.append(replace(column, among=among) if is_name and not is_stacked else column)
    return TextTable(kept, f"in all rows: {', '.join(shared)}" if shared else "", wide)


def first_rows(found: Sequence[T], show_all: bool) -> Sequence[T]:
    """Return the rows to show: the first ones, or all."""
    return found if show_all else found[:MOST_ROWS]


def hidden_line(hidden: int, noun: str, where: str = "--all or --json") -> Iterator[str]:
    """Yield a line on the rows that a table does not show, if there are any."""
    if hidden > 0:
        yield f"… {plural(hidden, f'more {noun}')}: {where}"


def confusion_table(found: Agreement) -> TextTable:
    """Return the confusion matrix, a row for each label of the truth."""
    rows = (
        (label, *counts, sum(counts))
        for label, counts in zip(found.labels, found.confusion, strict=True)
    )
    return table(("truth \\ predicted", *found.labels, "all"), rows)


def agreement_table(found: Agreement) -> TextTable:
    """Return a row for each figure of agreement."""
    rows = (
        (
            f.name,
            number(f.pooled),
            interval(f.interval),
            number(f.mean),
            f"{f.topics_defined}/{found.topics}",
        )
        for f in found.figures
    )
    columns = ("figure", "all items", "95 % over topics", "mean of topics", "defined on")
    return table(columns, rows)


def topic_table(found: Agreement) -> TextTable:
    """Return a row for each topic, its figures in columns."""
    names = [figure.name for figure in found.figures]
    topics = sorted({topic for figure in found.figures for topic in figure.by_topic})
    shown = TopicNames()
    rows = ((shown.of(t), *(number(f.by_topic[t], 3) for f in found.figures)) for t in topics)
    return table(("topic", *names), rows)


def agreement_sentence(found: Agreement) -> str:
    """Return what matters first: how many labels are the same, and kappa."""
    same = sum(counts[place] for place, counts in enumerate(found.confusion))
    kappa = next((f for f in found.figures if f.name == "kappa"), None)
    behind = ""
    if kappa is not None and kappa.pooled is not None:
        behind = f"; kappa {kappa.pooled:.3f} ({interval(kappa.interval)} over topics)"
    share = f" ({same / found.items:.1%})" if found.items else ""
    return f"{same} of {plural(found.items, 'item')} have the same label{share}{behind}"


IN_PAIRS = ("accuracy", "kappa", "kappa_linear", "tau_b")
"""Figures of each two of several sets of labels."""


def pairs_table(every: Sequence[Agreement]) -> TextTable:
    """Return a row for each two sets of labels: how far they agree, and what only one of them has.

    Sets of judgments of several judges have a row for each judge.
    """
    judges = ["judge"] if any(found.judge for found in every) else []

    def row(found: Agreement) -> Sequence[object]:
        names = (found.truth.name, found.predicted.name, *(found.judge for _ in judges))
        pooled = {figure.name: figure.pooled for figure in found.figures}
        figures = (number(pooled.get(name), 3) for name in IN_PAIRS)
        return (*names, found.items, *figures, found.only_truth, found.only_predicted)

    columns = ("labels", "and", *judges, "items", *IN_PAIRS, "only first", "only second")
    return table(columns, map(row, every), left=2 + len(judges), wide=True)


def agreement_line(found: Agreement) -> str:
    """Return a line on the items compared and those left out."""
    return (
        f"agreement: {plural(found.items, 'item')} of {plural(found.topics, 'topic')};"
        f" {found.only_truth} only in the"
        f" truth, {found.only_predicted} only in the predicted; unjudged {found.truth.unjudged}"
        f" and {found.predicted.unjudged}"
        + (f"; people divided on {found.tied[0]} and {found.tied[1]}" if any(found.tied) else "")
    )


def candidate_table(found: Sequence[tuple[float, LabelCandidate]], what: str = "gain") -> TextTable:
    """Return a row for each item to label, with the number that `what` names."""
    nuggets = ["nugget"] if any(c.nugget for _, c in found) else []
    topics = TopicNames()
    rows = (
        (
            place,
            c.run_id,
            topics.of(c.topic_id),
            "" if c.sentence_index is None else c.sentence_index + 1,
            c.doc_id or "",
            *(c.nugget for _ in nuggets),
            c.label or "unjudged",
            f"{gain:.2e}" if what == "gain" else f"{gain:.3f}",
        )
        for place, (gain, c) in enumerate(found, 1)
    )
    columns = ("", "run", "topic", "sentence", "document", *nuggets, "judged", what)
    return table(columns, rows, left=len(columns) - 1)


def forecast_line(found: Forecast | None, why: str) -> str:
    """Return a line on what more labels would buy, or on why that cannot be told."""
    if found is None:
        return f"what their labels would buy is not known: {why}"
    taus = " to ".join(number(tau, 3) for tau in (found.tau_now, found.tau_then))
    widths = f"{found.width_now:.3f} to {found.width_then:.3f}"
    return (
        f"expected of {plural(found.labels, 'more label')}: tau with the order by labels on all"
        f" items from {taus}; mean width of the 95 % intervals from {widths}"
    )


# Several people on the same items: tables of how far they and the judge agree.
def people_lines(people: PeopleAgreement) -> Iterator[str]:
    """Yield what people make of the items by themselves."""
    ordinal = people.alpha_ordinal
    graded = "" if ordinal is None else f", ordinal {number(ordinal, 3)}"
    yield (
        f"people: {plural(people.several, 'item')} labelled by two or more, {people.tied} of them"
        f" without a majority; Krippendorff's alpha {number(people.alpha, 3)}{graded}"
    )
    if not people.pairs:
        yield "people are not named: nobody can be compared with the others"
    yield from hidden_line(len(people.pairs) - MOST_ROWS, "pair", "--json")
    yield from hidden_line(len(people.persons) - MOST_ROWS, "person", "--json")


def time_lines(found: Agreement) -> Iterator[str]:
    """Yield how long each person took, a line each."""
    for one in first_rows(found.time, False):
        yield (
            f"time: {one.person} {one.seconds / 60:.1f} min on {plural(one.items, 'item')},"
            f" median {one.median:.1f} s"
        )
    yield from hidden_line(len(found.time) - MOST_ROWS, "person", "--json")


def people_tables(people: PeopleAgreement) -> Iterator[TextTable]:
    """Yield the table of pairs of people, and that of each person beside the judge."""
    if people.pairs:
        rows = ((a, b, *_cells(both)) for a, b, both in first_rows(people.pairs, False))
        yield table(("person", "and", "items", "same label", "kappa"), rows, left=2)
    if people.persons:
        columns = ("person", "items", "judge: same", "kappa", "with rest", "person: same", "kappa")
        found = (
            (
                one.name,
                *_cells(one.with_judge),
                *_cells(one.with_rest),
                *_cells(one.judge_with_rest)[1:],
            )
            for one in first_rows(people.persons, False)
        )
        yield table((*columns, "judge: same", "kappa"), found)


def _cells(both: Likeness) -> tuple[str, str, str]:
    return str(both.items), number(both.accuracy, 3), number(both.kappa, 3)
