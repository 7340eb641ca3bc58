"""Every command with a pipe in place of each file it reads: `python -m tests.cli.pipes`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.cli_page import commands
from tests.commandline import SAMPLES, command, program, sample
from trecjudge.cli.parameters import Option, options_of

SECONDS = 20
STATUSES = ("0", "1", "2", "3")
ASKED = ["--use-env-llm", "--offline"]
ENDPOINT = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"}
NOT_READ = {
    *(
        "merge --human",
        "calibrate --rag-responses",
        "audit --baseline",
        "nuggets edit --from-table",
    ),
    *("search --rag-topics", "search --calibrate", "search --against", "cache export DIR"),
    *("audit --rag-responses", "audit --rag-topics", "audit --documents", "calibrate --documents"),
}
"""Where other arguments would be needed for it to be read."""
RAG = SAMPLES / "rag"
RUNS, TOPICS, DOCUMENTS = RAG / "runs", RAG / "topics.jsonl", RAG / "documents.jsonl"
WRITTEN = ("--out-dir", "--output", "--out", "--fix", "--junit", "--svg", "--trec", "--to-table")
"""Files and folders that are written."""
Words = list[str]


def lines(job: Path, index: Path, out: Path) -> dict[str, tuple[Words, Words]]:
    """Return (arguments, flags) with which each command reads all that it is given."""
    runs, topics, documents = ["--rag-responses", str(RUNS)], ["--rag-topics", str(TOPICS)], []
    documents = ["--documents", str(DOCUMENTS)]
    inputs = [*runs, *topics, *documents]
    board, labels = str(job / "x.leaderboard.jsonl"), str(out / "labels.jsonl")
    bank = str(out / "bank.jsonl")
    Path(labels).write_text(
        '{"sentence": "a b", "document": "a b", "label": "full", "topic_id": "1"}\n'
    )
    Path(bank).write_text(
        '{"query_id": "1", "title": "t", "nugget_bank": [{"question": "q", "answers": ["a"]}]}\n'
    )
    return {
        "": ([], [*inputs, "--out-dir", str(out / "o")]),
        "init": ([str(out)], []),
        "rescore": ([str(job)], ["--out-dir", str(out / "o")]),
        "merge": ([str(job / "x.config.yml")], ["--out-dir", str(out / "o")]),
        "pairs": ([labels], []),
        "calibrate": ([], ["--labels", labels, "--out", str(out / "c.json")]),
        "stability": ([], inputs),
        "check": ([str(RUNS)], [*topics, *documents]),
        "report": ([str(job)], []),
        "show": ([str(job)], []),
        "judgments": ([str(job)], []),
        "provenance": ([str(RUNS)], []),
        "compare": ([board], []),
        "gate": ([board], ["--baseline", board, "--max-drop", "0.1"]),
        "meta-evaluate": ([board], ["--truth", board]),
        "agree": ([], ["--truth", str(job), "--predicted", str(job)]),
        "audit": ([labels], inputs),
        "label-next": ([str(job)], []),
        "optimize": ([], ["--truth", str(job), *ASKED, *inputs]),
        "convert": ([board, str(out / "t.csv")], ["--to", "csv"]),
        "nuggets create": ([str(out / "n.jsonl")], ["--from-documents", *ASKED, *inputs]),
        "nuggets edit": ([bank], ["--to-table", str(out / "t.tsv")]),
        "index": ([str(DOCUMENTS)], ["--to", str(out / "new.index")]),
        "search": ([str(index), "tax"], []),
        "generate": (
            [],
            ["--index", str(index), *topics, "--out-dir", str(out / "o"), "--format", "rag25"],
        ),
        "experiment": ([str(out / "e.yml")], ["--out-dir", str(out / "o")]),
        "cache info": ([], []),
        "cache export": ([str(out / "cache")], []),
        "cache import": ([str(out / "cache")], []),
        "cache verify": ([str(out / "cache")], []),
        "cache prune": ([], ["--older-than", "1"]),
    }


def cases(known: dict[str, tuple[Words, Words]], pipe: str) -> Iterator[tuple[str, Words]]:
    """Yield (what is a pipe, words) for each argument of each command that names a file."""
    for found, context in commands(program()):
        name = " ".join(context.command_path.split()[1:])
        if name not in known:
            continue
        arguments, flags = known[name]
        places = -1
        for part in options_of(found, context):
            places += part.is_argument
            if not _is_read(part, name):
                continue
            if part.is_argument:
                given = [*arguments[:places], pipe, *arguments[places + 1 :]]
                yield f"{name} {part.metavar}", [*name.split(), *given, *flags]
            else:
                flag = part.flags[0]
                more = ASKED if flag.startswith("--cache") and name[:5] != "cache" else []
                given = [*arguments, *_with(flags, flag, pipe), *more]
                yield f"{name} {flag}".strip(), [*name.split(), *given]


def _is_read(part: Option, name: str) -> bool:
    if part.metavar == "TARGET" or set(part.flags) & set(WRITTEN):
        return False
    named = {("index", "--to"), ("generate", "--index"), ("provenance", "--index")}
    return (
        part.kind is Path
        or part.metavar == "INDEX"
        or any((name, flag) in named for flag in part.flags)
    )


def _with(flags: Sequence[str], flag: str, value: str) -> Words:
    if flag not in flags:
        return [*flags, flag, value]
    place = list(flags).index(flag) + 1
    return [*flags[:place], value, *flags[place + 1 :]]


def ended(words: Words, out: Path) -> tuple[str, str]:
    """Return (status, what it said) of a command line in a process of its own."""
    said = out / "said"
    child = os.fork()
    if not child:
        signal.alarm(SECONDS)
        number = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(number, 1)
        os.dup2(number, 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        status: Any = 70
        try:
            program().main(args=words, prog_name="run_judge.py")
            status = 0
        except SystemExit as end:
            status = end.code
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(int(status or 0))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return str(status), said.read_text(errors="replace")


def faults(step: int = 1, first: int = 0) -> Iterator[str]:
    """Yield a line for each command that does not refuse a pipe as it must."""
    with TemporaryDirectory() as name:
        out = Path(name)
        os.environ.update(ENDPOINT, TRECJUDGE_CACHE=str(out / "cache"))
        os.chdir(out)
        job, index, pipe = out / "job", out / "x.index", out / "the-pipe.jsonl"
        assert sample("rag", job).status == 0
        assert command("rag", "index", DOCUMENTS, "--to", index).status == 0
        os.mkfifo(pipe)
        for case, words in list(cases(lines(job, index, out), str(pipe)))[first::step]:
            status, said = ended(words, out)
            wrong = [line for line in said.splitlines() if pipe.name in line]
            silent = not wrong and case not in NOT_READ and "--cache" not in case
            if status not in STATUSES or silent or "Traceback" in said or "a bug" in said:
                yield f"{case} | {status} | {said[-600:]!r}"
            elif "-v" in sys.argv:
                print(case, "|", status, "|", len(said.splitlines()), "|", wrong[0])


if __name__ == "__main__":
    for fault in faults(*(int(word) for word in sys.argv[1:] if word.isdigit())):
        print("FAULT", fault)
