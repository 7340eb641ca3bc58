"""The HTML file: a static part, the blocks, and a policy that lets nothing else in."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from trecjudge.files import whole
from trecjudge.show.charts import Axis
from trecjudge.show.html.blocks import Block, Packed, written_beside
from trecjudge.show.html.job import NOTHING_KNOWN, JobShown
from trecjudge.show.templates import asset, render

STYLES = "style", "phone", "print"
SCRIPTS = (
    *("dom", "memory", "data", "sticky", "export", "labels", "explained", "parts", "roving"),
    *("tables", "columns", "leaderboard", "card", "run", "heat", "battles", "stated", "paths"),
    *("reading", "marks", "response", "evidence", "topic", "nuggets", "findings", "saved"),
    *("judgments", "compare", "charts", "keys", "main"),
)
"""The scripts of `assets/` in order: each may use those before it."""

STARTING = "starting"
"""The script that runs before there is any content."""

HEAD = "head"


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of the page; `measure` is empty where it is on all of them.

    `rows` under `heads` give its values as a table, for readers who cannot see or point.
    """

    title: str
    caption: str
    svg: Markup
    measure: str = ""
    heads: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    wide: bool = False
    """Whether it takes the whole width, where others stand side by side."""


@dataclass(frozen=True, slots=True)
class Page:
    """What a page shows: its title, leaderboard, charts, notes and head block.

    `agreement` are charts that compare the runs with a truth or another job.
    """

    name: str
    board: Mapping[str, Any]
    charts: Sequence[Chart]
    notes: Sequence[str]
    head: Mapping[str, Any]
    written: str = ""
    job: JobShown = NOTHING_KNOWN
    agreement: Sequence[Chart] = ()


@dataclass(frozen=True, slots=True)
class Bar:
    """Draws means of one measure as bars of one scale."""

    axis: Axis

    @classmethod
    def over(cls, means: Sequence[Mapping[str, Any]]) -> Bar:
        """Return the bar that holds all means with their bounds."""
        keys = ("value", "low", "high", "lowest", "highest")
        return cls(Axis.over([m[k] for m in means for k in keys if m[k] is not None], 0, 98.4))

    def of(self, mean: Mapping[str, Any]) -> Markup:
        """Return the bar of a mean: its interval, and the bounds that unjudged items leave."""
        at = None if mean["value"] is None else self.axis.at(mean["value"])
        interval = self._span(mean["low"], mean["high"])
        bounds = self._span(mean["lowest"], mean["highest"])
        left_open = bounds if mean["lowest"] != mean["highest"] else None
        return render("bar.svg", at=at, interval=interval, open=left_open)

    def _span(self, low: float | None, high: float | None) -> tuple[float, float] | None:
        if low is None or high is None:
            return None
        start = self.axis.at(low)
        return start, round(max(1.0, self.axis.at(high) - start), 1)


def write_page(path: Path, page: Page, blocks: Mapping[str, Packed], most: int) -> int:
    """Write the page to `path`; return how many blocks went into files beside it.

    All of them do, into a folder of the page's name, where they are more than `most` bytes. Until
    the page is written, an earlier one stays whole. Raises OutputError.
    """
    apart = blocks if sum(map(len, blocks.values())) > most else {}
    inside = {} if apart else blocks
    with written_beside(path, apart) as scripts, whole(path) as file:
        style, script = Markup("").join(asset(f"{name}.css") for name in STYLES), _script()
        starting = asset(f"{STARTING}.js")
        bars = [
            Bar.over(means) for means in zip(*(r["means"] for r in page.board["runs"]), strict=True)
        ]
        shell = render(
            "page.html",
            name=page.name,
            board=page.board,
            charts=page.charts,
            agreement=page.agreement,
            notes=page.notes,
            written=page.written,
            job=page.job,
            bars=bars,
            beside=bool(apart),
            style=style,
            starting=starting,
            policy=policy(style, (starting, script), bool(apart)),
        )
        file.write(shell.encode())
        head = Block()
        head.add({**page.head, "beside": path.with_suffix("").name, "scripts": scripts})
        for name, block in {HEAD: head.pack(), **inside}.items():
            file.write(b'<script type="text/plain" id="%s">' % name.encode())
            file.writelines(block)
            file.write(b"</script>\n")
        file.write(f"<script>{script}</script>\n</body>\n</html>\n".encode())
    return len(apart)


def policy(style: str, own: Sequence[str], beside: bool) -> str:
    """Return the Content-Security-Policy: our style, our `own` scripts, and nothing from outside.

    Scripts may not make markup out of text either (Trusted Types). Blocks `beside` the page are
    scripts of its own folder.
    """
    sources = ["'self'"] if beside else []
    sources += map(_digest, own)
    types = "blocks" if beside else "'none'"
    return (
        f"default-src 'none'; style-src {_digest(style)}; script-src {' '.join(sources)};"
        f" base-uri 'none'; form-action 'none'; require-trusted-types-for 'script';"
        f" trusted-types {types}"
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _script() -> Markup:
    # One scope and strict mode for all: nothing leaks into the page.
    parts = Markup("\n").join(asset(f"{name}.js") for name in SCRIPTS)
    return Markup('(() => {\n"use strict";\n') + parts + Markup("})();")
