"""Measure the HTML report: seconds to write it, its size, seconds until Chromium shows it.

    python tests/benchmarks/bench_report.py [--runs 80 --topics 119] [--out FOLDER]
    python tests/benchmarks/bench_report.py --page NAME.report.html

Invented runs of 20 sentences a response cite 60 documents of a topic, 200 words each; they are
judged without a model. A page is opened several times in one browser, in turn with a bare page of
as many bytes that the browser need not look at, against which its time is held. Aim: 2 seconds
until the leaderboard can be used, from the click on the file.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from invented import DOCUMENT_WORDS, SENTENCE_WORDS, SENTENCES, WORDS
from table import Row, lines_of, versions

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT))  # for the browser of the tests, and the command line

from tests.commandline import command  # noqa: E402
from tests.show.html.browser import Browser, browsing  # noqa: E402

DOCUMENTS = 60
AIM_SECONDS = 2.0
ROUNDS = 5


def write_runs(folder: Path, runs: int, topics: int) -> None:
    """Write runs of RAGTIME's shape; a sentence is half of words of its document."""
    folder.mkdir(parents=True)
    chance = random.Random(11)
    files = [(folder / f"run-{n:02}.jsonl").open("w") for n in range(runs)]
    for topic in range(topics):
        documents = {
            f"doc-{topic}-{n}": chance.choices(WORDS, k=DOCUMENT_WORDS) for n in range(DOCUMENTS)
        }
        for number, file in enumerate(files):
            file.write(
                json.dumps(_response(f"run-{number:02}", str(1000 + topic), documents, chance))
                + "\n"
            )
    for file in files:
        file.close()


def _response(
    run_id: str, topic_id: str, documents: dict[str, list[str]], chance: random.Random
) -> dict[str, object]:
    cited = chance.choices(list(documents), k=SENTENCES)
    half = SENTENCE_WORDS // 2
    texts = [
        " ".join(chance.choices(documents[doc_id], k=half) + chance.choices(WORDS, k=half))
        for doc_id in cited
    ]
    return {
        "metadata": {"team_id": "invented", "run_id": run_id, "topic_id": topic_id},
        "responses": [
            {"text": f"{t}.", "citations": [d]} for t, d in zip(texts, cited, strict=True)
        ],
        "documents": {d: {"text": " ".join(documents[d])} for d in set(cited)},
    }


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that some work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def report_alone(folder: Path) -> tuple[float, float]:
    """Return the seconds and the most MB (Linux) that writing the report takes, in its process."""
    code = (
        "import sys; from contenders.clock import peak_mb; from tests.commandline import command;"
        " command('report', sys.argv[1], '-q'); print(peak_mb())"
    )
    paths = os.pathsep.join((str(ROOT), str(Path(__file__).parent)))
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
    )
    return time.perf_counter() - start, float(done.stdout)


def bare_page(path: Path, size: int) -> Path:
    """Write a page of that many bytes, almost all of them in a block that is only data."""
    block = "QUJD" * (size // 4)
    ready = "document.documentElement.dataset.ready = 'yes'"
    path.write_text(
        f"<!doctype html><title>bare</title><h1>bare</h1><script type='text/plain'>{block}</script>"
        f"<script>{ready}</script>"
    )
    return path


def openings(browser: Browser, pages: Sequence[Path]) -> list[float]:
    """Return the median seconds until each page is ready, opened in turn."""
    found = [[timed(lambda page=page: browser.open(page)) for page in pages] for _ in range(ROUNDS)]
    return [statistics.median(seconds) for seconds in zip(*found, strict=True)]


def views(browser: Browser, page: Path) -> dict[str, float]:
    """Return the seconds until each of the other views is shown, the first time."""
    browser.open(page)
    href = browser.run("return document.querySelector('#board tbody a').getAttribute('href')")
    run = href.split("/")[-1]
    seconds = {"heat map": timed(lambda: browser.go("#/heat"))}
    topic = browser.run("return document.querySelector('.heat td[data-topic]').dataset.topic")
    seconds["a response"] = timed(lambda: browser.go(f"#/response/{run}/{topic}"))
    seconds["its topic, all runs"] = timed(lambda: browser.go(f"#/topic/{topic}"))
    return seconds


def rows_of(page: Path, folder: Path) -> list[Row]:
    """Measure a page in a browser."""
    with browsing() as browser:
        size = page.stat().st_size
        ours, bare = openings(browser, [page, bare_page(folder / "bare.html", size)])
        against = f"{ours / bare:.1f} x a bare page of that size ({bare:.2f} s)"
        met = ours < AIM_SECONDS
        rows = [Row("open", "leaderboard ready", f"{ours:.2f} s", against, f"{AIM_SECONDS} s", met)]
        shown = views(browser, page)
        return [*rows, *(Row("view", name, f"{seconds:.2f} s") for name, seconds in shown.items())]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=80)
    parser.add_argument("--topics", type=int, default=119)
    parser.add_argument("--page", type=Path, help="measure this report instead of making one")
    parser.add_argument("--out", type=Path, help="keep what is made there")
    given = parser.parse_args()
    print(versions(None))
    with tempfile.TemporaryDirectory() as scratch:
        folder, rows = given.out or Path(scratch), []
        page = given.page or folder / "out" / "big.report.html"
        if given.page is None:
            write_runs(folder / "runs", given.runs, given.topics)
            job = ("--rag-responses", folder / "runs", "--out-dir", folder / "out", "--name", "big")
            judging = timed(lambda: command(*job, "-q", "--no-check"))
            writing, peak = report_alone(folder / "out")
            against = f"{writing / judging:.2f} of judging it ({judging:.0f} s)"
            what = f"{given.runs} runs x {given.topics} topics"
            rows.append(Row("write", what, f"{writing:.1f} s, {peak:.0f} MB", against))
        beside = page.with_suffix("")
        extra = sum(file.stat().st_size for file in beside.glob("*")) if beside.is_dir() else 0
        size = f"{page.stat().st_size / 1e6:.1f} MB"
        rows.append(Row("size", page.name, size, f"{extra / 1e6:.1f} MB beside it"))
        print("\n".join(lines_of([*rows, *rows_of(page, Path(scratch))])))


if __name__ == "__main__":
    main()
