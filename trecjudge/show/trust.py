"""A judge's card as a page of Markdown, and what moved since it was made, in lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from trecjudge.evaluation.trust.buying import Option
from trecjudge.evaluation.trust.card import CardFigure, JudgeCard
from trecjudge.evaluation.trust.drift import Drift, FigureDrift
from trecjudge.findings import plural, visible_line
from trecjudge.settings.strict_yaml import written_yaml
from trecjudge.show.formats import (
    interval,
    languages_text,
    number,
    probability,
    share_text,
    signed,
)
from trecjudge.show.tables import TextTable, table
from trecjudge.text.credentials import public

COLUMNS = ("figure", "value", "95 %", "n", "of", "note")
NOT_MEASURED = "not measured"
PER = 1000
"""Items of which calls and cost are shown."""
DIGEST = 12
"""Digits of a prompt's digest on the page; the file has all."""


def card_page(card: JudgeCard) -> Iterator[str]:
    """Yield the lines of a card's page, in Markdown that can be read as it is."""
    yield f"# Card of the judge {_text(card.judge)}"
    yield ""
    yield from (f"- {name}: {_text(value)}" for name, value in what_it_is(card.about))
    for section, figures in groupby(card.figures, key=lambda figure: figure.section):
        yield from ("", f"## {_text(section)}", "")
        yield from _table([COLUMNS, *map(_row, figures)])


def what_it_is(about: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what a card says of the judge itself, line by line."""
    model = about.get("model") or {}
    versions, languages = about.get("versions") or {}, about.get("languages") or {}
    yield "judge", f"{about.get('judge')}: {about.get('purpose', '')}"
    yield "settings", _pairs(about.get("settings")) or "none"
    yield "ranks by", ", ".join(about.get("measures", ()))
    yield "model", _model(model, about.get("served") or ()) if model else "none: it judges by words"
    for program, digest in (about.get("prompts") or {}).items():
        yield f"prompt {program}", f"sha256 {str(digest)[:DIGEST]}"
    yield "version", _pairs(versions)
    yield "made", str(about.get("written", ""))
    counts = ((about.get(f"{what}s", 0), what) for what in ("response", "topic", "item"))
    labels = [f"labels of {about['labels']}"] if about.get("labels") else []
    yield "tried on", ", ".join([*(plural(int(n or 0), what) for n, what in counts), *labels])
    yield "languages of the responses", languages_text(languages)
    if uncalibrated := about.get("uncalibrated"):
        yield "judgments without a calibration", languages_text(uncalibrated)
    calls = about.get("calls") or {}
    yield "calls", _pairs({name: count for name, count in calls.items() if count}) or "none"


def _model(model: Mapping[str, Any], served: Iterable[str]) -> str:
    answered = ", ".join(served) or "not said, or all from the cache"
    return (
        f"{model.get('model')} at {public(str(model.get('base_url')))}, temperature"
        f" {model.get('temperature')}; the endpoint calls it: {answered}"
    )


def _pairs(values: object) -> str:
    found = values.items() if isinstance(values, Mapping) else ()
    return ", ".join(f"{name} {value}" for name, value in found if value not in (None, "", []))


def _row(figure: CardFigure) -> tuple[str, ...]:
    if figure.value is None:
        return figure.name, NOT_MEASURED, "", "", "", figure.note
    bounds = interval(figure.interval)
    size = (f"{figure.n}", figure.unit)
    return figure.name, _value(figure), bounds, *size, figure.note


def _value(figure: CardFigure) -> str:
    """Return the value: a difference with its sign, a large number without decimals."""
    value = figure.value
    if ": shift of " in figure.name or ": lift of " in figure.name:
        return signed(value)
    return number(value, 0 if value is not None and abs(value) >= 100 else 4)


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a table of Markdown, its columns padded."""
    cells = [list(map(_text, row)) for row in rows]
    kept = [place for place, own in enumerate(zip(*cells, strict=True)) if any(own[1:])]
    widths = {place: max(len(row[place]) for row in cells) for place in kept}
    rule = ["-" * width for width in widths.values()]
    for row in (cells[0], None, *cells[1:]):
        padded = rule if row is None else [row[p].ljust(width) for p, width in widths.items()]
        yield f"| {' | '.join(padded)} |"


def _text(text: object) -> str:
    """Return a text in one line, with nothing in it that Markdown or HTML would read."""
    line = visible_line(" ".join(str(text).split()))
    return line.replace("|", "\\|").replace("<", "&lt;").replace("`", "'")


def card_rows(card: JudgeCard) -> list[tuple[str, str]]:
    """Return the lines of a card as (what, value), for a list of settings."""
    figures = ((f"{one.section}: {one.name}", _in_line(one)) for one in card.figures)
    return [*what_it_is(card.about), *figures]


def _in_line(figure: CardFigure) -> str:
    if figure.value is None:
        return f"{NOT_MEASURED}: {figure.note}"
    bounds = interval(figure.interval, form=" ({} to {})", none="")
    note = f"; {figure.note}" if figure.note else ""
    return f"{_value(figure)}{bounds}, {figure.n} {figure.unit}{note}"


def drift_lines(drift: Drift, before: JudgeCard) -> Iterator[str]:
    """Yield what moved since a card was made, and what did not."""
    answers = drift.answers
    since = f"since the card of {before.about.get('written', 'before')}"
    found = f"{plural(answers.n, 'item')} asked again {since}: {answers.changed} answered otherwise"
    if answers.p is not None:
        twice = f"asked twice at one time {answers.flips[0]} differed then, {answers.flips[1]} now"
        found = f"{found}; {twice}; p {probability(answers.p)}"
    same = "that is within noise" if answers.changed else "it is the same judge"
    verdict = "it is not the same judge any more" if answers.moved else same
    yield f"{found}: {verdict}"
    for figure in drift.figures:
        yield f"{'moved' if figure.moved else 'not moved'}: {_moved(figure)}"
    for name, old, new in drift.told:
        yield f"the cards differ in {name}: {old} before, {new} now"
    if drift.lost:
        yield f"left out: {plural(drift.lost, 'item')} of the card, which these runs do not have"


def _moved(figure: FigureDrift) -> str:
    apart = interval(figure.interval, form=", {} to {}", none="")
    return (
        f"{figure.name} {number(figure.before)} to {number(figure.after)}"
        f" ({signed(figure.after - figure.before)}{apart}), n {figure.n},"
        f" p {probability(figure.holm)} (Holm)"
    )


# Which judge to buy: a row for each way to judge, then the one that keeps what is wanted.
def option_table(options: Sequence[Option]) -> TextTable:
    """Return a row for each way to judge; cost, or calls without prices, is that of 1,000 items."""
    priced = any(one.cost for one in options)
    spent = "cost" if priced else "calls"
    columns = ("judge", "sure", "asked", spent, "right", "95 %", "tau", "95 % ")
    rows = (
        (
            one.name,
            "" if one.sure is None else number(one.sure, 3),
            share_text(one.asked),
            _per_thousand(one.cost if priced else one.calls),
            number(one.right, 3),
            interval(one.interval),
            number(one.tau, 3),
            interval(one.tau_interval),
        )
        for one in options
    )
    return table(columns, rows)


def _per_thousand(each: float | None) -> str:
    return "n/a" if each is None else f"{PER * each:.4g}"


def choice_lines(chosen: Option | None, wanted: str, workflow: Mapping[str, Any]) -> Iterator[str]:
    """Yield which way to judge keeps what is wanted, and the workflow that judges so."""
    yield "calls or cost are those of 1,000 items; tau is with people's order of the runs"
    if chosen is None:
        yield f"no way to judge keeps {wanted}: label more items, or want less"
        return
    least = f" (at least {number(chosen.least, 3)} in 95 %)" if chosen.least is not None else ""
    yield f"{wanted}: {chosen.name}, right on {number(chosen.right, 3)} of the items{least}"
    if chosen.passed is not None:
        bounds = interval(chosen.passed_interval, form=" ({} to {})", none="")
        passed = plural(chosen.passed_n, "item")
        yield f"words decide {passed}, and are right on {number(chosen.passed, 3)}{bounds}"
    if workflow:
        yield "as a workflow, in which 5 % of what words are sure of is asked too:"
        yield from written_yaml(workflow).rstrip().splitlines()
