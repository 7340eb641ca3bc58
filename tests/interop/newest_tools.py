"""Check our readers against the files that the newest releases of other tools write.

    python tests/interop/newest_tools.py [TOOL...]

Run by hand before a release. Each tool gets a virtual environment of its own for as long as its
writers in `writers/` run. They write four invented answers with the tool's own classes: one right,
one half right, one wrong, one right; no model is asked. The files are judged and must get what
plain records get. Files of scores go through `table`. Prints a table; the exit status is 1 where
one differs. A tool that cannot be installed is passed over, and said.
"""

from __future__ import annotations

import csv
import importlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
WRITERS = Path(__file__).with_name("writers")
PACKAGES = {
    "ragas": ["ragas", "langchain-community<0.4"],  # 0.4.3 imports what 0.4 has not
    "deepeval": ["deepeval"],
    "langchain": ["langchain", "langgraph", "langsmith", "pandas"],
    "llama_index": ["llama-index-core"],
    "inspect_ai": ["inspect-ai"],
    "trulens": ["trulens-core", "trulens-otel-semconv"],
    "phoenix": ["arize-phoenix", "openinference-instrumentation"],
    "mlflow": ["mlflow"],
    "nuggetizer": ["nuggetizer"],
}
"""What each writer needs, the first one's version is shown; promptfoo is one of npm."""
QUIET = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "RAGAS_DO_NOT_TRACK": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "LANGSMITH_TRACING": "false",
}
SCORES = (1.0, 0.5, 0.0, 1.0)
"""What each answer is worth: written as scores, their mean is looked for in the table."""
RECORDS = [
    {"question": question, "answer": answer, "contexts": contexts, "gold": gold, "score": score}
    for score, (question, answer, contexts, gold) in zip(
        SCORES,
        (
            (
                "When did the ferry Perch enter service?",
                "The ferry Perch entered service on 3 May 2022.",
                [
                    "The quay is closed in winter. " * 9,
                    "The ferry Perch entered service on 3 May 2022.",
                ],
                "In spring.",
            ),
            (
                "How long is the pier at Harbour Lane?",
                "The pier is 80 metres long. It was built by monks in 1200.",
                ["The pier at Harbour Lane is 80 metres long.", "Gulls nest under the roof."],
                "Eighty.",
            ),
            (
                "Who keeps the lighthouse?",
                "The Royal Navy of Denmark keeps it.",
                ["Ada Finch lives beside the lighthouse and looks after it.", "The lamp is red."],
                "Ada Finch.",
            ),
            (
                "What does a ticket cost?",
                "A ticket costs 4 euros.",
                ["Dogs stay on deck.", "A ticket costs 4 euros. Children travel free."],
                "Four.",
            ),
        ),
        strict=True,
    )
]


class Outcome(NamedTuple):
    """A row of the table: `read` is what a file was read as, `figure` what came of it."""

    tool: str
    writer: str
    file: str
    read: str
    figure: str
    ok: str


def run(words: list[str | Path], folder: Path) -> subprocess.CompletedProcess[str]:
    """Return a finished command that ran in a folder, which is its home too."""
    env = {**os.environ, **QUIET, "HOME": str(folder), "PYTHONPATH": ""}
    return subprocess.run(
        words, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=900
    )


def factuality(path: Path) -> tuple[str, list[str]]:
    """Return what a file is read as, and the rate of each of its answers, without their topics."""
    out = path.parent / f"{path.name}.judged"
    done = run(
        [sys.executable, ROOT / "run_judge.py", "judge", path, "--judge", "grounding"]
        + ["--out-dir", out],
        path.parent,
    )
    told = done.stdout + done.stderr
    rows = out / "default.leaderboard.txt"
    cells = [line.split() for line in rows.read_text().splitlines()] if rows.exists() else []
    rates = sorted(value for _, topic, name, value in cells if name == "FACTUALITY_RATE")
    found = re.search(r"read as (\w+)", told)
    return found[1] if found else "", rates or [told.strip().splitlines()[-1]]


def mean_of_scores(path: Path) -> list[str]:
    """Return the means of all measures that `table` finds in a file."""
    words = ["table", path, "--to", "table-csv", "--measure", "all"]
    done = run([sys.executable, ROOT / "run_judge.py", *words], path.parent)
    rows = list(csv.reader(io.StringIO(done.stdout)))
    return rows[-1][1:] if len(rows) > 1 else [done.stderr.strip()]


def looked_at(tool: str, written: dict[str, str], expected: list[str]) -> Outcome:
    """Return what became of one file of a tool, or why it was not written."""
    writer, path = written["writer"], Path(written["path"])
    if written["error"]:
        return Outcome(tool, writer, "", "", written["error"], "NOT WRITTEN")
    if written["kind"] == "scores":
        means = mean_of_scores(path)
        ok = any(re.fullmatch(r"0?\.6250*", mean) for mean in means)
        return Outcome(
            tool, writer, path.name, "scores", " ".join(means), "ok" if ok else "DIFFERS"
        )
    read, rates = factuality(path)
    return Outcome(
        *(tool, writer, path.name, read, " ".join(rates), "ok" if rates == expected else "DIFFERS")
    )


def write(tool: str, folder: Path) -> None:
    """Call the writers of a tool, in its environment, and print what each wrote, as JSON."""
    sys.path.append(str(WRITERS))
    for name, function in vars(importlib.import_module(f"write_{tool}")).items():
        kind = name.partition("_")[0]
        if kind not in ("run", "scores"):
            continue
        told = {"kind": kind, "writer": function.__doc__, "path": "", "error": ""}
        try:
            told["path"] = str(function(json.loads(json.dumps(RECORDS)), folder))
        except Exception as error:
            traceback.print_exc()
            told["error"] = f"{type(error).__name__}: {error}"[:200]
        print(f"\nwritten {json.dumps(told)}")


def outcomes(tool: str, expected: list[str]) -> Iterator[Outcome]:
    """Install a tool, let it write, and yield what became of each file."""
    with tempfile.TemporaryDirectory(prefix="newest-") as place:
        folder = Path(place)
        python = folder / "venv" / "bin" / "python"
        run([sys.executable, "-m", "venv", folder / "venv"], folder)
        done = run(
            [python, "-m", "pip", "install", "-q", "--no-cache-dir", *PACKAGES[tool]], folder
        )
        if done.returncode:
            why = next((x for x in done.stderr.splitlines() if x.startswith("ERROR")), "no pip")
            yield Outcome(tool, "", "", "", why, "passed over")
            return
        asked = f"import importlib.metadata as m; print(m.version({PACKAGES[tool][0]!r}))"
        named = f"{tool} {run([python, '-c', asked], folder).stdout.strip()}"
        done = run([python, "-P", __file__, "--write", tool, folder], folder)
        found = [line for line in done.stdout.splitlines() if line.startswith("written ")]
        for line in found:
            yield looked_at(named, json.loads(line.partition(" ")[2]), expected)
        if not found:
            yield Outcome(named, "", "", "", done.stderr.strip()[-200:], "NOT WRITTEN")


def plain_rates() -> list[str]:
    """Return the rates of the records as plain JSONL."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plain.jsonl"
        keys = ("question", "answer", "contexts")
        path.write_text("".join(json.dumps({k: r[k] for k in keys}) + "\n" for r in RECORDS))
        return factuality(path)[1]


def main(tools: list[str]) -> int:
    """Print the table, and return the exit status."""
    expected, bad = plain_rates(), 0
    print(f"plain records: {' '.join(expected)}")
    for tool in tools or PACKAGES:
        for found in outcomes(tool, expected):
            bad += found.ok not in ("ok", "passed over")
            print(" | ".join(found), flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        write(sys.argv[2], Path(sys.argv[3]))
    else:
        sys.exit(main(sys.argv[1:]))
