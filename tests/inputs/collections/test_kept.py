"""What was found of a collection: kept until a file changes, first found wins, shared by jobs."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from trecjudge.errors import OutputError
from trecjudge.findings import Finding
from trecjudge.inputs.collections.kept import KeptDocuments, is_kept
from trecjudge.inputs.collections.units import FoundDocument
from trecjudge.records import Document, Place


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    found = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for file in found:
        file.write_text("{}")
    return found


@pytest.fixture
def kept(tmp_path: Path, files: list[Path]) -> KeptDocuments:
    store = KeptDocuments.open(tmp_path / "cache", "collection")
    store.begin(files)
    return store


def add(store: KeptDocuments, *found: FoundDocument) -> None:
    with store.change():
        store.add(found)


def test_the_first_document_of_an_id_counts_whatever_is_added_first(kept: KeptDocuments) -> None:
    add(kept, FoundDocument(Document("a", "Third."), "two.jsonl", 0))
    add(kept, FoundDocument(Document("a", "Second."), "one.jsonl", 90))
    add(kept, FoundDocument(Document("a", "First."), "one.jsonl", 5))
    add(kept, FoundDocument(Document("a", "Fourth."), "two.jsonl", 3))
    assert kept.get("a") == Document("a", "First.")
    assert kept.source_of("a") == "one.jsonl@5"


def test_what_is_there_what_is_not_and_what_is_not_known_are_three_things(
    kept: KeptDocuments,
) -> None:
    add(kept, FoundDocument(Document("a", "T.", "N", "u", "2024", "7")))
    kept.not_there(["b"])
    kept.not_known(["c"])
    assert [kept.state_of(i) for i in "abcd"] == [
        "found",
        "not there",
        "not looked for",
        "not looked for",
    ]
    assert kept.get("a") == Document("a", "T.", "N", "u", "2024", "7")
    assert [kept.get("b"), kept.get("d")] == [None, None]
    assert kept.get("c") == Document("c", complete=False)
    assert kept.select_unsettled("abcd") == ["c", "d"]
    add(kept, FoundDocument(Document("c", "Now.")))
    kept.not_there(["d"])
    assert kept.select_unsettled("abcd") == []
    assert kept.get("c") == Document("c", "Now.")


def test_a_changed_file_takes_with_it_what_was_found_in_it_and_what_was_not_there(
    kept: KeptDocuments, files: list[Path]
) -> None:
    add(
        kept,
        FoundDocument(Document("a", "A."), str(files[0])),
        FoundDocument(Document("b", "B."), str(files[1])),
    )
    with kept.change():
        kept.add([], [Finding("bad_utf8", Place(str(files[1]), 3), "is broken")])
    kept.not_there(["c"])
    kept.begin(files)
    assert kept.select_unsettled("abc") == []
    os.utime(files[1], ns=(1, 1))
    kept.begin(files)
    assert kept.select_unsettled("abc") == ["b", "c"]
    assert list(kept.findings()) == []


def test_a_file_that_is_new_keeps_what_was_found(kept: KeptDocuments, files: list[Path]) -> None:
    add(kept, FoundDocument(Document("a", "A."), str(files[0])))
    kept.not_there(["c"])
    new = files[0].with_name("zero.jsonl")
    new.write_text("{}")
    kept.begin([*files, new])
    assert kept.select_unsettled("ac") == ["c"]


def test_a_pass_goes_on_where_it_was_for_the_same_ids_or_fewer(kept: KeptDocuments) -> None:
    first = kept.begin_pass(["a", "b"])
    with kept.change():
        first.unit_read("one")
    assert kept.begin_pass(["b"]).done == {"one"}
    more = kept.begin_pass(["b", "c"])
    assert more.done == frozenset()
    more.end([])
    assert kept.begin_pass(["a"]).done == {"one"}
    first.end(["a"])
    assert kept.state_of("a") == "not there"


def test_a_pass_over_files_that_have_changed_says_nothing_of_what_is_not_there(
    tmp_path: Path, kept: KeptDocuments, files: list[Path]
) -> None:
    earlier = kept.begin_pass(["a"])
    (tmp_path / "three.jsonl").write_text("{}")
    kept.begin([*files, tmp_path / "three.jsonl"])  # by a job that began later
    earlier.end(["a"])
    assert kept.state_of("a") == "not looked for"


def test_findings_and_what_was_lost_are_the_same_for_later_jobs(
    kept: KeptDocuments, tmp_path: Path
) -> None:
    broken = Finding("line_not_json", Place("one.jsonl", 2), "is not JSON", "{")
    for _ in range(2):
        with kept.change():
            kept.add([], [broken])
            kept.sample(["a", "b"])
    later = KeptDocuments.open(tmp_path / "cache", "collection")
    assert (list(later.findings()), later.lost, later.some_ids(1)) == ([broken], 1, ["a"])


def test_a_reader_sees_what_a_job_has_written_and_writes_nothing(
    kept: KeptDocuments,
) -> None:
    add(kept, FoundDocument(Document("a", "A.")))
    reader = KeptDocuments.read(kept.path)
    assert is_kept(kept.path)
    assert reader.get("a") == Document("a", "A.")
    with pytest.raises(OutputError, match="readonly"), reader.change():
        reader.add([FoundDocument(Document("b", "B."))])


def test_only_the_user_may_read_it(kept: KeptDocuments) -> None:
    assert kept.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0" + b"x" * 200, b"nothing of SQLite"])
def test_a_damaged_file_is_named_with_what_to_do(content: bytes, kept: KeptDocuments) -> None:
    folder = kept.path.parent
    kept.database.close()
    kept.path.write_bytes(content)
    if not content:  # as a killed process leaves it
        assert KeptDocuments.open(folder, "collection").select_unsettled("a") == ["a"]
        return
    assert not is_kept(kept.path)
    with pytest.raises(OutputError, match=r"documents4-\w+\.sqlite: cannot be used: .*; remove it"):
        KeptDocuments.open(folder, "collection")


def test_damage_that_is_met_later(kept: KeptDocuments, files: list[Path]) -> None:
    add(kept, *(FoundDocument(Document(f"d{n}", "T." * 999)) for n in range(99)))
    with kept.path.open("r+b") as file:
        file.seek(4096)
        file.write(b"x" * 90_000)
    with pytest.raises(OutputError, match=r"sqlite: cannot be used: .*; remove it"):
        KeptDocuments.open(kept.path.parent, "collection").begin([*files, kept.path])


def test_a_database_of_another_program_is_refused(kept: KeptDocuments) -> None:
    kept.database.execute("PRAGMA application_id = 7")
    with pytest.raises(OutputError, match="it is of another program; remove it"):
        KeptDocuments.open(kept.path.parent, "collection")


def test_a_database_of_another_version_is_refused(kept: KeptDocuments) -> None:
    folder = kept.path.parent
    kept.database.execute("PRAGMA user_version = 9")
    with pytest.raises(OutputError, match="is of version 9"):
        KeptDocuments.open(folder, "collection")


def test_a_file_with_nothing_in_it_is_not_left_behind(kept: KeptDocuments) -> None:
    kept.remove_if_empty()
    assert not kept.path.exists()


def test_a_digest_depends_on_ids_and_texts_only(tmp_path: Path) -> None:
    digests = []
    for number, order in enumerate((("a", "b"), ("b", "a"))):
        store = KeptDocuments.open(tmp_path, str(number))
        for doc_id in order:
            add(store, FoundDocument(Document(doc_id, f"{doc_id}."), f"{number}", number))
        digests.append(store.digest(["b", "nowhere", "a"]))
    assert digests[0] == digests[1]
    assert digests[0][0] == 2
    with sqlite3.connect(store.path) as database:
        database.execute("UPDATE documents SET text = 'other' WHERE id = 'a'")
    assert store.digest(["a", "b"]) != digests[0]
