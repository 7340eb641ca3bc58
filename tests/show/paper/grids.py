"""Tables for the tests of how they are written."""

from __future__ import annotations

from trecjudge.show.paper.grid import Cell, Grid, GridColumn

COLUMNS = (
    GridColumn("", "detail"),
    GridColumn("run"),
    GridColumn("M_1", "number", arrow=True),
    GridColumn("M_1", "detail", "95 %", arrow=True),
    GridColumn("M_1", "detail", "unjudged", arrow=True, named=True),
)


def grid(*runs: str, name: str = "x", values: tuple[str, ...] = ("0.500",)) -> Grid:
    """Return a table of runs, the first of them in bold, with the values in turn."""
    rows = [
        [
            Cell(str(place + 1)),
            Cell(run),
            Cell(values[place % len(values)], bold=place == 0),
            Cell("[0.1, 0.9]"),
            Cell("1 of 2: 0.0 to 1.0" if place == 0 else ""),
        ]
        for place, run in enumerate(runs)
    ]
    records = [{"run": run, "M_1": 0.5, "M_1_low": None, "M_1_tied": False} for run in runs]
    return Grid(name, COLUMNS, rows, ["Means over 3 topics.", "p < 0.05."], records)
