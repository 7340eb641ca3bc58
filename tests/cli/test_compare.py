"""`compare` on real jobs: systems side by side, flipped verdicts with their evidence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.jobs import BAD, GOOD, as_json, job, moved, partly_judged
from tests.commandline import command
from tests.reading import Write


def test_two_systems_of_one_job(tmp_path: Path) -> None:
    out = job(tmp_path, "x", {"better": [GOOD] * 8, "worse": [BAD] * 7 + [GOOD]})
    status, found = as_json("compare", out, "--measure", "CITATION_SUPPORT")
    (one,) = found["differences"]
    assert (status, one["before"], one["after"]) == (0, f"{out}: better", f"{out}: worse")
    assert (one["mean_before"], one["mean_after"], one["difference"]) == (1.0, 0.125, -0.875)
    assert (one["topics"], one["p"]) == (8, 2 / 128)
    assert (one["interval"]["high"], len(one["moved"])) == (-0.5, 5)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return two judgments of one run: by its document, and by labels of people."""
    folder = tmp_path_factory.mktemp("two")
    runs = {"r": [GOOD, BAD]}
    labels = folder / "labels.jsonl"
    labels.write_text(
        '{"topic_id": "1", "run_id": "r", "sentence_index": 0, "doc_id": "k", "label": "none"}\n'
    )
    given = ("--judgments-from", labels)
    return job(folder, "a", runs), job(folder, "b", runs, *given, status=3)


def test_flipped_verdicts_with_their_evidence(two: tuple[Path, Path]) -> None:
    status, found = as_json("compare", *two)
    verdicts = found["verdicts"]
    assert (status, verdicts["shared"], verdicts["only_before"]) == (0, 2, 0)
    assert [(c["before"], c["after"], c["items"]) for c in verdicts["counts"]] == [
        ("full_support", "no_support", 1),
        ("no_support", "unjudged", 1),
    ]
    flip = verdicts["flips"][0]
    assert flip["sentence"].startswith("Steam forced")
    assert "kettle whistle" in flip["before"]["evidence"]["quote"]


def test_and_as_lines(two: tuple[Path, Path]) -> None:
    done = command("compare", *two)
    assert "verdicts: 2 items on both sides, 2 decided differently" in done.out
    assert "  1 x full_support -> no_support" in done.out
    assert "r 1 sentence 1 k: full_support -> no_support: Steam forced" in done.out
    assert "    before: " in done.out
    assert "moved most, CITATION_SUPPORT" in done.out


def test_verdicts_of_two_judges_without_a_measure_in_common(tmp_path: Path) -> None:
    one = job(tmp_path, "a", {"r": [GOOD, BAD]}, "--set", "partial=1")
    other = job(tmp_path, "b", {"r": [GOOD, BAD]}, "--judge", "support")
    status, found = as_json("compare", one, other)
    assert (status, found["differences"], found["verdicts"]["shared"]) == (0, [], 2)
    assert "have no measure in common" in command("compare", one, other).err


def test_leaderboards_of_other_tools(write: Write) -> None:
    old, new = write("r all M 0.5\n", "old.txt"), write("r all M 0.75\n", "new.txt")
    status, found = as_json("compare", old, new)
    assert (status, found["verdicts"]) == (0, None)
    assert found["differences"][0]["difference"] == 0.25


def test_what_is_unjudged_stands_beside_the_means(tmp_path: Path) -> None:
    path = partly_judged(tmp_path)
    wanted = ("--measure", "CITATION_SUPPORT", "--run", "a", "--run", "b")
    status, found = as_json("compare", path, *wanted)
    (one,) = found["differences"]
    assert (status, one["unjudged_before"]["items"]) == (0, 0)
    assert one["unjudged_after"] == {"items": 4, "expected": 6, "lowest": 0.333333, "highest": 1.0}
    assert found["statistics"] == {str(path): f"{path}.leaderboard.jsonl"}
    done = command("compare", path, *wanted)
    assert "4 of 6 (0.3333 to 1)" in done.out
    assert done.err.endswith(f"note: {path}: with its statistics, {path}.leaderboard.jsonl\n")
    _, found = as_json("compare", moved(path), *wanted)
    assert found["differences"][0]["unjudged_after"]["items"] == 4
    assert found["statistics"] == {str(moved(path)): None}


def test_statistics_of_another_job_are_not_used(tmp_path: Path) -> None:
    path = partly_judged(tmp_path)
    other = job(tmp_path, "y", {run: [BAD] * 6 for run in "abcde"})
    Path(f"{path}.leaderboard.jsonl").write_bytes(Path(f"{other}.leaderboard.jsonl").read_bytes())
    status, found = as_json("compare", f"{path}.leaderboard.txt", "--measure", "CITATION_SUPPORT")
    kinds = [finding["kind"] for finding in found["findings"]]
    assert (status, kinds.count("statistics_differ")) == (0, 1)
    assert found["differences"][0]["unjudged_after"]["items"] == 4  # its own rows tell
    assert found["statistics"] == {str(path): None}


def test_means_that_topics_contradict_are_not_compared(write: Write) -> None:
    old = write("r t1 M 0.2\nr all M 0.9\n", "old.txt")
    _, found = as_json("compare", old, write("r all M 0.5\n", "new.txt"))
    assert found["differences"][0]["mean_before"] == 0.2


def test_a_run_by_name(tmp_path: Path) -> None:
    out = job(tmp_path, "x", {"a": [GOOD], "b": [BAD], "c": [BAD]})
    _, found = as_json("compare", out, "--run", "a", "--against", "c", "--measure", "AVG_CITATIONS")
    assert [one["after"] for one in found["differences"]] == [f"{out}: a"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("{gone}", "gone: no such file or folder"),
        ("{one}", "one run; give a second leaderboard"),
        ("{one} --measure X", "one run; give a second"),
        ("{two} --measure X", "unknown measure 'X'; there are: M"),
        ("{two} --run q", "unknown run 'q'; there are: r, s"),
    ],
)
def test_bad_input_is_one_line(arguments: str, message: str, write: Write, tmp_path: Path) -> None:
    places = {
        "gone": tmp_path / "gone",
        "one": write("r all M 1\n", "one"),
        "two": write("r all M 1\ns all M 1\n", "two"),
    }
    done = command("compare", *arguments.format(**places).split())
    assert done.status == 1
    assert message in done.err
    assert len(done.err.splitlines()) == 1


def test_a_sentence_first_then_twenty_of_the_most_telling_differences(tmp_path: Path) -> None:
    runs = {f"run-{i:02d}-of-a-team-with-a-long-name": [GOOD] * i + [BAD] * 2 for i in range(1, 13)}
    lines = command("compare", job(tmp_path, "x", runs)).out.splitlines()
    assert lines[0].startswith("11 pairs of runs by 6 measures: ")
    assert " differences are significant (p < 0.05 after max-T; the smallest is " in lines[0]
    assert "AVG_CITATIONS is the same as CITATION_ACCURACY in all 11 rows" in lines
    assert "… 13 more differences: --all or --json" in lines
    rest = next(i for i, line in enumerate(lines) if " the same as " in line)
    assert max(map(len, lines[2:rest])) <= 80
    assert sum(line.startswith("moved most, ") for line in lines) <= 5
    whole = command("compare", tmp_path / "out" / "x", "--all", "--wide").out
    assert "more differences" not in whole and "effect d" in whole


def test_power_plans_a_leaderboard_from_a_pilot(tmp_path: Path) -> None:
    pilot = job(tmp_path, "x", {"a": [GOOD, BAD] * 4, "b": [GOOD] * 7 + [BAD], "c": [BAD] * 8})
    planned = ("--power", "--topics", "100", "--runs", "30", "--difference", "0.1")
    status, found = as_json("compare", pilot, "--measure", "CITATION_SUPPORT", *planned)
    (one,) = found["power"]
    (row,) = one["smallest"]
    assert (status, one["pilot_topics"], one["runs"], row["topics"]) == (0, 8, 30, 100)
    assert row["pair"] < row["holm"] and row["pair"] < row["tukey"]
    assert one["needed"]["pair"] < one["needed"]["holm"]
    lines = command("compare", pilot, "--measure", "CITATION_SUPPORT", *planned).out.splitlines()
    assert any(f"{row['pair']:.3f}" in line and f"{row['holm']:.3f}" in line for line in lines)
    assert f"a difference of 0.1 needs {one['needed']['pair']:,} topics for a pair" in lines[-1]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--topics 9", "--for goes with --power"),
        ("--power --to latex", "--power takes one leaderboard, the pilot"),
        ("--power --topics 1", "--for topics=1: 1 is too small; give a whole number of at least 2"),
        ("--correction tukey", "max-t"),
    ],
)
def test_flags_that_do_not_go_together(write: Write, flags: str, message: str) -> None:
    board = write("r 1 M 1\ns 1 M 0\n", "board")
    done = command("compare", board, *flags.split())
    assert done.status in (1, 2)
    assert message in done.err
