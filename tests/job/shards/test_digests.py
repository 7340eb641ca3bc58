"""Parts that were edited, swapped or forged: `merge` names the file, and writes nothing."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import dspy
import pytest
import zstandard

from tests.commandline import Done, command
from tests.endpoint import attesting, serving
from tests.job.shards.parts import FILES, flags, same_files, write_runs
from trecjudge.job.shards.merging import seal
from trecjudge.judges.citation.program import Attest

Lines = list[bytes]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of runs, judged by one command into `one`, and in two parts."""
    found = tmp_path_factory.mktemp("runs")
    write_runs(found, runs=1, topics=4)
    assert command(*flags(found, "one", "-q")).status == 0
    for number in (1, 2):
        assert command(*flags(found, "parts", "--shard", f"{number}/2", "-q")).status == 0
    return found


@pytest.fixture
def parts(folder: Path, tmp_path: Path) -> Path:
    """Return a copy of the two parts."""
    return Path(shutil.copytree(folder / "parts", tmp_path / "parts"))


def merged(parts: Path) -> Done:
    return command("job", "merge", parts, "--out-dir", parts.parent / "out", "--name", "x")


def file(parts: Path, number: int, ending: str = "judgments.jsonl") -> Path:
    return parts / f"x.shard-{number}-of-2.{ending}"


def rewrite(path: Path, change: Callable[[str], str]) -> None:
    """Change the text of a file; that it changes is asserted."""
    before = path.read_text()
    path.write_text(change(before))
    assert path.read_text() != before


def lines(path: Path) -> Lines:
    return path.read_bytes().splitlines(keepends=True)


def judgments_of(text: Lines) -> list[int]:
    """Return where the judgments are among the lines of a file."""
    return [n for n, line in enumerate(text) if line.startswith(b'{"record":"judgment"')]


def forge(parts: Path, number: int) -> None:
    """Give a part true digests again, as anyone can who may write it."""
    path = file(parts, number)
    *body, end = lines(path)
    found = hashlib.sha256(b"".join(body)).hexdigest()
    old = json.loads(end)["sha256"]
    path.write_bytes(b"".join(body) + end.replace(old.encode(), found.encode()))
    config = file(parts, number, "config.yml")
    text = config.read_text().replace(old, found)
    config.write_text(seal(text[: text.rindex("sha256: ")]))


def edited(parts: Path) -> None:
    """Another verdict, with all counts kept."""
    rewrite(file(parts, 2), lambda text: re.sub(r'"grade":2', '"grade":0', text, count=1))


def swapped(parts: Path) -> None:
    """A judgment of each part in the place of one of the other."""
    one, two = lines(file(parts, 1)), lines(file(parts, 2))
    own, other = judgments_of(one)[0], judgments_of(two)[0]
    one[own], two[other] = two[other], one[own]
    file(parts, 1).write_bytes(b"".join(one))
    file(parts, 2).write_bytes(b"".join(two))


def doubled(parts: Path) -> None:
    """A judgment twice, and the next one removed."""
    text = lines(file(parts, 2))
    first, second = judgments_of(text)[:2]
    text[second] = text[first]
    file(parts, 2).write_bytes(b"".join(text))


def other_order(parts: Path) -> None:
    text = lines(file(parts, 2))
    first, second = judgments_of(text)[:2]
    text[first], text[second] = text[second], text[first]
    file(parts, 2).write_bytes(b"".join(text))


def renamed(parts: Path) -> None:
    """Each part under the name of the other."""
    for path in sorted(parts.glob("*shard-1-*")):
        other = parts / path.name.replace("shard-1", "shard-2")
        kept = path.read_bytes()
        path.write_bytes(other.read_bytes())
        other.write_bytes(kept)


def judgments_exchanged(parts: Path) -> None:
    one, two = file(parts, 1).read_bytes(), file(parts, 2).read_bytes()
    file(parts, 1).write_bytes(two)
    file(parts, 2).write_bytes(one)


def log_cut(parts: Path) -> None:
    file(parts, 2, "log").write_bytes(b"".join(lines(file(parts, 2, "log"))[:-1]))


def log_exchanged(parts: Path) -> None:
    shutil.copy(file(parts, 1, "log"), file(parts, 2, "log"))


def config_edited(parts: Path) -> None:
    rewrite(file(parts, 2, "config.yml"), lambda text: text.replace("lost: 0", "lost: 1"))


def config_digest_removed(parts: Path) -> None:
    rewrite(file(parts, 2, "config.yml"), lambda text: text[: text.rindex("sha256: ")])


def unsigned(parts: Path, number: int) -> None:
    """Remove all digests of a part: it is then as one of an older version."""
    rewrite(file(parts, number), lambda text: re.sub(r',"sha256":"\w+"}', "}", text))
    path = file(parts, number, "config.yml")
    text = path.read_text()[: path.read_text().rindex("sha256: ")]
    text = re.sub(r"(?m)^(parts|prompts):.*\n([ -].*\n)*", "", text)
    path.write_text(re.sub(r"(?m)^  sha256:.*\n(    .*\n)*", "", text))


def digest_of_records_edited(parts: Path) -> None:
    rewrite(file(parts, 2), lambda text: re.sub(r'"sha256":"\w{9}', '"sha256":"000000000', text))


def forged_swap(parts: Path) -> None:
    """Responses of the parts exchanged with their judgments, and all digests made true again."""
    one, two = lines(file(parts, 1)), lines(file(parts, 2))
    file(parts, 1).write_bytes(b"".join([one[0], *two[1:-1], one[-1]]))
    file(parts, 2).write_bytes(b"".join([two[0], *one[1:-1], two[-1]]))
    for number in (1, 2):
        forge(parts, number)


RECORDS = "its records are not those that were judged: their SHA-256 differs"
CONFIG = "was changed since it was written: its SHA-256 is another"
UNSIGNED = "was changed since it was written: its digest is missing"


@pytest.mark.parametrize(
    ("spoil", "number", "ending", "message"),
    [
        (edited, 2, "judgments.jsonl", RECORDS),
        (swapped, 1, "judgments.jsonl", RECORDS),
        (doubled, 2, "judgments.jsonl", RECORDS),
        (other_order, 2, "judgments.jsonl", RECORDS),
        (judgments_exchanged, 1, "judgments.jsonl", "is cut or was changed"),
        (digest_of_records_edited, 2, "judgments.jsonl", "is cut or was changed"),
        (renamed, 2, "config.yml", "was written as part 1 of 2"),
        (log_cut, 2, "log", "is not the log that this part wrote"),
        (log_exchanged, 2, "log", "is not the log that this part wrote"),
        (config_edited, 2, "config.yml", CONFIG),
        (config_digest_removed, 2, "config.yml", UNSIGNED),
        (lambda parts: unsigned(parts, 2), 2, "config.yml", UNSIGNED),
        (lambda parts: unsigned(parts, 1), 1, "config.yml", UNSIGNED),
        (forged_swap, 1, "judgments.jsonl", "its responses are not those of this part"),
    ],
)
def test_a_part_that_is_not_as_it_was_written(
    spoil: Callable[[Path], None], number: int, ending: str, message: str, parts: Path
) -> None:
    spoil(parts)
    done = merged(parts)
    assert done.status == 1
    assert len(done.err.splitlines()) == 1
    assert done.err.startswith(f"error: {file(parts, number, ending)}: {message}"), done.err
    assert [p.name for p in (parts.parent / "out").glob("*")] == []


@pytest.mark.parametrize(
    ("old", "new", "odd"),
    [
        (r"  seconds: .*", "  seconds: x", "counts"),
        (r"  seconds: .*", "  seconds: .nan", "counts"),
        (r"  model: .*", "  model: 7", "counts"),
        (r"  model: .*", "  model: {calls: [1]}", "counts"),
        (r"\nworkflow:", "\nworkflow: 7\nother:", "workflow"),
        (r"\ninputs_sha256:", "\ninputs_sha256: [1]\nother:", "inputs_sha256"),
        (r"  findings:.*(\n    .*)*", "  findings: {no_such_kind: 1}", "findings"),
        (
            r"  findings_by_run:.*(\n    .*)*",
            "  findings_by_run: {no_such_kind: {r: 1}}",
            "findings",
        ),
    ],
)
def test_a_config_with_values_of_other_types_is_one_line(
    old: str, new: str, odd: str, parts: Path
) -> None:
    for number in (1, 2):
        config = file(parts, number, "config.yml")
        text = re.sub(old, new, config.read_text(), count=1)
        assert text != config.read_text()
        config.write_text(seal(text[: text.rindex("sha256: ")]))
    done = merged(parts)
    assert (done.status, len(done.err.splitlines())) == (1, 1), done.err
    assert f"config.yml: {odd} is not as a part has it" in done.err


def test_a_part_may_be_packed_otherwise(folder: Path, parts: Path) -> None:
    for kind in ("judgments.jsonl", "log"):
        path = file(parts, 2, kind)
        packed = zstandard.ZstdCompressor(level=19).compress(path.read_bytes())
        path.with_name(f"{path.name}.zst").write_bytes(packed)
        path.unlink()
    file(parts, 1).write_bytes(file(parts, 1).read_bytes().replace(b"\n", b"\r\n"))
    assert merged(parts).status == 0
    assert same_files(folder / "one", parts.parent / "out") == list(FILES)


def test_parts_of_an_older_version_are_merged_with_a_note(folder: Path, parts: Path) -> None:
    for number in (1, 2):
        unsigned(parts, number)
    done = merged(parts)
    assert (done.status, done.err.count("warning: an older version")) == (0, 1), done.err
    assert same_files(folder / "one", parts.parent / "out") == list(FILES)


def test_parts_that_were_asked_by_other_prompts(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = tmp_path / "attest.json"
    workflow = tmp_path / "w.yml"
    workflow.write_text("judge: citation\nprompts: {attest: attest.json}\n")
    with serving(attesting()) as endpoint:
        for variable, value in endpoint.environment().items():
            monkeypatch.setenv(variable, value)
        for number, told in ((1, "Be strict."), (2, "Be kind.")):
            dspy.ChainOfThought(Attest.with_instructions(told)).save(str(compiled))
            words = flags(folder, str(tmp_path / "parts"), "--shard", f"{number}/2", "-q")
            del words[:2]  # the workflow names the judge
            words += ["--workflow", str(workflow), "--use-env-llm", "--max-topics", "1"]
            assert command(*words, "--cache-dir", str(tmp_path / "cache")).status == 0
    done = merged(tmp_path / "parts")
    first = file(tmp_path / "parts", 1, "config.yml")
    assert (done.status, done.err) == (
        1,
        f"error: {file(tmp_path / 'parts', 2, 'config.yml')}: its prompts (attest) are not those of"
        f" {first}: they are no parts of one job\n",
    )
