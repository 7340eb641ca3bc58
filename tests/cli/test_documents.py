"""The command `documents`: what jobs were judged by in one file, and where documents are."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests import made_collections as made
from tests.cli.jobs import as_json
from tests.commandline import SAMPLES, command, judge, sample
from tests.document_service import serving_documents
from tests.endpoint import in_a_thread
from trecjudge.findings import Finding
from trecjudge.inputs.collections.kept import KeptDocuments
from trecjudge.inputs.collections.units import FoundDocument
from trecjudge.records import Document, Place

FOUND, BARE = Document("found", "Steam makes a kettle whistle."), Document("bare")
IDS = ("found", "bare", "gone", "later")
Ids = Sequence[str]


def run(folder: Path, ids: Ids, name: str = "r", **more: Any) -> Path:
    """Write a run whose sentences cite one document each."""
    record = {
        "metadata": {"team_id": "t", "run_id": name, "topic_id": "1"},
        "responses": [{"text": f"Kettles whistle by {i}.", "citations": [i]} for i in ids],
    }
    path = folder / "runs" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record | more))
    return path


def kept(folder: Path, *, lost: bool = False) -> Path:
    """Keep documents in a file: one found, one without text, one not there, one not looked for."""
    store = KeptDocuments.open(folder / "kept", "a collection")
    place = Place("a.jsonl", 3)
    lines = [Finding("line_not_json", place, "is not JSON")] if lost else []
    with store.change():
        store.add([FoundDocument(d, "/c/a.jsonl", 7) for d in (FOUND, BARE)], lines)
    store.not_there(["gone", "own"])
    store.not_known(["later"])
    store.database.close()
    return store.path


def same(one: Path, other: Path) -> bool:
    """Return whether two jobs have the same judgments and scores, byte by byte."""
    names = ("x.judgments.jsonl", "x.leaderboard.txt")
    return all((one / name).read_bytes() == (other / name).read_bytes() for name in names)


def packed(path: Path) -> list[dict[str, Any]]:
    """Return the records of a pack."""
    data = path.read_bytes()
    if path.suffix == ".zst":
        data = zstandard.ZstdDecompressor().decompress(data, max_output_size=1 << 20)
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    return [json.loads(line) for line in data.splitlines()]


def pack(out: Path, path: Path, *more: Path) -> Path:
    done = command("job", "documents", "pack", out / "x", *more, "-o", path)
    assert done.status == 0, done.err
    return path


@pytest.mark.parametrize("dataset", ["rag", "ragtime", "dragun"])
@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz", ".jsonl.zst"])
def test_a_job_is_judged_alike_by_its_pack(dataset: str, ending: str, tmp_path: Path) -> None:
    sample(dataset, tmp_path / "a", "--judge", "citation")
    path = pack(tmp_path / "a", tmp_path / f"pack{ending}")
    folder = SAMPLES / dataset
    judge(
        *(folder / "runs", tmp_path / "b", "--documents", path, "--judge", "citation"),
        topics=folder / "topics.jsonl",
    )
    assert same(tmp_path / "a", tmp_path / "b")
    assert pack(tmp_path / "b", tmp_path / f"again{ending}").read_bytes() == path.read_bytes()
    ids = [record["docid"] for record in packed(path)]
    assert ids == [*sorted(ids[:12]), *sorted(ids[12:])]


@pytest.mark.parametrize(
    "build",
    [made.msmarco, made.segmented, made.climbmix, made.ragtime, made.neuclir, made.pubmed],
)
def test_the_collections_of_the_tracks(
    build: Callable[..., list[Document]], tmp_path: Path
) -> None:
    documents = build(tmp_path / "corpus", 8)
    run(tmp_path, [d.doc_id for d in documents[:4]])
    judge(tmp_path / "runs", tmp_path / "a", "--documents", tmp_path / "corpus")
    path = pack(tmp_path / "a", tmp_path / "p.jsonl.zst")
    judge(tmp_path / "runs", tmp_path / "b", "--documents", path)
    assert same(tmp_path / "a", tmp_path / "b")
    found = {record["docid"]: record["text"] for record in packed(path)}
    assert found.keys() == {d.doc_id for d in documents[:4]}


@pytest.mark.parametrize("lost", [False, True], ids=["whole", "lost in part"])
def test_all_that_is_known_of_documents_survives(lost: bool, tmp_path: Path) -> None:
    run(tmp_path, IDS)
    judges = ("--judge", "citation", "grounding")
    judge(tmp_path / "runs", tmp_path / "a", "--documents", kept(tmp_path, lost=lost), *judges)
    done = command("job", "documents", "pack", tmp_path / "a" / "x", "-o", tmp_path / "p.jsonl")
    gone = "not known" if lost else "not there"
    lacks = "1 not known, 1 not looked for" if lost else "1 not there, 1 not looked for"
    assert done.out.splitlines()[1] == f"without a document: {lacks}"
    records = packed(tmp_path / "p.jsonl")
    assert [(r["docid"], r.get("found", r.get("source"))) for r in records] == [
        ("bare", "a.jsonl@7"),
        ("found", "a.jsonl@7"),
        ("gone", gone),
        ("later", "not looked for"),
    ]
    judge(tmp_path / "runs", tmp_path / "b", "--documents", tmp_path / "p.jsonl", *judges)
    assert same(tmp_path / "a", tmp_path / "b")
    labels = (tmp_path / "b" / "x.judgments.jsonl").read_text()
    assert ("no such document" in labels) is not lost


def test_documents_that_runs_carry_are_judged_by_the_pack_too(tmp_path: Path) -> None:
    carried = {"found": {"text": "Own text."}, "own": {"text": "Steam."}}
    run(tmp_path, ["own", "gone"], documents=carried)
    given = ("--judge", "grounding", "--documents")
    judge(tmp_path / "runs", tmp_path / "a", *given, kept(tmp_path))
    path = pack(tmp_path / "a", tmp_path / "p.jsonl")
    judge(tmp_path / "runs", tmp_path / "b", *given, path)
    assert same(tmp_path / "a", tmp_path / "b")
    states = {record["docid"]: record.get("found") for record in packed(path)}
    assert states == {"found": None, "gone": "not there", "own": "not there"}


def test_only_what_was_judged_is_packed(tmp_path: Path) -> None:
    sample("rag", tmp_path, "--topic", "11", "--run", "careful")
    done = command("job", "documents", "pack", tmp_path / "x", "-o", tmp_path / "p.jsonl", "--json")
    assert 0 < json.loads(done.out)["documents"] < 12


def test_several_jobs_make_one_pack_and_packs_another(tmp_path: Path) -> None:
    for dataset in ("rag", "ragtime"):
        sample(dataset, tmp_path / dataset, "--judge", "citation")
    jobs = [tmp_path / dataset / "x" for dataset in ("rag", "ragtime")]
    command("job", "documents", "pack", *jobs, "-o", tmp_path / "both.jsonl")
    assert len(packed(tmp_path / "both.jsonl")) == 25
    for dataset in ("rag", "ragtime"):
        folder = SAMPLES / dataset
        judge(
            *(folder / "runs", tmp_path / f"{dataset}2", "--judge", "citation"),
            *("--documents", tmp_path / "both.jsonl"),
            topics=folder / "topics.jsonl",
        )
        assert same(tmp_path / dataset, tmp_path / f"{dataset}2")
    again = [tmp_path / f"{dataset}2" / "x" for dataset in ("rag", "ragtime")]
    command("job", "documents", "pack", *again, "-o", tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "both.jsonl").read_bytes()


def test_of_two_texts_that_of_the_first_job_is_packed(tmp_path: Path) -> None:
    for name, text in (("a", "One."), ("b", "Two.")):
        run(tmp_path / name, ["found"])
        documents = tmp_path / f"{name}.jsonl"
        documents.write_text(json.dumps({"docid": "found", "text": text}))
        judge(tmp_path / name / "runs", tmp_path / name / "out", "--documents", documents)
    jobs = [tmp_path / name / "out" / "x" for name in "ba"]
    done = command("job", "documents", "pack", *jobs, "-o", tmp_path / "p.jsonl")
    assert [record["text"] for record in packed(tmp_path / "p.jsonl")] == ["Two."]
    message = "has 'found' with another text than a job before it has"
    assert done.err == f"warning: a.jsonl: {message}\n"


def test_another_job_is_not_judged_by_what_a_pack_does_not_say(tmp_path: Path) -> None:
    run(tmp_path / "1", ["found"])
    judge(tmp_path / "1" / "runs", tmp_path / "a", "--documents", kept(tmp_path))
    path = pack(tmp_path / "a", tmp_path / "p.jsonl")
    run(tmp_path / "2", ["found", "never packed"])
    done = judge(tmp_path / "2" / "runs", tmp_path / "b", "--documents", path)
    assert done.status == 3
    assert "document_missing" not in done.out + done.err


def test_an_edited_text_is_reported(tmp_path: Path) -> None:
    sample("rag", tmp_path / "a")
    path = pack(tmp_path / "a", tmp_path / "p.jsonl")
    path.write_text(path.read_text().replace("1908", "1909"))
    done = judge(SAMPLES / "rag" / "runs", tmp_path / "b", "--documents", path)
    assert (
        f"warning: {path}:1: the title or text of 'msmarco_v2.1_doc_99_110001#0_210001'" in done.err
    )


def test_a_secret_of_an_address_is_not_packed(tmp_path: Path) -> None:
    run(tmp_path, ["found"])
    store = KeptDocuments.open(tmp_path / "kept", "s")
    with store.change():
        store.add([FoundDocument(FOUND, source="https://e.org/doc/found?api_key=sesame12")])
    store.database.close()
    judge(tmp_path / "runs", tmp_path / "a", "--documents", store.path)
    [record] = packed(pack(tmp_path / "a", tmp_path / "p.jsonl"))
    assert record["source"] == "https://e.org/doc/found?api_key=***"


def test_what_a_service_gave_is_packed_without_asking_again(tmp_path: Path) -> None:
    run(tmp_path, ["found", "gone"])
    with in_a_thread(serving_documents({"found": {"contents": FOUND.text}})) as server:
        given = ("--documents", server.pattern)
        checked = command("job", "documents", "check", tmp_path / "runs", *given)
        assert "run r: 1 of 2 citations found, 1 not there" in checked.out
        judge(tmp_path / "runs", tmp_path / "a", *given)
    path = pack(tmp_path / "a", tmp_path / "p.jsonl")
    assert [(r["docid"], r.get("found", r.get("source"))) for r in packed(path)] == [
        ("found", server.pattern.replace("{docid}", "found")),
        ("gone", "not there"),
    ]
    judge(tmp_path / "runs", tmp_path / "b", "--documents", path)
    assert same(tmp_path / "a", tmp_path / "b")
    assert server.asked == {"found": 1, "gone": 1}


def test_the_documents_of_other_runs_are_shown_by_their_ids(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text('{"docid": "other", "text": "t"}')
    given = (run(tmp_path, ["found"]), "--documents", tmp_path / "d.jsonl")
    done = command("job", "documents", "check", *given)
    assert done.status == 1
    assert "--documents has ids such as 'other': give the collection of these runs" in done.out


def test_a_service_is_asked_again_or_not_at_all_by_a_job_without_a_model(tmp_path: Path) -> None:
    runs = run(tmp_path, ["found"]).parent
    with in_a_thread(serving_documents({"found": {"contents": FOUND.text}})) as server:
        given = ("--documents", server.pattern)
        assert judge(runs, tmp_path / "a", *given, "--offline").status == 3
        assert not server.asked
        assert judge(runs, tmp_path / "a", *given).status == 0
        assert judge(runs, tmp_path / "b", *given, "--refresh").status == 0
    assert server.asked == {"found": 2}
    assert same(tmp_path / "a", tmp_path / "b")
    done = judge(runs, tmp_path / "c", "--documents", tmp_path / "d.jsonl", "--offline")
    assert "--offline: only with --use-env-llm" in done.err


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        pytest.param("x.config.yml", "x.config.yml: no such file", id="no config"),
        pytest.param("x.judgments.jsonl", "no ", id="no judgments"),
        pytest.param("../runs/r.jsonl", "r.jsonl: no such file", id="no run"),
        pytest.param("../d.jsonl", "d.jsonl: no such file", id="no documents"),
    ],
)
def test_what_is_not_there_is_named(spoil: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text('{"docid": "found", "text": "t"}')
    judge(run(tmp_path, ["found"]), tmp_path / "out", "--documents", tmp_path / "d.jsonl")
    (tmp_path / "out" / spoil).unlink()
    done = command("job", "documents", "pack", tmp_path / "out" / "x", "-o", tmp_path / "p.jsonl")
    assert (done.status, len(done.err.splitlines())) == (1, 1)
    assert message in done.err
    assert not list(tmp_path.glob("*p.jsonl*"))


def test_a_job_without_documents_has_none_to_pack(tmp_path: Path) -> None:
    judge(run(tmp_path, ["k"], documents={"k": {"text": "Own."}}), tmp_path / "out")
    done = command("job", "documents", "pack", tmp_path / "out" / "x", "-o", tmp_path / "p.jsonl")
    assert done.status == 1
    assert "no --documents: what is judged is what the runs carry" in done.err


def test_the_name_says_how_it_is_packed(tmp_path: Path) -> None:
    done = command("job", "documents", "pack", tmp_path / "x", "-o", tmp_path / "p.zip")
    message = "a pack is called NAME.jsonl, NAME.jsonl.gz, NAME.jsonl.zst"
    assert (done.status, done.err) == (1, f"error: {tmp_path}/p.zip: {message}\n")


def test_where_documents_are(tmp_path: Path) -> None:
    run(tmp_path, IDS)
    run(tmp_path, ["found", "more"], "s")
    run(tmp_path, ["own"], "t", documents={"own": {"text": "Own."}})
    more = tmp_path / "more.jsonl"
    more.write_text('{"docid": "more", "text": "M."}\n{"docid": "found", "text": "Other."}')
    given = ("documents", "check", tmp_path / "runs", "--documents", kept(tmp_path), more)
    done = command(*given)
    assert done.status == 3
    header, first, *rows = [line.rsplit(maxsplit=4) for line in done.out.splitlines()[:7]]
    assert header == ["source", "citations", "share", "documents"]
    assert first[1:] == ["2", "28.6", "%", "1"]
    others = ["in the run itself", "without text", "not there", "not looked for"]
    assert [row[0] for row in rows[1:]] == others
    assert {tuple(row[1:]) for row in rows} == {("1", "14.3", "%", "1")}
    assert done.out.splitlines()[7:] == [
        "without text: such as 'bare'",
        "not there: such as 'gone'",
        "not looked for: such as 'later'",
        "run r: 1 of 4 citations found, 1 without text, 1 not there, 1 not looked for",
        "all found: 2 runs",
    ]
    assert f"{more}: has 1 document with another text" in done.err


def test_a_source_with_the_text_counts_before_one_without(tmp_path: Path) -> None:
    run(tmp_path, ["bare"])
    more = tmp_path / "more.jsonl"
    more.write_text('{"docid": "bare", "text": "B."}')
    given = ("--documents", kept(tmp_path), more)
    _, found = as_json("documents", "check", tmp_path / "runs", *given)
    assert [row["documents"] for row in found["sources"]] == [0, 1]
    judge(tmp_path / "runs", tmp_path / "a", *given)
    [record] = packed(pack(tmp_path / "a", tmp_path / "p.jsonl"))
    assert record["text"] == "B."


def test_where_documents_are_as_json(tmp_path: Path) -> None:
    run(tmp_path, IDS)
    status, found = as_json("documents", "check", tmp_path / "runs", "--documents", kept(tmp_path))
    assert status == 3
    assert [(row["citations"], row["documents"]) for row in found["sources"]] == [(1, 1)]
    counts = {"without text": 1, "not there": 1, "not known": 0, "not looked for": 1}
    others = [(row["source"], row["citations"]) for row in found["others"]]
    assert others == [("in the run itself", 0), *counts.items()]
    assert found["runs"] == [{"run_id": "r", "citations": 4, "found": 1} | counts]


def test_what_it_prints_is_no_document(tmp_path: Path) -> None:
    sample("rag", tmp_path / "out")
    folder = tmp_path / "documents"
    folder.mkdir()
    job = tmp_path / "out" / "x"
    said = command("job", "documents", "pack", job, "-o", folder / "p.jsonl", "--json").out
    (folder / "pack.json").write_text(said)
    (folder / "check.json").write_text(command("job", "documents", "check", job, "--json").out)
    done = command("job", "documents", "check", job, "--documents", folder)
    assert done.err.count("is the output of a command, no documents; passed over") == 2
    assert "all found: 3 runs" in done.out


def test_it_fails_where_none_is_found(tmp_path: Path) -> None:
    documents = SAMPLES / "ragtime" / "documents.jsonl"
    done = command("job", "documents", "check", SAMPLES / "rag" / "runs", "--documents", documents)
    assert done.status == 1
    assert "run careful: 0 of 20 citations found, 20 not there" in done.out


def test_of_a_job_its_own_documents_are_checked(tmp_path: Path) -> None:
    sample("ragtime", tmp_path)
    for job in ("x", "x.config.yml"):
        done = command("job", "documents", "check", tmp_path / job)
        assert done.status == 0
        assert "not there: such as " in done.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["nothing.jsonl"], "nothing.jsonl: no such file or folder", id="no run"),
        pytest.param(
            [str(SAMPLES / "rag" / "runs")], "no --documents: what is judged is", id="no documents"
        ),
        pytest.param(["r.jsonl", "--refresh", "--offline"], "give one of --refresh", id="both"),
    ],
)
def test_a_check_of_nothing(words: list[str], message: str) -> None:
    done = command("job", "documents", "check", *words)
    assert done.status == 1
    assert message in done.err


def test_only_the_worst_runs_are_listed(tmp_path: Path) -> None:
    for number in range(8):
        run(tmp_path, ["found", *["gone"] * (number + 1)], f"r{number}")
    given = ("documents", "check", tmp_path / "runs", "--documents", kept(tmp_path))
    lines = command(*given).out.splitlines()
    assert [line.split(":")[0] for line in lines[-6:-1]] == [f"run r{n}" for n in (7, 6, 5, 4, 3)]
    assert lines[-1] == "… 3 more runs without all documents; --json has them"


def job_on(folder: Path, ids: Ids = ("found",), text: str = "Steam.") -> Path:
    """Judge a run by a file of one document; return the folder of the output."""
    runs = run(folder, ids).parent
    (folder / "d.jsonl").write_text(json.dumps({"docid": "found", "text": text}))
    judge(runs, folder / "out", "--documents", folder / "d.jsonl", "--judge", "citation")
    return folder / "out"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param({"d.jsonl": '{"docid": "found", "text": "New."}'}, "d.jsonl: has changed"),
        pytest.param({"runs/r.jsonl": ""}, "r.jsonl: has changed since the job read it"),
        pytest.param({"runs/s.jsonl": None}, "s.jsonl: is new: the job did not read it"),
    ],
    ids=["documents", "an emptied run", "a new run"],
)
def test_what_changed_since_a_job_is_a_warning(
    change: dict[str, str | None], message: str, tmp_path: Path
) -> None:
    run(tmp_path, ["found"], "other")
    out = job_on(tmp_path)
    for name, text in change.items():
        whole = (tmp_path / "runs" / "r.jsonl").read_text() if text is None else text
        (tmp_path / name).write_text(whole)
    done = command("job", "documents", "pack", out, "-o", tmp_path / "p.jsonl")
    assert done.status == 0
    assert [line for line in done.err.splitlines() if line.startswith("warning")] == [
        line for line in done.err.splitlines() if message in line
    ]
    assert message in done.err


def test_a_service_that_gives_others_than_to_a_job_is_a_warning(tmp_path: Path) -> None:
    run(tmp_path, ["found"])
    with in_a_thread(serving_documents({"found": {"contents": FOUND.text}})) as server:
        judge(tmp_path / "runs", tmp_path / "a", "--documents", server.pattern)
    given = (tmp_path / "a", "-o", tmp_path / "p.jsonl", "--cache-dir", tmp_path / "empty")
    done = command("job", "documents", "pack", *given)
    message = "is not as the job read it: 0 documents, 1 then"
    assert f"warning: {server.pattern}: {message}" in done.err


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("runs/r.jsonl", "is an input of x"),
        ("d.jsonl", "is an input of x"),
        ("out/x.judgments.jsonl", "is a judgments file"),
    ],
)
def test_a_pack_is_not_written_over_an_input(name: str, message: str, tmp_path: Path) -> None:
    out, path = job_on(tmp_path), tmp_path / name
    before = path.read_bytes()
    done = command("job", "documents", "pack", out, "-o", path)
    assert (done.status, done.err) == (1, f"error: {path}: {message}; give another name\n")
    assert path.read_bytes() == before


def test_a_job_that_cites_nothing_has_no_pack(tmp_path: Path) -> None:
    out = job_on(tmp_path, ["found"])
    runs = run(tmp_path / "2", ["found"], responses=[{"text": "No.", "citations": []}]).parent
    judge(runs, out, "--documents", tmp_path / "d.jsonl", "--judge", "citation")
    done = command("job", "documents", "pack", out, "-o", tmp_path / "p.jsonl")
    assert (done.status, (tmp_path / "p.jsonl").exists()) == (1, False)
    assert done.err.endswith("p.jsonl: not written: what was judged cites no document\n")


def test_a_text_of_one_job_that_another_lacks_is_noted(tmp_path: Path) -> None:
    one, other = job_on(tmp_path / "1"), job_on(tmp_path / "2", ["found", "more"])
    more = tmp_path / "3"
    (tmp_path / "m.jsonl").write_text('{"docid": "more", "text": "M."}')
    judge(run(more, ["more"]), more / "out", "--documents", tmp_path / "m.jsonl")
    done = command("job", "documents", "pack", one, other, more / "out", "-o", tmp_path / "p.jsonl")
    message = "has 1 document that one job found and another did not, such as 'more'"
    assert f"note: {tmp_path}/p.jsonl: {message}" in done.err
    assert [record["docid"] for record in packed(tmp_path / "p.jsonl")] == ["found", "more"]


def test_a_service_that_only_a_job_names_is_not_asked(tmp_path: Path) -> None:
    run(tmp_path, ["found", "more"])
    with in_a_thread(serving_documents({"found": {"contents": FOUND.text}})) as server:
        judge(tmp_path / "runs", tmp_path / "a", "--documents", server.pattern)
        config = tmp_path / "a" / "x.config.yml"
        other = server.pattern.replace("books", "other")
        config.write_text(config.read_text().replace(server.pattern, other))
        asked = server.asked.total()
        assert command("job", "documents", "check", tmp_path / "a").status == 1
        assert server.asked.total() == asked
        given = ("--documents", server.pattern)
        assert command("job", "documents", "check", tmp_path / "a", *given, "--refresh").status == 0
        assert server.asked.total() > asked


def test_a_collection_knows_what_a_pack_does_not_say(tmp_path: Path) -> None:
    path = pack(job_on(tmp_path / "1"), tmp_path / "p.jsonl")
    runs = run(tmp_path / "2", ["found", "gone"]).parent
    found = tmp_path / "1" / "d.jsonl"
    for given in ([path, found], [found, path]):
        done = command("job", "documents", "check", runs, "--documents", *given)
        assert (done.status, "1 not there" in done.out) == (0, True)
    done = command("job", "documents", "check", runs, "--documents", path, path)
    assert (done.status, "1 not looked for" in done.out) == (3, True)


def test_a_name_of_a_run_makes_no_line(tmp_path: Path) -> None:
    out = tmp_path / "runs"
    run(tmp_path, ["found", "gone"])
    text = (out / "r.jsonl").read_text().replace('"run_id": "r"', r'"run_id": "r\nall found: 9"')
    (out / "r.jsonl").write_text(text)
    done = command("job", "documents", "check", out, "--documents", kept(tmp_path))
    assert r"run r\x0aall found: 9: 1 of 2" in done.out


def test_a_text_in_the_run_counts_where_a_source_has_none(tmp_path: Path) -> None:
    run(tmp_path, ["bare"], documents={"bare": {"text": "Own."}})
    done = command("job", "documents", "check", tmp_path / "runs", "--documents", kept(tmp_path))
    assert "in the run itself" in done.out
    assert "without text" not in done.out
