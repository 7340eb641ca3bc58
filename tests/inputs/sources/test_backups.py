"""A backup never beats what it is a backup of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reading import PLAIN, Write, reading
from trecjudge.findings import Finding
from trecjudge.inputs.runs import find_runs
from trecjudge.inputs.sources.backups import backup_of, copy_of

OLD = PLAIN.replace("S.", "Old.")


@pytest.mark.parametrize(
    "name",
    [
        *(
            "r.bak",
            "r.jsonl.bak",
            "r.jsonl.BAK",
            "r.jsonl~",
            "r.jsonl.~1~",
            "r.jsonl.orig",
            "r.old",
        ),
        *(
            "r.jsonl.swp",
            "#r.jsonl#",
            "r.bak.gz",
            "r.jsonl.bak2",
            "r.backup",
            "r.bak.jsonl",
            "r.tmp",
        ),
        *("r.jsonl.gz.bak", "r.jsonl.save"),
    ],
)
@pytest.mark.parametrize("original", ["r.jsonl", "r.jsonl.gz", "r"])
def test_a_backup_is_passed_over_beside_its_original(
    name: str, original: str, write: Write, tmp_path: Path
) -> None:
    backup, path = write(OLD, f"runs/{name}"), write(PLAIN, f"runs/{original}")
    findings: list[Finding] = []
    assert find_runs([tmp_path / "runs"], findings.append) == [path]
    assert find_runs([tmp_path / "runs" / "*"], findings.append) == [path]
    (finding, _) = findings
    assert (finding.severity, str(finding)) == (
        "note",
        f"{backup}: is a backup of {original}; passed over",
    )


def test_a_backup_that_is_given_is_read_after_its_original(write: Write) -> None:
    backup, path = write(OLD, "r.bak"), write(PLAIN, "r.jsonl")
    assert find_runs([backup]) == [backup]
    found = reading(*find_runs([backup, path]))
    assert [(r.run_id, r.text) for r in found.responses] == [("r", "S."), ("r.bak/r", "Old.")]


def test_a_backup_whose_original_is_elsewhere_is_a_run(write: Write, tmp_path: Path) -> None:
    backup, _ = write(OLD, "runs/r.bak"), write(PLAIN, "runs/x/r.jsonl")
    assert backup in find_runs([tmp_path / "runs"])


@pytest.mark.parametrize(
    "name", ["r (1).jsonl", "r (copy).jsonl", "r - Copy.jsonl", "r copy 2.jsonl", "Copy of r.jsonl"]
)
def test_a_copy_comes_after_its_original(name: str, write: Write, tmp_path: Path) -> None:
    write(OLD, f"runs/{name}")
    path = write(PLAIN, "runs/r.jsonl")
    found = reading(*find_runs([tmp_path / "runs"]))
    assert find_runs([tmp_path / "runs"])[0] == path
    assert (found.responses[0].run_id, found.responses[0].text) == ("r", "S.")
    assert len({r.run_id for r in found.responses}) == 2


@pytest.mark.parametrize("name", ["old", "r-old.jsonl", "bak.jsonl", "tmp", "r.jsonl", "x~y", "##"])
def test_a_name_that_is_no_backup(name: str) -> None:
    assert backup_of(Path(name)) is None


def test_copies_need_a_name() -> None:
    assert (copy_of(Path("(1).jsonl")), copy_of(Path("r(1).jsonl"))) == (None, "r")
