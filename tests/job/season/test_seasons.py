"""A shared task from its submissions to its archive: stopped, changed, killed, done again."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import ROOT, Done, command
from tests.show.html.test_writing import everything

RAG = ROOT / "sample_data" / "rag"
FILE = """judge: [citation, support]
season:
  submissions: [submitted]
  topics: {rag}/topics.jsonl
  documents: [{rag}/documents.jsonl]
  teams: teams.tsv
  labels: labels
  sample: 5
"""
TEAMS = "careful\tred\ncareless\tblue\nuncited\tblue\n"


def prepared(folder: Path, more: str = "") -> Path:
    """Write the file of a season, with the runs that its teams have sent in."""
    for team, runs in (("red", ["careful"]), ("blue", ["careless", "uncited"])):
        (folder / "submitted" / team).mkdir(parents=True)
        for run in runs:
            shutil.copy(RAG / "runs" / f"{run}.jsonl", folder / "submitted" / team)
    (folder / "teams.tsv").write_text(TEAMS)
    path = folder / "season.yml"
    path.write_text(FILE.format(rag=RAG) + more)
    return path


def season(path: Path, *more: str) -> Done:
    return command("job", "season", path, "--out-dir", path.parent / "out", "--name", "x", *more)


def told(path: Path) -> Any:
    return json.loads(season(path, "--json").out)


def label(path: Path) -> None:
    """Put the labels of people where the season takes them."""
    (path.parent / "labels").mkdir(exist_ok=True)
    shutil.copy(RAG / "labels.jsonl", path.parent / "labels")


def steps(record: Any) -> dict[str, bool]:
    """Return of each step whether it was done now."""
    return {step["step"]: step["seconds"] is not None for step in record["steps"]}


def files(folder: Path) -> dict[str, str]:
    """Return what every step has written, by sha256, as the season itself keeps it."""
    state = json.loads((folder / "out" / "state.json").read_text())
    return {name: sha for step in state["steps"].values() for name, sha in step["files"].items()}


def test_a_season_waits_for_people_and_ends_with_an_archive(tmp_path: Path) -> None:
    path = prepared(tmp_path)
    first = told(path)
    assert "sample/label.html, or fill in items.jsonl beside it; put their" in first["waiting"]
    assert list(steps(first)) == [
        *("inputs", "checked", "plan.json", "anonymous", "judged", "revealed", "sample")
    ]
    items = (tmp_path / "out" / "sample" / "items.jsonl").read_text()
    assert len(items.splitlines()) == 5
    items += everything(tmp_path / "out" / "sample" / "label.html")
    assert not any(run in items for run in ("careful", "careless", "uncited"))
    label(path)
    second = told(path)
    assert [name for name, now in steps(second).items() if now] == [
        *("labels", "published", "documents")
    ]
    assert second["waiting"] is None and not second["not_as_planned"]
    published = {one.name for one in (tmp_path / "out" / "published").iterdir()}
    assert {"x.tex", "x.md", "x.report.html", "agreement.json", "sheets"} <= published
    assert "careful" in (tmp_path / "out" / "published" / "x.md").read_text()
    third = told(path)
    assert not any(steps(third).values())


def test_each_team_has_a_letter_with_line_and_place(tmp_path: Path) -> None:
    path = prepared(tmp_path)
    run = tmp_path / "submitted" / "red" / "careful.jsonl"
    lines = run.read_text().splitlines()
    run.write_text("\n".join([lines[0], "{broken", *lines[2:]]))
    told(path)
    letter = (tmp_path / "out" / "checked" / "red.txt").read_text()
    assert "careful.jsonl:2" in letter and "careless" not in letter
    assert "careless" in (tmp_path / "out" / "checked" / "blue.txt").read_text()


def test_an_excluded_run_is_in_the_plan_with_its_reason(tmp_path: Path) -> None:
    path = prepared(tmp_path, "  exclude: {uncited: sent in twice}\n")
    told(path)
    plan = json.loads((tmp_path / "out" / "plan.json").read_text())
    assert plan["excluded"] == {
        "uncited": "sent in twice",
        "careless": "refused by the rules of rag25",
    }
    board = (tmp_path / "out" / "revealed" / "x.leaderboard.txt").read_text()
    assert "careful" in board and "uncited" not in board


def test_what_is_not_done_as_planned_is_said(tmp_path: Path) -> None:
    path = prepared(tmp_path)
    label(path)
    told(path)
    path.write_text(path.read_text() + "settings: {support: {attester: strict}}\n")
    again = told(path)
    assert again["not_as_planned"] == [
        "workflow.settings: {'support': {'attester': 'strict'}}, not planned"
    ]
    assert steps(again)["judged"]
    page = (tmp_path / "out" / "published" / "x.report.html").read_text()
    assert "not planned" in page


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("  exclude: {nobody: x}\n", "unknown run 'nobody'"),
        ("  judging: --out-dir here\n", "--out-dir is set by the season itself"),
        ("  sample: 0\n", "a whole number of at least 1"),
        ("  topic: t.jsonl\n", "did you mean 'topics'"),
        ('  judging: "--set \'a"\n', "season.yml:8"),
    ],
)
def test_a_mistake_in_the_file(more: str, message: str, tmp_path: Path) -> None:

    path = prepared(tmp_path)
    given = path.read_text().replace("  sample: 5\n", "") + more
    path.write_text(given)
    done = season(path)
    assert done.status == 1
    assert message in done.err


def test_killed_at_any_moment_it_ends_with_the_same_bytes(tmp_path: Path) -> None:
    whole = prepared(tmp_path / "whole")
    label(whole)
    assert season(whole, "-q").status == 0
    broken = prepared(tmp_path / "broken")
    label(broken)
    # One key and one time: what is drawn and written else differs between two seasons.
    (tmp_path / "broken" / "out").mkdir()
    shutil.copy(tmp_path / "whole" / "out" / "anonymous.key", tmp_path / "broken" / "out")
    started = json.loads((tmp_path / "whole" / "out" / "state.json").read_text())["started"]
    words = [sys.executable, str(ROOT / "run_judge.py"), "season", str(broken), "-q"]
    words += ["--out-dir", str(tmp_path / "broken" / "out"), "--name", "x"]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(started)}
    dice = random.Random(5)
    for _ in range(4):
        process = subprocess.Popen(words, env=environment, stderr=subprocess.DEVNULL)
        time.sleep(dice.uniform(0.5, 3))
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert subprocess.run(words, env=environment, check=False, capture_output=True).returncode == 0
    assert files(tmp_path / "broken") == files(tmp_path / "whole")


def archived(folder: Path) -> Path:
    path = prepared(folder)
    label(path)
    assert season(path, "-q").status == 0
    return folder / "out" / "x.season.zip"


def rewritten(path: Path, name: str, change: Any) -> None:
    """Write an archive again with one file changed, and its checksum put right for it."""
    with zipfile.ZipFile(path) as old:
        content = {one: old.read(one) for one in old.namelist()}
    content[name] = change(content[name])
    manifest = json.loads(content["manifest.json"])
    import hashlib

    manifest["files"][name] = hashlib.sha256(content[name]).hexdigest()
    content["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as new:
        for one, data in content.items():
            new.writestr(one, data)


def test_an_archive_gives_every_number_again_and_names_a_changed_byte(tmp_path: Path) -> None:
    path = archived(tmp_path)
    shutil.rmtree(tmp_path / "submitted")
    done = command("job", "replay", path)
    assert done.status == 0, done.out + done.err
    assert done.out.endswith("equal, 0 not\n")
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as packed:
        at = packed.getinfo("published/x.leaderboard.txt").header_offset + 60
    data[at] ^= 1
    damaged = tmp_path / "damaged.season.zip"
    damaged.write_bytes(data)
    found = command("job", "replay", damaged)
    assert found.status == 1 and "published/x.leaderboard.txt: is damaged" in found.out
    name = "published/x.leaderboard.txt"
    rewritten(path, name, lambda text: text.replace(b"1.0", b"0.9", 1))
    found = command("job", "replay", path)
    assert found.status == 1
    assert f"{name}:" in found.out and "differs from what the season gives again" in found.out


def test_what_is_no_archive(tmp_path: Path) -> None:
    path = tmp_path / "x.season.zip"
    path.write_bytes(b"PK no")
    done = command("job", "replay", path)
    assert done.status == 1 and "is no archive of a season" in done.err


def test_labels_of_several_people_may_have_files_of_one_name(tmp_path: Path) -> None:
    path = prepared(tmp_path)
    for person in ("anna", "bo"):
        (tmp_path / "labels" / person).mkdir(parents=True)
        shutil.copy(RAG / "labels.jsonl", tmp_path / "labels" / person)
    assert told(path)["waiting"] is None
    named = tmp_path / "out" / "labels" / "named"
    assert (named / "anna" / "labels.jsonl").is_file() and (named / "bo" / "labels.jsonl").is_file()


def test_a_season_that_leaves_items_unjudged_stops_there(tmp_path: Path) -> None:
    model = "llm: {model: m, base_url: http://127.0.0.1:9/v1}\n"
    path = prepared(tmp_path, f"  judging: --use-env-llm --offline\n{model}")
    done = season(path)
    assert done.status == 3 and "or set accept_unjudged: true" in done.err
    path.write_text(path.read_text().replace("  sample", "  accept_unjudged: true\n  sample"))
    assert "people label" in season(path).out
