"""Several people on the same items: tables of how far they and the judge agree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trecjudge.findings import plural
from trecjudge.show.columns import TextTable
from trecjudge.show.tables import MOST_ROWS, first_rows, hidden_line, number, table

if TYPE_CHECKING:  # numpy: not for --help
    from trecjudge.evaluation.agreement import Likeness, PeopleAgreement


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
