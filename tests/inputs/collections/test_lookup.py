"""One pass over files: what is found is what reading everything finds, whatever happens."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from tests.inputs.collections.oracle import slowly
from tests.reading import fail
from trecjudge.errors import InputError
from trecjudge.findings import Finding, FindingLog
from trecjudge.inputs.collections import lookup
from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.inputs.collections.lookup import CollectionLookup, units_of
from trecjudge.inputs.collections.progress import CollectionProgress, progress_to
from trecjudge.inputs.documents.store import document_files, hold_documents
from trecjudge.inputs.sources.paths import files_below
from trecjudge.records import Document
from trecjudge.settings.limits import apply_limits

SLOW = """
import os, signal, sys
from pathlib import Path
from trecjudge.inputs.collections import lookup
from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.inputs.collections.progress import progress_to

lookup.COMMIT = lookup.TELL = 0
folder, cache, how, *wanted = sys.argv[1:]
files = sorted(Path(folder).iterdir())
kept = KeptDocuments.open(Path(cache), "c")
kept.begin(files)

def kill(progress):
    if len(kept.begin_pass(wanted).done) > 10:
        os.kill(os.getpid(), int(how))

with progress_to(kill):
    lookup.CollectionLookup(files, kept, print, "c", 1).find_in_pass(wanted)
"""

FORKED = pytest.mark.usefixtures("forked_readers")


def text_of(number: int) -> str:
    return f"Text {number} of the collection."


def lines_of(numbers: Sequence[int], key: str = "docid") -> str:
    return "".join(json.dumps({key: f"D{n}", "body": text_of(n)}) + "\n" for n in numbers)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A collection of 2,000 documents in files of some kinds."""
    made = tmp_path / "c"
    (made / "more").mkdir(parents=True)
    (made / "a.jsonl").write_text(lines_of(range(500)))
    (made / "b.jsonl.gz").write_bytes(gzip.compress(lines_of(range(500, 1000)).encode()))
    (made / "more" / "c.tsv").write_text(
        "".join(f"D{n}\t{text_of(n)}\n" for n in range(1000, 1500))
    )
    marked = (f"<DOC><DOCNO>D{n}</DOCNO>{text_of(n)}</DOC>\n" for n in range(1500, 2000))
    (made / "more" / "d.sgml").write_text("".join(marked))
    return made


def opened(path: Path, cache: Path) -> tuple[KeptDocuments, list[Path]]:
    files = files_below(path)
    kept = KeptDocuments.open(cache, str(path))
    kept.begin(files)
    return kept, files


def passed(
    path: Path, wanted: Sequence[str], cache: Path, *findings: list[Finding]
) -> KeptDocuments:
    """Return what is kept after a pass; where no list is given, no finding may be reported."""
    kept, files = opened(path, cache)
    CollectionLookup(files, kept, findings[0].append if findings else fail, str(path)).find_in_pass(
        wanted
    )
    return kept


def test_names_in_no_encoding(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    folder.mkdir()
    for number, name in enumerate([b"\xff.jsonl", b"\xfe.jsonl"]):
        text = lines_of([number]) + "broken\n"
        Path(os.path.join(folder, os.fsdecode(name))).write_text(text)
    for _ in range(2):
        kept = passed(folder, ["D0", "D1", "D2"], tmp_path)
        assert [kept.state_of(f"D{n}") for n in range(3)] == ["found", "found", "not there"]
        assert kept.lost == 2


@FORKED
def test_what_a_pipe_gives(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.write(write, (lines_of([0]) + "broken\n").encode())
    os.close(write)
    kept = passed(Path(f"/dev/fd/{read}"), ["D0", "D1"], tmp_path)
    os.close(read)
    assert kept.get("D0") == Document("D0", text_of(0))
    assert [str(finding.place) for finding in kept.findings()] == [f"<fd-{read}>:2"]


@FORKED
def test_systems_that_do_not_say_which_cores_may_be_used(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert passed(folder, ["D7"], tmp_path).state_of("D7") == "found"


@FORKED
def test_what_is_wanted_is_kept_and_what_is_nowhere_is_known(folder: Path, tmp_path: Path) -> None:
    wanted = [*(f"D{n}" for n in range(0, 2100, 41)), "nowhere"]
    kept = passed(folder, wanted, tmp_path)
    found, kinds = slowly(files_below(folder), wanted)
    assert {i: kept.get(i) for i in wanted if kept.get(i)} == found
    assert kept.state_of("nowhere") == "not there"
    assert (kept.lost, kept.select_unsettled(wanted), kinds) == (0, [], [])
    assert {"D0", "D500", "D1000", "D1500"} <= set(kept.some_ids(30))
    assert len(kept.some_ids(100)) <= 30
    again = passed(folder, ["D7", "D41", "D1999"], tmp_path)
    assert again.get("D1999") == Document("D1999", text_of(1999))


@FORKED
@pytest.mark.parametrize("seed", range(4))
def test_folders_of_all_kinds(seed: int, tmp_path: Path) -> None:
    rng, folder = random.Random(seed), tmp_path / "c"
    folder.mkdir()
    for _ in range(8):
        ids = [
            rng.choice((f"D{rng.randrange(300)}", str(rng.randrange(50)), "é/<x>"))
            for _ in "x" * 40
        ]
        texts = [f"Text {rng.random()}" for _ in ids]
        key = rng.choice(("id", "docid", "pmid", "url"))
        kind = rng.choice(("jsonl", "json", "tsv", "xml", "gz"))
        records = [{"title": "N", key: i, "text": t} for i, t in zip(ids, texts, strict=True)]
        if kind == "json":
            data = json.dumps(records, indent=rng.choice((None, 1))).encode()
        elif kind == "tsv":
            data = "".join(f"{i}\t{t}\n" for i, t in zip(ids, texts, strict=True)).encode()
        elif kind == "xml":
            rows = (
                f"<doc><id>{i}</id><text>{t}</text></doc>" for i, t in zip(ids, texts, strict=True)
            )
            data = "".join(rows).replace("<x>", "&lt;x&gt;").encode()
        else:
            data = "\n".join(json.dumps(record) for record in records).encode()
            data = gzip.compress(data) if kind == "gz" else data
        (folder / f"{rng.randrange(100)}.{kind}").write_bytes(data)
    wanted = [*(f"D{n}" for n in range(0, 300, 7)), "3", "17", "é/<x>", "nowhere"]
    kept = passed(folder, wanted, tmp_path)
    found, _ = slowly(files_below(folder), wanted)
    assert {i: kept.get(i) for i in wanted if kept.get(i)} == found


@FORKED
def test_the_first_of_two_documents_counts_whichever_is_read_first(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    folder.mkdir()
    (folder / "a.jsonl").write_text(
        lines_of(range(1, 60_000)) + '{"docid": "D0", "body": "First."}\n'
    )
    (folder / "b.jsonl").write_text('{"docid": "D0", "body": "Second."}\n' * 2)
    kept = passed(folder, ["D0"], tmp_path)
    assert kept.get("D0") == Document("D0", "First.")
    assert kept.source_of("D0").startswith("a.jsonl@")


@FORKED
def test_the_order_of_files_is_the_same_in_memory(tmp_path: Path) -> None:
    (tmp_path / "c" / "a").mkdir(parents=True)
    for name in ("a/x.jsonl", "a-1.jsonl", "a.jsonl"):
        (tmp_path / "c" / name).write_text(f'{{"docid": "D0", "body": "{name}"}}\n')
    files = document_files(tmp_path / "c", fail)
    kept = passed(tmp_path / "c", ["D0"], tmp_path)
    in_memory = hold_documents(tmp_path / "c", files, FindingLog([]), 1 << 20)
    assert in_memory is not None
    assert kept.get("D0") == in_memory.get("D0") == Document("D0", "a-1.jsonl")


@FORKED
def test_a_pass_ends_where_all_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    folder.mkdir()
    for number in range(100):
        (folder / f"{number:03}.jsonl").write_text(lines_of([number]))
    (folder / "099.jsonl").write_text("broken\n")
    kept, files = opened(folder, tmp_path)
    told: list[CollectionProgress] = []
    with progress_to(told.append):
        CollectionLookup(files, kept, fail, "c", 1).find_in_pass(["D0", "D3"])
    assert kept.lost == 0
    assert (told[-1].found, told[-1].wanted, told[-1].ended) == (2, 2, True)
    assert told[-1].done < told[-1].total / 2
    CollectionLookup(files, kept, fail, "c").find_in_pass(["D0", "D99"])
    assert kept.lost == 1
    assert kept.state_of("D99") == "not there"


@FORKED
def test_ranges_of_a_large_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "RANGE", 10_000)
    path = tmp_path / "c.jsonl"
    path.write_text(lines_of([*range(1000), *range(500)]) + "broken\n")
    (tmp_path / "d.jsonl.gz").write_bytes(gzip.compress(os.urandom(30_000)))
    assert len(list(units_of(path))) == path.stat().st_size // 10_000 + 1
    assert len(list(units_of(tmp_path / "d.jsonl.gz"))) == 1
    wanted = [f"D{n}" for n in range(1000)]
    kept = passed(path, [*wanted, "nowhere"], tmp_path)
    assert [kept.get(f"D{n}") for n in range(1000)] == [
        Document(f"D{n}", text_of(n)) for n in range(1000)
    ]
    assert [finding.place.line for finding in kept.findings()] == [1501]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["killed", "Ctrl-C"])
def test_a_pass_that_was_interrupted_goes_on(how: int, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    folder.mkdir()
    for number in range(60):
        (folder / f"{number:02}.jsonl").write_text(lines_of([number]))
    wanted = [*(f"D{n}" for n in range(60)), "later", "nowhere"]
    command = [sys.executable, "-c", SLOW, str(folder), str(tmp_path), str(int(how)), *wanted]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=Path.cwd(), check=False)
    assert ended.returncode in (-how, 1, 130)
    files = sorted(folder.iterdir())
    kept = KeptDocuments.open(tmp_path, "c")
    kept.begin(files)
    done = kept.begin_pass(["later"]).done
    assert 10 < len(done) < 60
    for file in files:  # those that were read are not read again
        if any(name.startswith(f"{file}\0") for name in done):
            found = file.stat()
            file.write_text('{"docid":"later"}'.ljust(found.st_size - 1) + "\n")
            os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))
    # It looks for all that was wanted before, not only for what is wanted now.
    CollectionLookup(files, kept, fail, "c").find_in_pass(["D59", "nowhere"])
    assert {kept.state_of(f"D{n}") for n in range(60)} == {"found"}
    assert {kept.state_of(i) for i in ("later", "nowhere")} == {"not there"}
    assert kept.begin_pass(["D59"]).done == frozenset()


def test_no_process_outlives_the_one_that_reads(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    folder.mkdir()
    for number in range(60):
        (folder / f"{number:02}.jsonl").write_text(lines_of([number]))
    command = [sys.executable, "-c", SLOW, str(folder), str(tmp_path), "9", "D7", "nowhere"]
    with subprocess.Popen(command, start_new_session=True) as process:
        process.wait()
    until = time.monotonic() + 60
    while _is_there(process.pid) and time.monotonic() < until:
        time.sleep(0.01)
    assert not _is_there(process.pid)


def _is_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_parquet_that_swells_takes_no_memory(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    folder.mkdir()
    ids = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 4_000_000), ["i" * 1000])
    long = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 400), ["x" * 40_000_000])
    same = pyarrow.array([f"D{n}" for n in range(400)])
    for name, columns in (("a", {"id": ids}), ("b", {"id": same, "text": long})):
        path = folder / f"{name}.parquet"
        pyarrow.parquet.write_table(pyarrow.table(columns), path, store_schema=False)
    (folder / "c.jsonl").write_text(lines_of([1]))
    kept = passed(folder, ["D1", "D7"], tmp_path)
    found = [(Path(f.place.path).name, f.kind) for f in kept.findings()]
    unread = [("a.parquet", "collection_unreadable"), ("b.parquet", "record_too_large")]
    assert found == [*unread, unread[1]]
    assert kept.get("D1") == Document("D1", text_of(1))


def children() -> list[int]:
    listed = subprocess.run(
        ["pgrep", "-P", str(os.getpid())], capture_output=True, text=True, check=False
    )
    return [int(number) for number in listed.stdout.split()]


def test_a_process_that_is_killed_leaves_its_file_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookup, "TELL", 0)
    folder, before = tmp_path / "c", set(children())
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.jsonl").write_text(lines_of([number]))
    with (folder / "2.jsonl").open("a") as file:
        for _ in range(200):
            file.write(lines_of(range(1000, 2000)))
    kept, files = opened(folder, tmp_path)
    findings: list[Finding] = []

    def kill(progress: CollectionProgress) -> None:
        if progress.found == 2 and not findings:
            for process in set(children()) - before:
                os.kill(process, signal.SIGKILL)

    wanted = ["D0", "D1", "D7", "D1001"]
    with progress_to(kill):
        CollectionLookup(files, kept, findings.append, "c", 1).find_in_pass(wanted)
    assert [finding.kind for finding in findings] == ["collection_unreadable"]
    assert "2.jsonl: was not read to its end" in str(findings[0])
    assert kept.state_of("D7") == "not looked for"
    assert kept.get("D7") == Document("D7", complete=False)
    CollectionLookup(files, kept, fail, "c").find_in_pass(wanted)
    assert [kept.state_of(i) for i in wanted] == ["found", "found", "not there", "found"]
    assert kept.get("D7") is None


def test_limits_hold_in_every_process(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(lines_of(range(3)) + json.dumps({"docid": "long", "body": "x" * 5000}) + "\n")
    with apply_limits(["record=1000"]):
        kept = passed(path, ["long", "D1"], tmp_path)
    assert [finding.kind for finding in kept.findings()] == ["record_too_large"]
    assert (kept.lost, kept.get("long")) == (1, None)


@pytest.mark.slow("trecjudge/inputs/collections")
def test_many_wanted_documents(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(lines_of(range(0, 40_000, 5)))
    wanted = [f"D{n}" for n in range(40_000)]
    kept = passed(path, wanted, tmp_path)
    assert sum(kept.state_of(i) == "found" for i in wanted) == 8_000


@FORKED
def test_findings_are_kept_once(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    folder.mkdir()
    (folder / "a.jsonl").write_text('broken\n{"body": "no id"}\n' + lines_of([1]))
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(lines_of(range(5000)).encode())[:-500])
    (folder / "notes.bin").write_bytes(b"\0\1\2")
    (folder / "README.md").write_text("# Read me")
    for wanted in ("D1", "x", "y"):
        kept = passed(folder, [wanted], tmp_path)
    kinds = sorted(finding.kind for finding in kept.findings())
    unreadable = ["collection_unreadable"] * 2
    assert kinds == [*unreadable, "documents_unusable", "file_not_documents", "line_not_json"]
    assert kept.lost == 4


@FORKED
@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("Some notes,\nand more.\n", r"c: no documents found; give JSON", id="prose"),
        pytest.param("", r"c: no documents found; give JSON", id="empty"),
        pytest.param('{"call": "a", "text": "T."}\n' * 9, r"c: no documents found", id="no ids"),
    ],
)
def test_no_documents(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "c").write_text(text)
    with pytest.raises(InputError, match=message):
        passed(tmp_path / "c", ["a"], tmp_path, [])


def _gone(folder: Path) -> None:
    (folder / "b.jsonl").unlink()


def _pipe(folder: Path) -> None:
    (folder / "b.jsonl").unlink()
    os.mkfifo(folder / "b.jsonl")


@FORKED
@pytest.mark.parametrize(
    ("change", "why"),
    [(_gone, "there is no such file or folder"), (_pipe, "it is a pipe, not a file")],
    ids=["gone", "a pipe"],
)
def test_what_cannot_be_read_this_time_is_read_the_next_time(
    change: Callable[[Path], None], why: str, tmp_path: Path
) -> None:
    folder = tmp_path / "c"
    folder.mkdir()
    for number, name in enumerate("ab"):
        (folder / f"{name}.jsonl").write_text(lines_of([number]))
    kept, files = opened(folder, tmp_path)
    whole, state = (folder / "b.jsonl").read_text(), (folder / "b.jsonl").stat()
    change(folder)
    findings: list[Finding] = []
    CollectionLookup(files, kept, findings.append, "c").find_in_pass(["D0", "D1"])
    assert [finding.kind for finding in findings] == ["collection_unreadable"]
    assert why in findings[0].message
    assert [kept.state_of(i) for i in ("D0", "D1")] == ["found", "not looked for"]
    (folder / "b.jsonl").unlink(missing_ok=True)
    (folder / "b.jsonl").write_text(whole)
    os.utime(folder / "b.jsonl", ns=(state.st_atime_ns, state.st_mtime_ns))
    kept.begin(files)
    CollectionLookup(files, kept, fail, "c").find_in_pass(["D0", "D1"])
    assert kept.get("D1") == Document("D1", text_of(1))


@FORKED
def test_a_file_that_is_the_only_one_and_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(lines_of([1]))
    kept, files = opened(path, tmp_path)
    path.unlink()
    with pytest.raises(InputError, match=r"c\.jsonl: .*there is no such file"):
        CollectionLookup(files, kept, [].append, str(path)).find_in_pass(["D1"])
