"""A secret in every argument of every command: `python -m tests.secret_matrix [SHARE]` tries them.

Each flag and argument of each command is given each form of a secret, in a command line that works
without it. The secret must be in nothing that comes out: standard output and error, exceptions and
their chains, files that are written. Prints a line by command: its tries and leaks.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cli_page import commands
from tests.commandline import SAMPLES, Done, command
from trecjudge.cli.parameters import Option, options_of

SECRET = "Zq7Hx9Wv3K"
"""Stands in no text of ours."""
FORMS = {
    "postgres": f"postgresql://user:{SECRET}@127.0.0.1:1/db",
    "lone": f"https://{SECRET}@127.0.0.1:1/a.jsonl",
    "slash": f"postgres://user:a/{SECRET}@127.0.0.1:1/db",
    "blank": f"https://user:a {SECRET}@127.0.0.1:1/a b.jsonl",
    "query": f"https://127.0.0.1:1/a.jsonl?x=1&api_key={SECRET}&y=2",
    "fragment": f"https://127.0.0.1:1/a.jsonl#access_token={SECRET}",
    "signed": f"https://127.0.0.1:1/a?X-Amz-Credential=x{SECRET}&X-Amz-Signature={SECRET}",
    "sas": f"https://127.0.0.1:1/a?sv=2020&SIG={SECRET}%3D",
    "encoded": f"https://127.0.0.1:1/a?%61pi%5Fkey={SECRET}",
    "dsn": f"host=127.0.0.1 port=1 password={SECRET} dbname=d",
    "quoted": f"host=127.0.0.1 password='a {SECRET}' port=1",
    "bare": f"user:{SECRET}@127.0.0.1:1/db",
    "copied": f"user:{SECRET}@host:/srv/a.jsonl",
    "schemeless": f"//user:{SECRET}@127.0.0.1:1/db",
    "jdbc": f"jdbc:postgresql://127.0.0.1:1/db?user=u&password={SECRET}",
    "several": f"http://a:{SECRET}@127.0.0.1:1,http://b:{SECRET}@127.0.0.1:2",
    "variable": f"HTTPS_PROXY=http://u:{SECRET}@127.0.0.1:1",
    "pgpassword": f"PGPASSWORD={SECRET}",
    "openai": f"sk-{SECRET}{SECRET}",
    "github": f"ghp_{SECRET}{SECRET}{SECRET}",
    "bearer": f"Bearer {SECRET}{SECRET}",
    "jwt": f"eyJhbGciOiJIUzI1NiJ9.{SECRET}.{SECRET}",
    "setting": f"llm.base_url=http://u:{SECRET}@127.0.0.1:1/v1",
    "header": f"llm.headers={{Authorization: Bearer {SECRET}}}",
    "parameter": f"length.api_key={SECRET}",
}
FIELDS = (
    *(
        "llm.base_url",
        "llm.model",
        "llm.ca_file",
        "llm.cert_file",
        "llm.headers.X-A",
        "llm.query.a",
    ),
    *("llm.api_key", "llm.prices.input", "llm.extra_body.a", "llm.headers.X-Key", "llm.unknown"),
    *("judge", "settings.limit", "settings.unknown", "prompts.attest", "voters.a.model", "unknown"),
    *("gate.min.A", "measures.a", "audit.labels", "leaderboard.ci", "embedding.base_url"),
)
"""Fields of a workflow."""
VARIABLES = (
    *("OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL", "OPENAI_ORG_ID", "HTTP_PROXY"),
    *("HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "PGPASSWORD", "DATABASE_URL", "TRECJUDGE_CACHE"),
)
"""Variables of the environment."""
ENDPOINT = (
    *(("OPENAI_BASE_URL", "http://127.0.0.1:1/v1"), ("OPENAI_MODEL", "m")),
    ("OPENAI_API_KEY", "no-key-at-all"),
)
QUICK = {"timeout": 0.2, "tries": 1, "give_up_after": 1, "patience": 0.4, "first_answer": 0.4}
ASKED = ("--use-env-llm", "--judge", "direct_prompt", "--max-topics", "1", "--name", "y")
NAMES = ("--name", "--run-id", "--team-id")
"""Flags that name what is made: a run has its name in each of its records."""
LIMIT = 20
"""Seconds after which a command is stopped: none of them has to wait for another."""


@dataclass(frozen=True)
class Try:
    """One command line with a secret in it."""

    command: str
    part: str
    form: str
    words: tuple[str, ...]
    workflow: str = ""
    environment: tuple[tuple[str, str], ...] = ()


def prepare(folder: Path) -> dict[str, list[str]]:
    """Make inputs in a folder; return a command line that works, by command, from there."""
    for name in ("rag", "ragtime"):
        shutil.copytree(SAMPLES / name, folder / name)
    pairs = '{"text": "Steam whistles.", "document": "Steam makes a kettle whistle."}\n'
    (folder / "pairs.jsonl").write_text(pairs)
    (folder / "experiment.yml").write_text(
        "topics: rag/topics.jsonl\nformat: rag25\nindex: rag.index\njudge: citation\n"
        "variants: {a: {top: 2}, b: {top: 3}}\n"
    )
    bank = '{"query_id": "%s", "title_query": "", "format_version": "v3", "nugget_bank": {"Why?":'
    bank += ' {"question": "Why?", "answers": {"Steam": {"answer": "Steam"}}}}}\n'
    (folder / "bank0.jsonl").write_text(bank % "28")
    runs = ["--rag-responses", "rag/runs", "--rag-topics", "rag/topics.jsonl"]
    given = [*runs, "--documents", "rag/documents.jsonl"]
    judge = [*given, "--judge", "citation", "--out-dir", "out", "--name", "x"]
    lines = {
        "": judge,
        "judge": ["judge", "rag/runs", *judge[2:]],
        "table": ["table", "out/job"],
        "init": ["init", "rag", "--output", "w.yml", "--force"],
        "judges list": ["judges", "list"],
        "judges prompts": ["judges", "prompts"],
        "judges prompts show": ["judges", "prompts", "show", "citation"],
        "job formats": ["job", "formats"],
        "job schema": ["job", "schema"],
        "job rescore": ["job", "rescore", "out/job"],
        "job merge": ["job", "merge", "out/p1", "out/p2", "--out-dir", "merged"],
        "judges pairs": ["judges", "pairs", "pairs.jsonl"],
        "judges calibrate": [
            "judges",
            "calibrate",
            *runs[:2],
            "--documents",
            "rag/documents.jsonl",
            "--output",
            "c",
        ],
        "judges stability": [
            "judges",
            "stability",
            *given,
            "--judge",
            "length",
            "--responses",
            "1",
        ],
        "judges choose": ["judges", "choose", "length", "--labels", "rag/labels.jsonl", *given],
        "judges trust": [
            "judges",
            "trust",
            "length",
            *given,
            "--max",
            "responses=1",
            "--out-dir",
            "c",
        ],
        "check": ["check", "rag/runs", "--rag-topics", "rag/topics.jsonl"],
        "report": ["report", "out/job"],
        "show": ["show", "out/job"],
        "job judgments": ["job", "judgments", "out/job"],
        "rag provenance": ["rag", "provenance", "made/g.jsonl"],
        "compare": ["compare", "out/job"],
        "gate": ["gate", "out/job", "--min", "CITATION_SUPPORT=0"],
        "judges meta": ["judges", "meta", "out/job", "--truth", "out/job"],
        "labels agree": ["labels", "agree", "out/job", "--labels", "out/job"],
        "judges audit": ["judges", "audit", "rag/labels.jsonl", *given],
        "labels next": ["labels", "next", "out/job"],
        "judges optimize": ["judges", "optimize", "--labels", "rag/labels.jsonl", *given, "--plan"],
        "job convert": ["job", "convert", "out/job", "converted.txt", "--to", "ir_measures"],
        "nuggets create": ["nuggets", "create", "bank.jsonl", "--from-topic", *runs[2:]],
        "nuggets edit": ["nuggets", "edit", "bank0.jsonl", "--to-table", "t.csv"],
        "rag index": ["rag", "index", "--output", "fresh.index", "rag/documents.jsonl"],
        "rag search": ["rag", "search", "rag.index", "kettle"],
        "rag generate": [
            *["rag", "generate", "--index", "rag.index", "--format", "rag25", "--out-dir", "gen"],
            *runs[2:],
        ],
        "rag experiment": ["rag", "experiment", "experiment.yml", "--out-dir", "exp"],
        "cache info": ["cache", "info"],
        "cache export": ["cache", "export", "kept"],
        "cache import": ["cache", "import", "kept0"],
        "cache verify": ["cache", "verify", "kept0"],
        "cache prune": ["cache", "prune", "--older-than", "90"],
    }
    made = [
        [*judge[:-1], "job"],
        *([*judge[:-1], f"p{n}", "--shard", f"{n}/2"] for n in (1, 2)),
        ["rag", "index", "--output", "rag.index", "rag/documents.jsonl"],
        [
            *("rag", "generate"),
            *["--index", "rag.index", "--format", "rag25", "--out-dir", "made", "--name", "g"],
            *runs[2:],
        ],
    ]
    for line in made:
        done = command(*line)
        if done.status not in (0, 3):
            print(line, done.err, file=sys.stderr)
    return lines


def tries(lines: dict[str, list[str]]) -> Iterator[Try]:
    """Yield each form of a secret in each flag and argument of each command."""
    for found, context in commands():
        names, here = [], context
        while here.parent:
            names.append(here.info_name)
            here = here.parent
        name = " ".join(reversed(names))
        line = lines.get(name, name.split())
        parts = list(options_of(found, context))
        for form, text in FORMS.items():
            for part in parts:
                if not part.flags:
                    yield Try(name, part.metavar, form, (*names[::-1], text, *_flags(line, parts)))
                    yield Try(name, f"{part.metavar} too", form, (*line, text))
                elif part.is_switch:
                    yield Try(name, part.flags[-1], form, (*line, f"{part.flags[-1]}={text}"))
                else:
                    words = (*_without(line, part), part.flags[-1], text)
                    yield Try(name, part.flags[-1], form, words)
                    if any("--json" in other.flags for other in parts):
                        yield Try(name, f"{part.flags[-1]} in JSON", form, (*words, "--json"))
            yield Try(name, "a word too many", form, (*line, "--json", text))
            yield Try(name, "an unknown flag", form, (*line, f"--{text}"))
        if not line:
            yield Try(name, "a command", "openai", (FORMS["openai"],))
    for form, text in FORMS.items():
        yield from _set_elsewhere(form, text, lines[""])


def _set_elsewhere(form: str, text: str, line: list[str]) -> Iterator[Try]:
    """Yield a form of a secret in each field of a workflow, and in the environment."""
    used = _without(_without(line, "--judge"), "--name")
    for field in FIELDS:
        made: Any = text
        for name in reversed(field.split(".")):
            made = {name: made}
        known = {"judge": "direct_prompt", "llm": dict(QUICK)}
        for name, value in made.items():
            both = isinstance(value, dict) and isinstance(known.get(name), dict)
            known[name] = {**known[name], **value} if both else value
        for more in ((), ASKED[:1]):
            words = (*used, *more, "--workflow", "mine.yml", "--name", "y")
            yield Try("a workflow", field, form, words, json.dumps(known), ENDPOINT)
    quick = json.dumps({"llm": QUICK})
    words = (*used, *ASKED, "--workflow", "mine.yml")
    for name in VARIABLES:
        own = (*(pair for pair in ENDPOINT if pair[0] != name), (name, text))
        yield Try("the environment", name, form, words, quick, own)


def _flags(line: list[str], parts: list[Option]) -> list[str]:
    """Return a command line from its first flag on."""
    return next((line[i:] for i, word in enumerate(line) if word.startswith("-")), [])


def _without(line: list[str], part: Option | str) -> list[str]:
    flags = (part,) if isinstance(part, str) else part.flags
    kept, skips = [], False
    for word in line:
        if word in flags:
            skips = True
        elif not skips or word.startswith("-"):
            skips = False
            kept.append(word)
        else:
            skips = False
    return kept


class _Late(BaseException):
    """A command took too long."""


def _stop(*_: Any) -> None:
    raise _Late


def leaks(one: Try, folder: Path, before: dict[Path, int]) -> list[str]:
    """Run a command line; return where its secret came out."""
    signal.signal(signal.SIGALRM, _stop)
    signal.alarm(LIMIT)
    found = []
    if one.workflow:
        Path("mine.yml").write_text(one.workflow)
    kept = {name: os.environ.get(name) for name, _ in one.environment}
    os.environ.update(one.environment)
    try:
        done = command(*one.words)
    except _Late:
        return ["hangs"]
    except BaseException as error:
        trace = "".join(traceback.format_exception(error))
        done = Done(1, "", "")
        found += ["exception"] if SECRET in trace else []
    finally:
        signal.alarm(0)
        for name, value in kept.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    found += ["stdout"] if SECRET in done.out else []
    found += ["stderr"] if SECRET in done.err else []
    found += ["bug"] if "a bug:" in done.err else []
    Path("mine.yml").unlink(missing_ok=True)
    named = one.part.split(" ")[0] in NAMES  # what was asked to be called so
    for path in folder.rglob("*"):
        stamp = path.stat().st_mtime_ns if path.is_file() else 0
        if (
            path.is_file()
            and not named
            and before.get(path) != stamp
            and SECRET.encode() in path.read_bytes()
        ):
            found.append(f"file {path.name.replace(SECRET, 'SECRET')}")
        before[path] = stamp
    # What is there counts as a path: the next try must not find what this one has made.
    for path in folder.iterdir():
        if SECRET in path.name or SECRET in "".join(p.name for p in path.rglob("*")):
            if SECRET in path.name or ":" in path.name or "=" in path.name:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            else:
                for inner in [p for p in path.rglob("*") if SECRET in p.name]:
                    shutil.rmtree(inner) if inner.is_dir() else inner.unlink(missing_ok=True)
    return found


def run(chosen: list[Try], folder: Path) -> dict[Try, list[str]]:
    """Return the leaks of the tries that have any; `folder` is the working folder."""
    before: dict[Path, int] = {}
    found = {one: leaks(one, folder, before) for one in chosen}
    return {one: where for one, where in found.items() if where}


def main(share: float, only: str = "") -> int:
    """Try a share of all; print a line by command; return 1 where a secret came out."""
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        folder = Path(name).resolve()
        os.environ["TRECJUDGE_CACHE"] = str(folder / "cache")
        every = [t for t in tries(prepare(folder)) if not only or t.command == only]
        chosen = random.Random(20).sample(every, round(len(every) * share))
        chosen.sort(key=lambda one: (one.command, one.part, one.form))
        found = run(chosen, folder)
    tried, leaked = Counter(t.command for t in chosen), Counter(t.command for t in found)
    for name, number in tried.items():
        print(f"{name or 'main job'}: {number} tries, {leaked[name]} leaks")
    for one, where in found.items():
        if True:
            print(f"  {one.command or 'main job'} {one.part} {one.form}: {', '.join(where)}")
    parts = len({(t.command, t.part) for t in chosen})
    print(f"in all: {len(tried)} commands, {parts} parts, {len(FORMS)} forms,", end=" ")
    print(
        f"{len(chosen)} tries, {len(found)} leaks",
        Counter(w.split(" ")[0] for ws in found.values() for w in ws),
    )
    return int(bool(found))


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "-v"]
    sys.exit(main(float(words[0]) if words else 1.0, words[1] if words[1:] else ""))
