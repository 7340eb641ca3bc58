"""`meta-evaluate`, `agree`, `label-next` and `convert` from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.commandline import command, sample
from tests.commands.jobs import as_json
from tests.reading import Write

HUMAN = "r1\tall\tH\t0.9\nr2\tall\tH\t0.7\nr3\tall\tH\t0.5\nr4\tall\tH\t0.3\nr5\tall\tH\t0.1\n"
JUDGE = "r2\tall\tS\t0.4\nr3\tall\tS\t0.3\nr4\tall\tS\t0.2\nr5\tall\tS\t0.1\n"
NAN = "r1\tall\tH\t0.9\nr2\tall\tH\t0.8\nr3\tall\tH\t0.7\nr4\tall\tH\t0.6\n"
TAU = ("--correlation", "kendall")


def tau(found: dict[str, object]) -> float | None:
    (pair,) = found["pairs"]  # type: ignore[misc]
    value: float | None = pair["correlations"]["kendall"]["value"]
    return value


def test_a_run_on_one_side_only_is_no_perfect_correlation(write: Write) -> None:
    paths = (write(JUDGE, "judge.txt"), "--truth", write(HUMAN, "truth.txt"))
    done = command("meta-evaluate", *paths)
    assert done.status == 1
    assert "has no scores of 1 runs: 'r1'; --on-missing common leaves them out" in done.err
    status, found = as_json("meta-evaluate", *paths, *TAU, "--on-missing", "zero")
    assert (status, tau(found)) == (0, 0.2)
    assert found["findings"][0]["kind"] == "run_one_sided"
    status, found = as_json("meta-evaluate", *paths, *TAU, "--on-missing", "common")
    assert (status, tau(found), found["pairs"][0]["runs"]) == (0, 1.0, 4)


def test_a_header_is_recognised(write: Write) -> None:
    header = write("run topic measure value\nr1\tt1\tS\t1.0\n", "lb.txt")
    done = command("convert", header, header.with_name("new"), "--to", "ir_measures")
    assert (done.status, done.err) == (0, "")
    assert header.with_name("new").read_text() == "r1\tt1\tS\t1.0\n"


def test_topic_1_is_topic_1_whatever_its_type(write: Write) -> None:
    record = '{"run_id": "r%d", "topic_id": %s, "measure": "S", "value": %s}\n'
    judge = "".join(record % (r, t, (11 - 2 * r) / 10) for r in range(1, 6) for t in (1, 2))
    truth = "".join(f"r{r}\t{t}\tH\t{(11 - 2 * r) / 10}\n" for r in range(1, 6) for t in (1, 2))
    sides = (write(judge, "judge.jsonl"), "--truth", write(truth, "truth.txt"))
    more = ("--truth-format", "ir_measures")
    status, found = as_json("meta-evaluate", *sides, *TAU, *more, "--all-rows", "recomputed")
    assert (status, tau(found), found["pairs"][0]["topics"]) == (0, 1.0, 2)


def test_nan_is_found_and_never_written(write: Write) -> None:
    judge = write("r1\tall\tS\tnan\nr2\tall\tS\t0.5\nr3\tall\tS\t0.4\nr4\tall\tS\t0.3\n", "lb.txt")
    sides = (judge, "--truth", write(NAN, "truth.txt"))
    done = command("meta-evaluate", *sides)
    assert (done.status, "'r1'" in done.err) == (1, True)
    status, found = as_json("meta-evaluate", *sides, "--on-missing", "common")
    assert status == 3  # a row was left out
    assert "lb.txt:1: has value 'nan', not a number" in found["findings"][0]["message"]
    assert "NaN" not in json.dumps(found)


def test_what_was_left_out_is_told_before_an_error_too(write: Write) -> None:
    done = command("meta-evaluate", write("r all M x\n", "a"), "--truth", write(NAN, "t"))
    assert done.status == 1
    first, last = done.err.splitlines()
    assert first.endswith("a:1: has value 'x', not a number")
    assert last.endswith("a: no scores in it; give a leaderboard")


def test_nothing_to_convert(write: Write, tmp_path: Path) -> None:
    done = command("convert", write("", "a"), tmp_path / "b", "--to", "csv")
    assert (done.status, "no scores in it" in done.err) == (1, True)
    assert not (tmp_path / "b").exists()


def test_qrels_with_a_topic_without_relevant_documents(write: Write) -> None:
    truth = write("t1 0 d1 1\nt1 0 d2 0\n t2 0 d1 0\n", "truth.qrels")
    predicted = write("t1 0 d1 1\nt1 0 d3 1\nt2 0 d1 0\n", "pred.qrels")
    status, found = as_json("agree", "--truth", truth, "--predicted", predicted)
    precision = next(f for f in found["figures"] if f["figure"] == "precision")
    assert (status, precision["by_topic"]) == (0, {"t1": 1.0, "t2": 1.0})
    done = command("agree", "--truth", truth, "--predicted", predicted, "--by-topic")
    assert "agreement: 2 items of 2 topics; 1 in the truth alone" in done.out


@pytest.mark.parametrize(
    ("case", "judge", "status", "told"),
    [
        ("40_missing_run_meta", "judge.txt", 1, "has no scores of 1 runs: 'r1'; --on-missing"),
        ("45_jsonl_int_topic", "judge.jsonl", 0, "run 'r1', HUMAN: the `all` row is 0.9, its"),
        ("47_nan_value", "lb.txt", 1, "has no scores of 1 runs: 'r1'; --on-missing"),
    ],
)
def test_the_cases_of_the_folder(
    case: str, judge: str, status: int, told: str, shared: Path
) -> None:
    folder = shared / "cases" / case
    done = command("meta-evaluate", folder / judge, "--truth", folder / "truth.txt")
    assert (done.status, told in done.err) == (status, True)


def test_a_constant_judge_is_no_agreement(write: Write) -> None:
    constant = "".join(f"r{i}\tall\tS\t1\n" for i in range(1, 6))
    sides = (write(constant, "judge.txt"), "--truth", write(HUMAN, "truth.txt"))
    status, found = as_json("meta-evaluate", *sides, *TAU)
    assert (status, tau(found)) == (0, None)
    done = command("meta-evaluate", *sides, *TAU, "--strict")
    assert (done.status, "S is the same for all 5 runs" in done.err) == (1, True)
    assert "n/a" in done.out


@pytest.fixture
def doubled(write: Write) -> tuple[Path, str, Path]:
    """Return a judge with two values of one run, and a truth without."""
    judge = HUMAN.replace("H", "S") + "r1\tall\tS\t0\n"
    return write(judge, "judge.txt"), "--truth", write(HUMAN, "truth.txt")


@pytest.mark.parametrize(("duplicates", "wanted"), [("first", 1.0), ("last", 0.2)])
def test_which_of_two_values_counts(
    duplicates: str, wanted: float, doubled: tuple[Path, str, Path]
) -> None:
    _, found = as_json("meta-evaluate", *doubled, *TAU, "--duplicates", duplicates)
    assert tau(found) == wanted
    assert [f["kind"] for f in found["findings"]] == ["row_duplicate"]


def test_a_duplicate_can_be_an_error(doubled: tuple[Path, str, Path]) -> None:
    done = command("meta-evaluate", *doubled, "--duplicates", "error")
    assert (done.status, "judge.txt:6: gives run 'r1'" in done.err) == (1, True)


def test_plots_and_lines(write: Write, tmp_path: Path) -> None:
    judge = write(HUMAN.replace("H", "a/../b"), "judge.txt")
    sides = (judge, "--truth", write(HUMAN, "truth.txt"))
    into = ("--svg", tmp_path / "svg", "--output", tmp_path / "meta.jsonl")
    done = command("meta-evaluate", *sides, *into)
    assert done.status == 0
    pictures = sorted((tmp_path / "svg").iterdir())
    assert [p.name for p in pictures] == [
        "01-judge.txt-a_.._b-H.bump.svg",
        "01-judge.txt-a_.._b-H.scatter.svg",
    ]
    assert all(ElementTree.parse(p).getroot().tag.endswith("svg") for p in pictures)
    (line,) = (tmp_path / "meta.jsonl").read_text().splitlines()
    assert json.loads(line)["correlations"]["tauap_b"]["value"] == 1.0


def test_a_job_is_evaluated_by_its_folder(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q")
    status, found = as_json("meta-evaluate", tmp_path, "--truth", tmp_path / "x", *TAU)
    taus = {
        p["measure"]: p["correlations"]["kendall"]["value"]
        for p in found["pairs"]
        if p["measure"] == p["truth_measure"]
    }
    assert (status, len(found["pairs"])) == (0, 25)
    assert set(taus.values()) <= {1.0, None}


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ("--correlation kendal", 1, "unknown correlation 'kendal'; did you mean 'kendall'"),
        ("--truth-measure X", 1, "unknown measure 'X'; there are: H"),
        ("--measure X", 1, "unknown measure 'X'; there are: S"),
        ("--on-missing skip", 2, "'skip' is not one of 'error', 'common', 'zero'"),
        ("--svg {file}/x", 1, "cannot be made"),
    ],
)
def test_bad_input(arguments: str, status: int, message: str, write: Write) -> None:
    judge = write(HUMAN.replace("H", "S"), "judge.txt")
    truth = write(HUMAN, "truth.txt")
    options = arguments.format(file=judge).split()
    done = command("meta-evaluate", judge, "--truth", truth, *options)
    assert done.status == status
    assert message in " ".join(done.err.replace("│", " ").split())


def test_what_to_label_next_can_be_filled_in(tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q", "--judge", "support")
    path = tmp_path / "next.jsonl"
    done = command("label-next", tmp_path, "--budget", "4", "--output", path)
    assert (done.status, len(done.out.splitlines())) == (0, 5)
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert {record["label"] for record in records} == {None}
    filled = "".join(json.dumps(r | {"label": "full"}) + "\n" for r in records)
    path.write_text(filled)
    done = command("rescore", tmp_path / "x.judgments.jsonl", "--human", path)
    assert "labels of people: 4 given, 4 of them on judged items" in done.out
    status, found = as_json("label-next", tmp_path, "--human", path)
    assert (status, len(found["items"])) == (0, 29)


@pytest.mark.parametrize("name", ["ir_measures", "tot", "rag4reports", "jsonl", "csv"])
def test_a_leaderboard_in_another_format_and_back(name: str, tmp_path: Path) -> None:
    sample("rag", tmp_path, "-q")
    command("convert", tmp_path, tmp_path / "there", "--to", name)
    command("convert", tmp_path / "there", tmp_path / "back", "--to", "csv")
    command("convert", tmp_path, tmp_path / "direct", "--to", "csv")
    assert (tmp_path / "back").read_text() == (tmp_path / "direct").read_text()
    assert len((tmp_path / "back").read_text().splitlines()) == 59
