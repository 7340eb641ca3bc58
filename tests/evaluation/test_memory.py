"""Memory of the commands that read judgments: it does not grow as the records would."""

from __future__ import annotations

import tracemalloc
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from random import Random

import orjson
import pytest

from tests.commandline import command
from trecjudge.records import FULL, NONE, Citation, Evidence, Judgment, Response, Sentence
from trecjudge.results.judgments import Header, JudgmentsReader, JudgmentsWriter

RESPONSES, PAIRS = 100, 50
LONG = "the words of a document or of a reason, as long as they are in a real job. " * 4
MEGABYTE = 1_000_000
TOPICS = 40
BYTES_OF_A_RESPONSE = 1_600
"""1,211; they were 3,618 while scores were objects, and places and names were held of each."""


def job(folder: Path, *labels: str, noise: int = 0, pairs: int = PAIRS) -> Path:
    """Write the judgments of a job whose labels go round; `noise` bytes of each do not deflate."""
    chance = Random(1)
    folder.mkdir()
    with (folder / "x.judgments.jsonl").open("wb") as file:
        writer = JudgmentsWriter(file)
        writer.header(Header({"citation": {}}))
        for number in range(RESPONSES):
            run_id, topic_id = f"run-{number // 10}", f"topic-{number % 10}"
            ids = [f"document-{topic_id}-{n:06}" for n in range(pairs)]
            cited = tuple(Citation(doc_id, doc_id) for doc_id in ids)
            judgments = [
                Judgment(
                    run_id, topic_id, 0, doc_id, doc_id, True, labels[n % len(labels)],
                    reason=f"{n} {LONG}",
                    evidence=Evidence(0, 9, _noise(chance, noise) or f"{n} {LONG}"),
                )
                for n, doc_id in enumerate(ids)
            ]  # fmt: skip
            response = Response(run_id, topic_id, (Sentence(0, LONG, cited),))
            writer.response(response, [("citation", judgment) for judgment in judgments])
        writer.end()
    command("job", "rescore", folder, "-q")
    _write_labels(folder)
    return folder


def _noise(chance: Random, size: int) -> str:
    return b64encode(chance.randbytes(size)).decode()


def _write_labels(folder: Path) -> None:
    """Write the labels of a job as people do, and as qrels by run."""
    with (folder / "labels.jsonl").open("wb") as labels, (folder / "run.qrels").open("w") as qrels:
        for response, judgments in JudgmentsReader(folder / "x.judgments.jsonl"):
            for j in judgments:
                key = {"topic_id": j.topic_id, "run_id": j.run_id, "sentence_index": 0}
                labels.write(orjson.dumps(key | {"doc_id": j.doc_id, "label": j.label}) + b"\n")
                qrels.write(f"{response.topic_id} {response.run_id} {j.doc_id} {j.grade or 0}\n")


Jobs = tuple[Path, Path, Path]


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Jobs:
    folder = tmp_path_factory.mktemp("jobs")
    large = job(folder / "large", FULL, noise=4_500)
    return job(folder / "one", FULL), job(folder / "other", FULL, NONE), large


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Jobs:
    folder = tmp_path_factory.mktemp("small")
    one, other = job(folder / "one", FULL, pairs=2), job(folder / "other", FULL, NONE, pairs=2)
    return one, other, one


def peak(work: Callable[[], object]) -> int:
    """Return the most bytes that Python's objects take while some work is done."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


COMMANDS = {
    "compare, 11 as records": (1.5, ("compare", "{0}", "{1}", "-q")),
    "agree, 6": (2.5, ("agree", "--truth", "{0}", "--predicted", "{1}")),
    "report --compare, 11": (8, ("report", "{0}", "--compare", "{1}", "-q")),
    "report, 38 with its blocks in memory": (13, ("report", "{2}", "-q")),
    "label-next, 6": (2, ("label-next", "{0}", "--json")),
    "labels": (3.5, ("rescore", "{0}", "--human", "{1}/labels.jsonl", "-q")),
    "qrels": (2.6, ("agree", "--truth", "{0}/run.qrels", "--predicted", "{1}/run.qrels")),
    "labels of people, 4.9": (
        3.2,
        ("agree", "--truth", "{0}/labels.jsonl", "--predicted", "{1}/labels.jsonl"),
    ),
}


SLOW = pytest.mark.slow("trecjudge/evaluation", "trecjudge/results", "trecjudge/show/html")
FIRST, *FURTHER = (pytest.param(*given, id=name) for name, given in COMMANDS.items())


@pytest.mark.parametrize(
    ("most", "words"), [FIRST, *(pytest.param(*p.values, id=p.id, marks=SLOW) for p in FURTHER)]
)
def test_judgments_are_not_held_as_records(
    most: float, words: tuple[str, ...], jobs: Jobs, small: Jobs
) -> None:
    command(*(word.format(*small) for word in words))  # imports and caches are no part of it
    filled = [word.format(*jobs) for word in words]
    assert peak(lambda: command(*filled)) < most * MEGABYTE


def many_responses(folder: Path, runs: int) -> Path:
    """Write a job of many responses of one judgment each; return its folder."""
    folder.mkdir()
    with (folder / "x.judgments.jsonl").open("wb") as file:
        writer = JudgmentsWriter(file)
        writer.header(Header({"citation": {}}))
        for number in range(runs * TOPICS):
            run_id, topic_id = f"run-{number // TOPICS}", f"topic-{number % TOPICS}"
            judged = Judgment(run_id, topic_id, 0, "d", "d", True, FULL)
            response = Response(run_id, topic_id, (Sentence(0, "S.", (Citation("d", "d"),)),))
            writer.response(response, [("citation", judged)])
        writer.end()
    return folder


def test_a_report_holds_little_of_each_response(tmp_path: Path) -> None:
    few, many = (many_responses(tmp_path / str(runs), runs) for runs in (5, 15))
    peaks = [peak(lambda place=place: command("report", place, "-q")) for place in (few, many)]
    assert (peaks[1] - peaks[0]) / (10 * TOPICS) < BYTES_OF_A_RESPONSE
