"""Check our readers against the files that the newest releases of other tools write.

    python tests/interop/newest_tools.py [TOOL...]

Run by hand before a release; it takes about 12 minutes. Each tool is installed into an environment
of its own, which is gone afterwards. Its writers in `writers/` write four invented answers with the
tool's own classes: one right, one half right, one wrong, one right. No model is asked. What they
write is judged, and must get what plain records get, with the same documents. Files of scores go
through `table`. Prints a table; the exit status is 1 where a file differs. A tool that cannot be
installed is passed over, and said.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

ROOT, WRITERS = Path(__file__).parents[2], Path(__file__).with_name("writers")
PACKAGES = {
    "ragas": ("ragas", "langchain-community<0.4"),  # 0.4.3 imports what 0.4 of that has not
    "deepeval": ("deepeval",),
    "langchain": ("langchain", "langgraph", "langsmith", "pandas"),
    "llama_index": ("llama-index-core",),
    "inspect_ai": ("inspect-ai",),
    "trulens": ("trulens-core", "trulens-otel-semconv"),
    "phoenix": ("arize-phoenix", "openinference-instrumentation"),
    "mlflow": ("mlflow",),
    "promptfoo": ("promptfoo",),
}
"""What the writers of each tool need, in its newest release, of PyPI or else of npm."""
NPM = ("promptfoo",)
QUIET = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
    "LANGSMITH_TRACING": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PYTHONPATH": "",
    "RAGAS_DO_NOT_TRACK": "true",
}
MEAN_OF_SCORES = "0.625"
"""Of the scores in `records.json`, which writers give the answers; no rate of ours."""
Row = tuple[str, ...]


def records() -> list[dict[str, Any]]:
    """Return the questions, answers, contexts, gold answers and scores."""
    found: list[dict[str, Any]] = json.loads((WRITERS / "records.json").read_text())
    return found


def run(words: Sequence[str | Path], folder: Path) -> subprocess.CompletedProcess[str]:
    """Return a finished command that ran in a folder, which is its home too."""
    env = {**os.environ, **QUIET, "HOME": str(folder)}
    return subprocess.run(
        words, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=900
    )


def ours(folder: Path, *words: str | Path) -> tuple[str, str]:
    """Return what one of our commands printed, and what it told beside."""
    done = run([sys.executable, ROOT / "run_judge.py", *words], folder)
    return done.stdout, done.stderr


@cache
def rates(path: Path, folder: Path) -> tuple[str, str]:
    """Return the rates of a file, the mean first, and what it was read as; or why it was not."""
    out = folder / "judged"
    (out / "default.leaderboard.txt").unlink(missing_ok=True)
    _, told = ours(folder, "judge", path, "--judge", "grounding", "--out-dir", out)
    read = re.search(r"read as (\w+)", told)
    if read is None or not (out / "default.leaderboard.txt").exists():
        return "", f"not read: {told.strip()[-150:]}"
    rows = (out / "default.leaderboard.txt").read_text().splitlines()
    found = [r.split("\t") for r in rows if "\tFACTUALITY_RATE\t" in r]
    return " ".join(f"{float(r[3]):.3f}" for r in sorted(found, key=_by_value)), read[1]


def _by_value(row: list[str]) -> tuple[bool, str]:
    return row[1] != "all", row[3]


def documents(path: Path) -> list[tuple[str, list[str]]]:
    """Return the answers of a file, each with the texts of its documents."""
    from trecjudge import read_runs  # not there where tools write

    found = read_runs(path, on_finding=lambda _: None)
    return sorted((r.text, [d.text.strip() for d in r.documents.values()]) for r in found)


def judged(kind: str, path: Path, folder: Path, plain: Path) -> Row:
    """Return what a file was read as, what it gave, and whether that is as it should be."""
    if kind == "scores":
        printed, told = ours(folder, "table", path, "--measure", "all", "--to", "table-csv")
        is_there = MEAN_OF_SCORES in re.split(r"[,\s]+", printed)
        return "scores", MEAN_OF_SCORES if is_there else told or printed, "ok" * is_there
    found, read = rates(path, folder)
    if found != rates(plain, folder)[0]:
        return read, found, ""
    texts, expected = documents(path), documents(plain)
    counted = f"{found}, {sum(len(inner) for _, inner in texts)} documents"
    return read, counted, "ok" if texts == expected else "other documents"


def write(tool: str, folder: Path) -> None:
    """Call the writers of a tool, in its environment, and print what each wrote, as JSON."""
    sys.path.append(str(WRITERS))
    for name, function in list(vars(importlib.import_module(f"write_{tool}")).items()):
        kind, _, rest = name.partition("_")
        if kind in ("run", "scores") and rest:
            told = [kind, function.__doc__.strip().rstrip("."), "", ""]
            try:
                told[2] = str(function(records(), folder))
            except Exception as error:
                traceback.print_exc()
                told[3] = f"{type(error).__name__}: {error}"[:150]
            print(f"\nwritten {json.dumps(told)}")


def rows(tool: str, folder: Path) -> Iterator[Row]:
    """Install a tool, let it write, and yield a row for each file."""
    python = folder / "venv" / "bin" / "python"
    run([sys.executable, "-m", "venv", folder / "venv"], folder)
    pip: list[str | Path] = [python, "-m", "pip"]
    npm = [shutil.which("npm") or "false"]
    install = [*npm, "install", "--no-audit"] if tool in NPM else [*pip, "install", "-q"]
    done = run([*install, *PACKAGES[tool]], folder)
    if done.returncode:
        yield tool, f"cannot be installed: {done.stderr.strip()[-150:]}", "passed over"
        return
    listed = run([*npm, "ls"] if tool in NPM else [*pip, "freeze"], folder).stdout
    names = "|".join(PACKAGES[tool]).replace("-", "[-_]")
    named = ", ".join(re.findall(rf"(?m)(?:^|\s)((?:{names})(?:==|@)\S+)", listed))
    done = run([python, "-P", __file__, "--write", tool, folder], folder)
    plain = folder / "plain.jsonl"
    lines = ({k: r[k] for k in ("question", "answer", "contexts")} for r in records())
    plain.write_text("".join(json.dumps(line) + "\n" for line in lines))
    written = re.findall(r"(?m)^written (.*)", done.stdout)
    for kind, writer, path, error in map(json.loads, written):
        after = ("", error, "") if error else judged(kind, Path(path), folder, plain)
        yield named, writer, Path(path).suffix, *after
    if not written:
        yield named, done.stderr.strip()[-150:], "", "", "", ""


def main(tools: Sequence[str]) -> int:
    """Print the table, and return the exit status."""
    bad = 0
    for tool in tools or PACKAGES:
        with tempfile.TemporaryDirectory(prefix="newest-") as folder:
            for row in rows(tool, Path(folder)):
                bad += row[-1] not in ("ok", "passed over")
                print(" | ".join((*row[:-1], row[-1] or "DIFFERS")), flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        write(sys.argv[2], Path(sys.argv[3]))
    else:
        sys.exit(main(sys.argv[1:]))
