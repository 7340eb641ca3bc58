"""The command that compares two checkouts' attesters says whether one loses, by its exit status."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
TOPICS = ("ferries", "bridges", "mills", "harbours")
WORDS = ("Perch", "Roach", "Tench", "Bream", "Trout", "Pike", "Eel", "Carp", "Dace", "Loach")


def pairs() -> Iterator[dict[str, Any]]:
    """Yield twelve sentences a topic on a document each: as it says, half of it, nothing of it."""
    for topic, name in product(TOPICS, WORDS):
        document = f"The {name} of the {topic} was built by masons in 1820. It burned down in May."
        sentences = {
            "FULL": f"Masons built the {name} of the {topic} in 1820.",
            "PARTIAL": f"The {name} was built by masons and painted green by Dutch sailors.",
            "NONE": "Poets praised wide rivers in many quiet songs.",
        }
        for label, sentence in sentences.items():
            yield {"group": topic, "sentence": sentence, "document": document, "label": label}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of a public set, and of pairs, labels and two runs as TREC has them."""
    folder = tmp_path_factory.mktemp("data")
    trec, public = folder / "rag25_support", folder / "public_pairs"
    (trec / "runs").mkdir(parents=True)
    public.mkdir()
    own = [pair | {"group": f"{pair['group']} {n % 3}"} for n, pair in enumerate(pairs())]
    write(public / "toy.pairs.jsonl.gz", own)
    labelled = [
        {"topic_id": p["group"], "sentence": p["sentence"], "passage": p["document"]}
        | {"labels": [p["label"]]}
        for p in pairs()
    ]
    write(trec / "pairs.jsonl.gz", labelled)
    documents = {f"d{n}": {"text": p["document"]} for n, p in enumerate(pairs())}
    write(trec / "runs" / "a.jsonl", [{"documents": documents}])
    rows = [
        {"topic_id": p["group"], "run_id": f"run{n % 4}", "doc_id": f"d{n}", "label": p["label"]}
        | {"sentence": p["sentence"], "document_missing": False}
        for n, p in enumerate(pairs())
    ]
    write(trec / "labels.jsonl", rows)
    return folder


def write(path: Path, records: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(record) + "\n" for record in records).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


@pytest.fixture(scope="module")
def worse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a checkout whose shipped weights know nothing."""
    checkout = tmp_path_factory.mktemp("checkout")
    for name in ("trecjudge", "judges", "workflows", "tests/benchmarks"):
        shutil.copytree(ROOT / name, checkout / name)  # compiled modules too: they start at once
    shutil.copy(ROOT / "run_judge.py", checkout)
    path = checkout / "trecjudge" / "judging" / "offline" / "calibration.json"
    content = json.loads(path.read_text())
    for weights in content["features"].values():
        weights |= {"supported": 0.0, "full": 0.0}
    path.write_text(json.dumps(content))
    return checkout


def measure(checkout: Path, *flags: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command of a checkout."""
    script = checkout / "tests" / "benchmarks" / "attester_quality.py"
    return subprocess.run(
        [sys.executable, script, *flags],
        env=os.environ | {"PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_loss_is_status_1(data: Path, worse: Path, tmp_path: Path) -> None:
    given = ("--data", data, "--against", ROOT, "--out", tmp_path, "--only", "toy")
    done = measure(worse, *given)
    assert done.returncode == 1, done.stderr
    assert "\nloss: toy, AUC full: -0." in done.stdout
    for side in ("this", "other"):
        assert len((tmp_path / side / "toy.verdicts.jsonl").read_text().splitlines()) == 120


@pytest.mark.timeout(240)  # two processes that fit, on a machine that does more
def test_weights_that_are_fitted_to_the_other_topics_lose_nothing(data: Path, worse: Path) -> None:
    done = measure(worse, "--data", data, "--against", ROOT, "--only", "trec")
    assert done.returncode == 0, done.stderr
    (row,) = (line for line in done.stdout.splitlines() if line.startswith("| trec | 120 |"))
    assert "(topic " in row and row.endswith("| +0.000 | +0.000 | +0.000 | +0.000 |")
    for title in ("expected", "labels"):
        (line,) = (
            x for x in done.stdout.splitlines() if x.startswith(f"tau-b of 4 runs by {title}")
        )
        assert line.endswith(", difference +0.000")


def test_a_gain_is_status_0_though_the_other_checkout_cannot_hold_out_topics(
    data: Path, worse: Path, tmp_path: Path
) -> None:
    older = tmp_path / "older"
    shutil.copytree(worse, older)
    (older / "trecjudge" / "evaluation" / "calibrate" / "quality.py").unlink()
    done = measure(ROOT, "--data", data, "--against", older)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "no loss of AUC beyond noise")
    assert "| toy | 120 |" in done.stdout
    assert "other: trec: judged by the shipped weights, which have seen the topics" in done.stdout
    assert "order of runs: not compared" in done.stdout


def test_without_another_checkout_the_table_has_this_one(data: Path) -> None:
    done = measure(ROOT, "--data", data, "--only", "toy")
    assert done.returncode == 0, done.stderr
    assert "| toy | 120 |" in done.stdout
    assert "difference" not in done.stdout and "trec" not in done.stdout


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--only", "tox"], "--only: unknown set 'tox'; did you mean 'toy'?"),
        (["--against", "."], "no checkout, it has no folder trecjudge"),
    ],
)
def test_what_is_refused(flags: list[str], message: str, data: Path, tmp_path: Path) -> None:
    flags = [str(tmp_path) if flag == "." else flag for flag in flags]
    done = measure(ROOT, "--data", data, *flags)
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr
