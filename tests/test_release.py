"""A release has one version and one date, wherever they stand."""

from __future__ import annotations

import re
from datetime import date

import pytest
import yaml

import trecjudge
from tests.commandline import ROOT

HEADING = re.compile(r"^## (\S+) - (\d{4}-\d\d-\d\d)$", re.MULTILINE)


@pytest.fixture
def releases() -> list[tuple[str, date]]:
    """Return the releases that the changes name, as they stand: version and date."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return [(version, date.fromisoformat(day)) for version, day in HEADING.findall(text)]


def test_the_newest_release_is_this_version(releases: list[tuple[str, date]]) -> None:
    assert releases[0][0] == trecjudge.__version__


def test_releases_stand_in_their_order(releases: list[tuple[str, date]]) -> None:
    days = [day for _, day in releases]
    assert days == sorted(days, reverse=True)
    assert len({version for version, _ in releases}) == len(releases)


def test_the_citation_is_of_this_release(releases: list[tuple[str, date]]) -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["version"], citation["date-released"]) == releases[0]
    assert {"cff-version", "message", "title", "authors", "license"} <= set(citation)
