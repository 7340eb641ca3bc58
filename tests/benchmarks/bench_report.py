"""Measure the HTML report: what it takes to write, and how fast Chromium shows it, by size.

    python tests/benchmarks/bench_report.py [--baseline FOLDER] [--out FOLDER]
    python tests/benchmarks/bench_report.py --page NAME.report.html

Judgments of 53 runs on 8 topics, and 10^5 and 10^6 of 119 topics, are invented, with runs and
documents of 100 words. Each report is written in a process of its own; FOLDER is a checkout of
another version, which writes the same reports in turn. Pages are then opened in turn in one
browser. Every figure is held against that of the job before it, or of FOLDER. Aims: 10^6 judgments
take the memory and the CPU per judgment of 10^5, and the page opens as that of 53 runs. On a busy
machine the least CPU of the browser says more than seconds do. Memory and CPU need Linux.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judged import DOCUMENTS, responses, write_judged
from table import Row, lines_of, versions

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(ROOT))  # for the browser of the tests

from tests.show.html.browser import Browser, browsing  # noqa: E402

NAME = "job"
ROUNDS = 9
LOOKED_AT = 40
"""Responses that are looked at before memory is measured again."""
MORE = 1.15
"""What a figure may be of the one that it is held against: noise, and what must grow."""
ALONE = """
import sys
from contenders.clock import Clock
from tests.commandline import command
clock = Clock()
done = command('report', sys.argv[1], '-q')
assert done.status == 0, done.err
clock.report(1)
"""


@dataclass(frozen=True, slots=True)
class Size:
    """A job: its runs, topics, and pairs of each response."""

    runs: int
    topics: int
    pairs: int

    def __str__(self) -> str:
        return f"{self.runs} runs x {self.topics} topics, {self.judgments:,} judgments"

    @property
    def judgments(self) -> int:
        """Judgments of the whole job."""
        return self.runs * self.topics * self.pairs


SMALL, MIDDLE, LARGE = Size(53, 8, 11), Size(8, 119, 105), Size(84, 119, 100)


def write_job(folder: Path, size: Size) -> None:
    """Write judgments with their config, runs and documents into a folder."""
    write_judged(folder, NAME, size.runs, size.topics, size.pairs, 0)
    (folder / "runs").mkdir()
    texts: dict[str, dict[str, str]] = {}
    for response in responses(size.runs, size.topics, size.pairs):
        words = " ".join(sentence.text for sentence in response.sentences[:4])
        known = texts.setdefault(response.topic_id, {})
        for doc_id in response.references:
            known.setdefault(doc_id, f"{doc_id} {words}")
        answer = [
            {"text": s.text, "citations": [int(c.value) % DOCUMENTS for c in s.citations]}
            for s in response.sentences
        ]
        ids = {"run_id": response.run_id, "narrative_id": response.topic_id}
        record = {"metadata": {"team_id": "invented", "type": "automatic"} | ids}
        with (folder / "runs" / f"{response.run_id}.jsonl").open("a") as file:
            more = {"references": list(response.references), "answer": answer}
            file.write(json.dumps(record | more) + "\n")
    with (folder / "documents.jsonl").open("w") as file:
        for known in texts.values():
            file.writelines(json.dumps({"docid": d, "text": t}) + "\n" for d, t in known.items())
    given = {"runs": [str(folder / "runs")], "documents": [str(folder / "documents.jsonl")]}
    (folder / f"{NAME}.config.yml").write_text(json.dumps({"inputs": given}))


def write_alone(root: Path, folder: Path) -> dict[str, float]:
    """Return what writing a report takes the version in `root`, in a process of its own."""
    paths = os.pathsep.join((str(root), str(HERE)))
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(folder.resolve())],
        env=os.environ | {"PYTHONPATH": paths},
        cwd=root,  # which comes first on the path
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def written_rows(
    folders: dict[Size, Path], root: Path, whose: str
) -> tuple[list[Row], list[dict[str, float]]]:
    """Write the reports of all sizes; hold the last against the size before."""
    rows: list[Row] = []
    found: list[dict[str, float]] = []
    for size, folder in folders.items():
        made = write_alone(root, folder)
        made["each"] = made["cpu_seconds"] / size.judgments
        found.append(made)
        figure = f"{made['peak_mb']:.0f} MB, {made['cpu_seconds']:.0f} s CPU"
        rows.append(Row("write", f"{size}{whose}", f"{figure}, {made['each'] * 1e6:.0f} us each"))
    return [*rows[:-1], _held(rows[-1], found[-1], found[-2])], found


def _held(row: Row, made: dict[str, float], other: dict[str, float]) -> Row:
    memory, each = (made[name] / other[name] for name in ("peak_mb", "each"))
    against = f"{memory:.2f} x memory, {each:.2f} x CPU each"
    return replace(row, against=against, aim=f"{MORE} x", met=max(memory, each) <= MORE)


def browser_cpu(browser: Browser) -> float:
    """Return the seconds of CPU that a browser and all its processes have taken."""
    children: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        number = int(path.parent.name)
        children.setdefault(int(fields[1]), []).append(number)
        ticks[number] = sum(map(int, fields[11:15]))
    waiting, total = [browser.driver.service.process.pid], 0
    while waiting:
        number = waiting.pop()
        total += ticks.get(number, 0)
        waiting += children.get(number, [])
    return total / os.sysconf("SC_CLK_TCK")


def heap_mb(browser: Browser) -> float:
    """Return the memory that the page's scripts hold, in MB."""
    browser.driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
    used: dict[str, Any] = browser.driver.execute_cdp_cmd("Runtime.getHeapUsage", {})
    return float(used["usedSize"]) / 1e6


def taken(browser: Browser, work: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds and the seconds of CPU that some work takes a browser."""
    cpu, start = browser_cpu(browser), time.perf_counter()
    work()
    return time.perf_counter() - start, browser_cpu(browser) - cpu


def steps(browser: Browser, page: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield what somebody does with a page, one after another."""
    browser.driver.get("about:blank")
    yield "open", lambda: browser.open(page)
    href = browser.run("return document.querySelector('#board tbody a').getAttribute('href')")
    run = href.split("/")[-1]
    yield "heat map", lambda: browser.go("#/heat")
    topic = browser.run("return document.querySelector('.heat td[data-topic]').dataset.topic")
    yield "a response", lambda: browser.go(f"#/response/{run}/{topic}")
    yield "its topic, all runs", lambda: browser.go(f"#/topic/{topic}")


def heaps(browser: Browser, page: Path) -> tuple[float, float]:
    """Return the memory of a page when it is opened, and after many responses."""
    browser.open(page)
    opened = heap_mb(browser)
    run = browser.run("return document.querySelector('#board tbody a').getAttribute('href')")
    browser.go("#/heat")
    cells = (
        "return [...document.querySelectorAll('.heat td[data-topic]')].map(c => c.dataset.topic)"
    )
    topics = list(dict.fromkeys(browser.run(cells)))[:LOOKED_AT]
    for topic in topics:
        browser.go(f"#/response/{run.split('/')[-1]}/{topic}")
    return opened, heap_mb(browser)


def opened_rows(pages: dict[str, Path]) -> Iterator[Row]:
    """Open pages in turn; hold each against the first."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    with browsing() as browser:
        for _ in range(ROUNDS):
            for name, page in pages.items():
                for step, work in steps(browser, page):
                    found.setdefault((step, name), []).append(taken(browser, work))
        for (step, name), all_taken in found.items():
            seconds, cpu = (list(figures) for figures in zip(*all_taken, strict=True))
            figure = f"{statistics.median(seconds):.2f} s, {min(cpu):.2f} s CPU"
            first = found[step, next(iter(pages))]
            ratio = min(cpu) / max(0.01, min(used for _, used in first))
            aim = (f"{MORE} x", ratio <= MORE) if step == "open" else ()
            yield Row("show", f"{name}: {step}", figure, f"{ratio:.2f} x CPU", *aim)
        for name, page in pages.items():
            opened, later = heaps(browser, page)
            yield Row("heap", name, f"{opened:.1f} MB", f"{later:.1f} MB after {LOOKED_AT} topics")


def size_row(name: str, page: Path) -> Row:
    """Return what a report takes on disk."""
    folder = page.with_suffix("")
    extra = sum(file.stat().st_size for file in folder.glob("*")) if folder.is_dir() else 0
    return Row("size", name, f"{page.stat().st_size / 1e6:.1f} MB", f"{extra / 1e6:.1f} MB beside")


def rows_of(folder: Path, baseline: Path | None) -> Iterator[Row]:
    """Write and open the reports of all sizes, and those of the baseline."""
    folders = {size: folder / str(n) for n, size in enumerate((SMALL, MIDDLE, LARGE))}
    for size, own in folders.items():
        write_job(own, size)
    pages = {}
    theirs: list[dict[str, float]] = []
    if baseline:
        rows, theirs = written_rows(folders, baseline, ", baseline")
        yield from rows
        kept = folders[LARGE] / "baseline"
        kept.mkdir()
        for path in folders[LARGE].glob(f"{NAME}.report*"):
            path.rename(kept / path.name)
        pages[f"{LARGE}, baseline"] = kept / f"{NAME}.report.html"
    rows, ours = written_rows(folders, ROOT, "")
    yield from rows
    for size, own, other in zip(folders, ours, theirs, strict=False):
        yield _held(Row("write", f"{size} to baseline", ""), own, other)
    own = {str(size): folders[size] / f"{NAME}.report.html" for size in (SMALL, LARGE)}
    yield from (size_row(name, page) for name, page in (own | pages).items())
    yield from opened_rows(own | pages)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--baseline", type=Path, help="a checkout of another version")
    parser.add_argument("--page", type=Path, help="measure only this report, as it is")
    parser.add_argument("--out", type=Path, help="keep what is made there")
    given = parser.parse_args()
    print(versions(None))
    with tempfile.TemporaryDirectory() as scratch:
        if given.page:
            rows = [size_row("page", given.page), *opened_rows({"page": given.page})]
        else:
            baseline = given.baseline.resolve() if given.baseline else None
            rows = list(rows_of((given.out or Path(scratch)).resolve(), baseline))
    print("\n".join(lines_of(rows)))


if __name__ == "__main__":
    main()
