"""The verdicts of one checkout's offline attester on all sets of labels: a part of its quality.

    PYTHONPATH=CHECKOUT python tests/benchmarks/attester_verdicts.py --data DIR --out FOLDER

`attester_quality.py` runs it for each of two checkouts. What it imports from CHECKOUT all releases
have; only where topics are held out it needs more.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import trecjudge

CHECKOUT = Path(trecjudge.__file__).parent.parent
TREC = "trec"
SUFFIX = ".pairs.jsonl.gz"
ORDER = "trec.order.json"
"""Of the citations of the runs: the weight to be expected, and that of the label."""
MEANINGS = {0.0: "no_support", 0.5: "partial_support", 1.0: "full_support"}
WEIGHTS = "trecjudge/judging/offline/calibration.json"
DECIMALS = 4
"""As the product rounds probabilities."""


def sets_of(data: Path) -> dict[str, Path]:
    """Return the file of pairs of each set of a folder, TREC's first."""
    trec = data / "rag25_support" / "pairs.jsonl.gz"
    found = {TREC: trec} if trec.exists() else {}
    public = sorted((data / "public_pairs").glob(f"*{SUFFIX}"))
    return found | {path.name.removesuffix(SUFFIX): path for path in public}


def verdicts_at(folder: Path, name: str) -> Path:
    """Return where the verdicts on a set are."""
    return folder / f"{name}.verdicts.jsonl"


def judge(pairs: Path, output: Path) -> None:
    """Judge pairs with the shipped weights, as the command `pairs` does, in every language.

    What the weights are worth where they are not calibrated is to be seen, too.
    """
    program = CHECKOUT / "run_judge.py"
    weights = json.loads((CHECKOUT / WEIGHTS).read_text("utf-8"))
    weights.pop("languages", None)
    calibration = output.with_name("calibration.json")
    calibration.write_text(json.dumps(weights), "utf-8")
    command = [sys.executable, program, "pairs", pairs, "--output", output, "--quiet"]
    command += ["--calibration", calibration]
    done = subprocess.run(
        list(map(str, command)), cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 3):  # 3: some pairs are unjudged
        sys.exit(f"{CHECKOUT}: pairs {pairs}: {done.stderr}")


def hold_out(folder: Path, pairs: Path, output: Path) -> None:
    """Judge TREC's pairs, and the citations of its runs, by what the other topics teach.

    Raises one of DIFFERENT where the checkout has other modules than this one's benchmarks need.
    """
    from fit_lexical import COLUMNS, Result, by_columns
    from lexical_data import folds, read_data

    from trecjudge.evaluation.calibrate.quality import labels_of

    data = read_data(folder)
    result = Result(data, list(folds(data)), by_columns(COLUMNS))
    columns = zip(result.found.supported, result.found.full, labels_of(result.found), strict=True)
    chances = {
        (pair.topic_id, pair.sentence, pair.text): found
        for pair, found in zip(data.pairs, columns, strict=True)
    }
    _require_own_modules()
    lines = map(json.loads, output.read_text("utf-8").splitlines())
    held_out = [
        json.dumps(line | _verdict(*found), ensure_ascii=False) + "\n"
        for key, line in zip(_keys(pairs), lines, strict=True)
        if (found := chances.get(key)) and line["label"] in MEANINGS.values()
    ]
    output.write_text("".join(held_out), "utf-8")
    order = {"expected": result.expected.tolist(), "labels": result.labels.tolist()}
    (output.parent / ORDER).write_text(json.dumps(order))


DIFFERENT = (ImportError, AttributeError, TypeError, LookupError, ValueError)


def _require_own_modules() -> None:
    """Raise ImportError where a module is of another installation, which has what is missing here.

    An editable installation gives its own modules for those that a checkout lacks.
    """
    for name, module in sys.modules.items():
        file = getattr(module, "__file__", None)
        if name.split(".")[0] == "trecjudge" and file and CHECKOUT not in Path(file).parents:
            raise ImportError(f"{CHECKOUT} has no {name}")


def _keys(pairs: Path) -> Iterator[tuple[str, str, str]]:
    with gzip.open(pairs, "rt", encoding="utf-8") as file:
        for record in map(json.loads, file):
            yield record["topic_id"], record["sentence"], record["passage"]


def _verdict(supported: float, full: float, label: float) -> dict[str, Any]:
    chances = {"p_full": full, "p_supported": supported, "expected": (full + supported) / 2}
    found = {name: round(float(chance), DECIMALS) for name, chance in chances.items()}
    return found | {"label": MEANINGS[label], "evidence": None, "reason": "topic held out"}


def write_verdicts(data: Path, out: Path, only: Sequence[str], may_fall_back: bool) -> None:
    """Write the verdicts on each set; print what is not as it should be."""
    out.mkdir(parents=True, exist_ok=True)
    (out / ORDER).unlink(missing_ok=True)
    for name, path in sets_of(data).items():
        if only and name not in only:
            continue
        judge(path, verdicts_at(out, name))
        if name != TREC:
            continue
        try:
            hold_out(path.parent, path, verdicts_at(out, name))
        except DIFFERENT as error:
            if not may_fall_back:
                raise
            print(f"{TREC}: judged by the shipped weights, which have seen the topics ({error!r})")


def main() -> None:
    """Read the command line, judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--may-fall-back", action="store_true", help="on the shipped weights")
    options = parser.parse_args()
    write_verdicts(
        options.data.absolute(), options.out.absolute(), options.only, options.may_fall_back
    )


def start_part(
    checkout: Path, data: Path, out: Path, only: Sequence[str], may_fall_back: bool
) -> subprocess.Popen[str]:
    """Start a process that writes the verdicts of a checkout."""
    command = [sys.executable, __file__, "--data", data, "--out", out]
    command += [*(["--only", *only] if only else []), *["--may-fall-back"] * may_fall_back]
    environment = os.environ | {"PYTHONPATH": str(checkout.absolute())}
    return subprocess.Popen(
        list(map(str, command)), env=environment, stdout=subprocess.PIPE, text=True
    )


if __name__ == "__main__":
    main()
