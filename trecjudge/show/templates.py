"""The templates of `assets/`, filled; all values are escaped."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from trecjudge.findings import plural, visible
from trecjudge.show.formats import share_text

LONGEST = 60
"""Characters shown of a name; a title has all of it."""

UNHELD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

ASSETS = Path(__file__).parent / "html" / "assets"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        # A misspelt name in a template must fail in tests, not leave a gap on the page.
        undefined=StrictUndefined,
        finalize=holdable,
    )
    environment.globals["longest"] = LONGEST
    environment.filters |= {
        "visible": visible,
        "brief": brief,
        "counted": plural,
        "number": number,
        "share": share_text,
        "stacked": breakable_name,
        "mean_cell": mean_cell,
        "part": lambda text: quote(text, safe=""),
    }
    return environment


def render(template: str, **values: Any) -> Markup:
    """Return a template of `assets/` with its values, safe to stand in another one."""
    return Markup(_environment().get_template(template).render(**values))


def holdable(value: object) -> object:
    """Return a text without the characters that neither XML nor UTF-8 can hold; else the value."""
    if isinstance(value, str) and (text := UNHELD.sub("", value)) != value:
        return Markup(text) if isinstance(value, Markup) else text
    return value


def asset(name: str) -> Markup:
    """Return a file of `assets/` as it is: our own style or script."""
    return Markup((ASSETS / name).read_text(encoding="utf-8"))


def number(value: float | None) -> str:
    """Return a mean as a reader wants it; `n/a` where there is none."""
    if value is None:
        return "n/a"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"


def brief(name: str) -> str:
    """Return a name of any length, cut so that it fits into a table."""
    shown = visible(name)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"


def mean_cell(mean: Mapping[str, Any]) -> str:
    """Return the value of a mean as a reader wants it; unjudged is not the same as not defined."""
    return "unjudged" if mean["unjudged"] else number(mean["value"])


def breakable_name(name: str) -> Markup:
    """Return a name that may break after each underscore."""
    return Markup("_<wbr>").join(map(escape, name.split("_")))
