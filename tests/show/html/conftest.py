"""A browser for all tests that need one, and pages that several of them look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.commandline import SAMPLES, command, sample
from tests.show.html.browser import Browser, browsing, missing
from tests.show.html.made import nuggets_output, report


@pytest.fixture(scope="session")
def session_browser() -> Iterator[Browser]:
    """Start one browser for all; skip where there is none."""
    if reason := missing():
        pytest.skip(reason)
    with browsing() as browser:
        yield browser


@pytest.fixture
def browser(session_browser: Browser) -> Iterator[Browser]:
    """Return the browser; a page that complains or asks the network for anything fails the test."""
    session_browser.complaints(), session_browser.asked()
    yield session_browser
    assert session_browser.complaints() == []
    assert session_browser.asked() == []


@pytest.fixture
def open_page(browser: Browser) -> Callable[..., Browser]:
    """Return `open_page(path, address)`: the browser with that page."""

    def opened(page: Path, address: str = "") -> Browser:
        browser.open(page, address)
        return browser

    return opened


@pytest.fixture(scope="session")
def sample_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report on the sample data of RAG, judged by the citation judge."""
    folder = tmp_path_factory.mktemp("sample")
    assert sample("rag", folder, "-q", "--report").status == 0
    return folder / "x.report.html"


@pytest.fixture(scope="session")
def compared_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report on the sample data, compared with its human labels, two of them turned."""
    folder = tmp_path_factory.mktemp("compared")
    labels = folder / "labels.jsonl"
    own = (SAMPLES / "rag" / "labels.jsonl").read_text(encoding="utf-8")
    labels.write_text(own.replace("full_support", "no_support", 2), encoding="utf-8")
    assert sample("rag", folder / "human", "-q", "--judgments-from", labels).status == 0
    assert sample("rag", folder, "-q").status == 0
    truth = folder / "human" / "x.leaderboard.txt"
    done = command("report", folder, "-q", "--compare", folder / "human", "--truth", truth)
    assert done.status == 0
    return folder / "x.report.html"


@pytest.fixture(scope="session")
def nuggets_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report on three runs and the nuggets of two topics, of which one has no bank."""
    return report(nuggets_output(tmp_path_factory.mktemp("nuggets"))).path
