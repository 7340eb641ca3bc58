"""What is given with --documents: several kinds of sources together, the first found counts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from tests.baseline.index.indexed import refreshed
from tests.commandline import judge
from trecjudge.baseline.index.index import make_index
from trecjudge.baseline.index.records import IndexSource
from trecjudge.findings import Finding
from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.inputs.collections.units import FoundDocument
from trecjudge.inputs.collections.wanted import WantedDocuments
from trecjudge.inputs.documents.store import DocumentStores, HeldDocuments
from trecjudge.models.documents.opening import collections_of, open_documents
from trecjudge.records import Document

pytestmark = pytest.mark.usefixtures("forked_readers")


def written(path: Path, *documents: Document) -> Path:
    lines = [json.dumps({"docid": d.doc_id, "title": d.title, "text": d.text}) for d in documents]
    path.write_text("\n".join(lines))
    return path


def opened(
    paths: list[Path], folder: Path, ids: Iterable[str], large: bool = False
) -> tuple[DocumentStores, list[Finding]]:
    findings: list[Finding] = []
    store = open_documents(
        paths,
        folder,
        findings.append,
        lambda: WantedDocuments.of_ids(ids),
        held_bytes=0 if large else 1000,
    )
    return store, findings


LARGE = pytest.mark.parametrize("large", [False, True], ids=["held", "collections"])


@LARGE
def test_of_several_sources_the_first_that_has_a_document_counts(
    large: bool, tmp_path: Path
) -> None:
    one = written(tmp_path / "one.jsonl", Document("a", "A."), Document("b", "B."))
    two = written(
        tmp_path / "two.jsonl", Document("b", "Other."), Document("a", " A.\n"), Document("c", "C.")
    )
    store, findings = opened([one, two], tmp_path / "cache", "abcd", large)
    assert [store.get(i) for i in "abcd"] == [
        Document("a", "A."),
        Document("b", "B."),
        Document("c", "C."),
        None,
    ]
    # A large collection is searched only for what none before it has.
    assert [f.kind for f in findings] == ([] if large else ["documents_differ"])
    assert all(f.value == "b" and f.place.path == str(two) for f in findings)


def test_an_index_and_files_are_sources_together(tmp_path: Path) -> None:
    index = tmp_path / "docs.index"
    with closing(make_index(str(index))) as new:
        refreshed(new, map(IndexSource, [Document("a", "A."), Document("b", "Other.")]))
    file = written(tmp_path / "more.jsonl", Document("b", "B."), Document("c", "C."))
    store, findings = opened([file, index], tmp_path / "cache", "abc")
    assert [store.get(i) for i in "abc"] == [Document(i, f"{i.upper()}.") for i in "abc"]
    assert [(f.kind, f.value) for f in findings] == [("documents_differ", "b")]
    assert (store.files, store.paths) == ([file, index], [file, index])


def test_what_was_found_of_a_collection_is_a_source_of_its_own(tmp_path: Path) -> None:
    file = written(tmp_path / "d.jsonl", Document("a", "A."), Document("b", "B."))
    store, _ = opened([file], tmp_path / "cache", "ax", large=True)
    (kept,) = store.paths
    again, _ = opened([kept], tmp_path / "none", "abx")
    assert [again.get(i) for i in "abx"] == [Document("a", "A."), None, None]
    assert not (tmp_path / "none").exists()


def test_later_jobs_look_only_for_what_is_new(tmp_path: Path) -> None:
    file = written(tmp_path / "d.jsonl", Document("a", "A."), Document("b", "B."))
    opened([file], tmp_path / "cache", "ax", large=True)
    file.chmod(0o600)
    state = file.stat()
    file.write_text("x" * state.st_size)  # what was found is not read again
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    store, findings = opened([file], tmp_path / "cache", "ax", large=True)
    assert (store.get("a"), store.get("x"), findings) == (Document("a", "A."), None, [])


@pytest.mark.parametrize(
    ("folder", "given"),
    [
        pytest.param("c", ".", id="its folder"),
        pytest.param("elsewhere", "../c", id="another folder"),
        pytest.param(".", "link", id="a link to it"),
        pytest.param("c", "d.jsonl", id="the file"),
    ],
)
def test_what_was_found_is_found_again_by_another_path(
    folder: str, given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("c", "elsewhere"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to("c")
    file = written(tmp_path / "c" / "d.jsonl", Document("a", "A."), Document("b", "B."))
    first = file if given == file.name else file.parent
    opened([first], tmp_path / "cache", "ax", large=True)
    state = file.stat()
    file.write_text("x" * state.st_size)  # what was found is not read again
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    monkeypatch.chdir(tmp_path / folder)
    store, findings = opened([Path(given)], tmp_path / "cache", "ax", large=True)
    assert (store.get("a"), store.get("x"), findings) == (Document("a", "A."), None, [])


def test_a_document_that_one_source_could_not_look_for_may_be_in_the_next(
    tmp_path: Path,
) -> None:
    unknown = KeptDocuments.open(tmp_path, "service")
    unknown.not_known("ab")
    store = DocumentStores([unknown, HeldDocuments({"a": Document("a", "A.")})])
    assert store.get("a") == Document("a", "A.")
    assert store.get("b") == Document("b", complete=False)
    assert store.get("c") is None


def test_the_documents_of_a_collection_stand_for_its_files_in_the_config(tmp_path: Path) -> None:
    file = written(tmp_path / "d.jsonl", Document("a", "A."), Document("b", "B."))
    digests = []
    for ids in ("ab", "ba", "a"):
        store, _ = opened([file], tmp_path / f"cache-{ids}", ids, large=True)
        digests.append(collections_of([file], store)[str(file)])
    assert digests[0] == digests[1] != digests[2]
    assert [digest["documents"] for digest in digests] == [2, 2, 1]


def test_a_kept_document_is_found_where_another_job_found_it(tmp_path: Path) -> None:
    file = written(tmp_path / "d.jsonl", Document("a", "A."))
    store, _ = opened([file], tmp_path / "cache", "a", large=True)
    (kept,) = store.stores
    assert isinstance(kept, KeptDocuments)
    with kept.change():
        kept.add([FoundDocument(Document("b", "B."), str(file), 9)])
    later, _ = opened([file], tmp_path / "cache", "b", large=True)
    assert later.get("b") == Document("b", "B.")


def test_a_job_by_workers_judges_what_the_job_found(tmp_path: Path) -> None:
    runs, config = tmp_path / "runs", {}
    runs.mkdir()
    for run in ("r1", "r2"):
        answer = [{"text": "The ferry Perch entered service in 2022.", "citations": ["a"]}]
        record = {
            "metadata": {"run_id": run, "team_id": "t", "narrative_id": "1"},
            "references": ["a"],
            "answer": answer,
        }
        (runs / f"{run}.jsonl").write_text(json.dumps(record))
    file = written(
        tmp_path / "d.jsonl",
        Document("a", "The ferry Perch entered service in 2022."),
        Document("b", "x" * (65 << 20)),
    )
    judgments = []
    for workers in ("1", "2"):
        out = tmp_path / workers
        more = ("--cache-dir", tmp_path / "cache", "--workers", workers)
        limit = ("--limit", "record=80MB")
        done = judge(runs, out, "--judge", "citation", "--documents", file, *more, *limit)
        assert done.status == 0, done.err
        judgments.append((out / "x.judgments.jsonl").read_bytes())
        config = yaml.safe_load((out / "x.config.yml").read_text())
        assert config["collections"][str(file)]["documents"] == 1
        assert str(file) not in config["inputs_sha256"]
    assert judgments[0] == judgments[1]
    assert b'"supports"' in judgments[0] or b"FULL" in judgments[0].upper()
