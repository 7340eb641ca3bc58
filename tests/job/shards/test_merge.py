"""Parts of a job by commands of their own, merged: the bytes of one command, or a clear no."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.commandline import Done, command
from tests.endpoint import attesting, serving
from tests.job.shards.parts import FILES, flags, same_files, write_runs
from trecjudge.job.shards.shard import ResponsePlace, into_parts, into_shards


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of runs, judged by one command into `one`, and in three parts."""
    found = tmp_path_factory.mktemp("runs")
    write_runs(found, runs=2, topics=3)
    assert command(*flags(found, "one", "-q")).status == 3
    for number in (1, 2, 3):
        done = command(*flags(found, "parts", "--shard", f"{number}/3"))
        assert done.status == 3, done.err
        assert f"x.shard-{number}-of-3: part {number} of 3, 2 responses" in done.out
    return found


def merged(folder: Path, out: Path, *parts: Path) -> Done:
    """Merge parts into a folder under the name `x`."""
    return command("job", "merge", *parts, "--out-dir", out, "--name", "x")


def test_the_parts_together_are_the_whole(folder: Path, tmp_path: Path) -> None:
    done = merged(folder, tmp_path, folder / "parts")
    assert done.status == 3, done.err  # a line was broken
    assert same_files(folder / "one", tmp_path) == list(FILES)
    one, many = (
        yaml.safe_load((f / "x.config.yml").read_text()) for f in (folder / "one", tmp_path)
    )
    for name in ("responses", "items_judged", "findings"):
        assert one["counts"][name] == many["counts"][name]
    assert len(many["command_line"]) == 3
    log = (tmp_path / "x.log").read_text()
    assert log.count('"event":"SUPPORT_OUTPUT"') == one["counts"]["items_judged"]


def test_the_order_in_which_parts_are_given_does_not_matter(folder: Path, tmp_path: Path) -> None:
    files = sorted((folder / "parts").glob("*.judgments.jsonl"), reverse=True)
    assert merged(folder, tmp_path, *files).status == 3
    assert same_files(folder / "one", tmp_path) == list(FILES)


def _without(parts: Path) -> None:
    (parts / "x.shard-2-of-3.config.yml").unlink()


def _cut(parts: Path) -> None:
    path = parts / "x.shard-2-of-3.judgments.jsonl"
    path.write_bytes(path.read_bytes()[:-300])


def _of_other_inputs(parts: Path) -> None:
    config = yaml.safe_load((parts / "x.shard-2-of-3.config.yml").read_text())
    first = next(iter(config["inputs_sha256"]))
    config["inputs_sha256"][first] = "0" * 64
    (parts / "x.shard-2-of-3.config.yml").write_text(yaml.safe_dump(config))


def _twice(parts: Path) -> None:
    shutil.copytree(parts, parts / "again")
    for path in (parts / "again").glob("*"):
        shutil.copy(path, parts / path.name.replace("shard-2", "shard-9"))


def _of_a_whole_job(parts: Path) -> None:
    config = yaml.safe_load((parts / "x.shard-2-of-3.config.yml").read_text())
    del config["shard"]
    (parts / "x.shard-2-of-3.config.yml").write_text(yaml.safe_dump(config))


def _nothing(parts: Path) -> None:
    shutil.rmtree(parts)
    parts.mkdir()


def _again(folder: Path, parts: Path, *more: str) -> None:
    """Judge the second part again, in another way."""
    words = flags(folder, str(parts), "--shard", "2/3", "-q", *more)
    assert command(*words).status in (0, 3)


@pytest.mark.parametrize(
    ("more", "differs"),
    [
        (("--no-document-text",), "inputs (document_text)"),
        (("--run", "r0"), "shard (filters)"),
        (("--topic", "1"), "shard (filters)"),
        (("--max-runs", "1"), "shard (filters)"),
        (("--judge", "citation"), "judges (citation)"),
    ],
)
def test_parts_of_other_settings_are_not_merged(
    more: tuple[str, ...], differs: str, folder: Path, tmp_path: Path
) -> None:
    parts = tmp_path / "parts"
    shutil.copytree(folder / "parts", parts)
    _again(folder, parts, *more)
    done = merged(folder, tmp_path / "out", parts)
    assert (done.status, done.err) == (
        1,
        f"error: {parts / 'x.shard-2-of-3.config.yml'}: its {differs} are not those of"
        f" {parts / 'x.shard-1-of-3.config.yml'}: they are no parts of one job\n",
    )


def test_parts_of_another_model_or_of_none_are_not_merged(folder: Path, tmp_path: Path) -> None:
    for model, differs in (("", "model (model, "), ("other", "model (model)")):
        out = tmp_path / f"by-{model}"
        with serving(attesting()) as endpoint, pytest.MonkeyPatch.context() as patch:
            for number, asked in ((1, "stub"), (2, model), (3, "stub")):
                use = ("--use-env-llm", "--cache-dir", str(tmp_path / "cache"), "--max-topics", "1")
                for variable, value in endpoint.environment().items():
                    patch.setenv(variable, value)
                patch.setenv("OPENAI_MODEL", asked)
                more = use if asked else use[-2:]
                part = ("--shard", f"{number}/3", "--max-runs", "1", "-q")
                assert command(*flags(folder, str(out), *part, *more)).status == 0
        done = merged(folder, tmp_path / "out", out)
        assert (done.status, f"its {differs}" in done.err) == (1, True), done.err


def test_runs_in_another_order_are_no_parts_of_one_job(folder: Path, tmp_path: Path) -> None:
    files = sorted((folder / "runs").iterdir())
    for number, given in ((1, files), (2, files[::-1])):
        words = flags(folder, str(tmp_path / "parts"), "--shard", f"{number}/2", "-q")
        at = words.index("--rag-responses") + 1
        assert command(*words[:at], *map(str, given), *words[at + 1 :]).status == 3
    done = merged(folder, tmp_path / "out", tmp_path / "parts")
    assert (done.status, "its inputs_sha256 are not those of" in done.err) == (1, True), done.err


def test_a_part_without_a_log_is_told(folder: Path, tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    shutil.copytree(folder / "parts", parts)
    (parts / "x.shard-2-of-3.log").unlink()
    done = merged(folder, tmp_path / "out", parts)
    message = "warning: no log is written: 1 of 3 parts have none, the first: x.shard-2-of-3\n"
    assert (done.status, message in done.err) == (3, True), done.err
    assert not (tmp_path / "out" / "x.log").exists()


def test_a_part_that_is_named_in_two_ways_is_there_once(folder: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(folder / "parts")
    assert merged(folder, tmp_path / "out", link, folder / "parts").status == 3
    assert same_files(folder / "one", tmp_path / "out") == list(FILES)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        pytest.param(_without, "1 of 3 parts are missing: 2", id="missing"),
        pytest.param(_cut, "x.shard-2-of-3.judgments.jsonl: is cut or was changed", id="cut"),
        pytest.param(_of_other_inputs, "its inputs_sha256 are not those of", id="inputs"),
        pytest.param(_twice, "part 2 is there twice", id="twice"),
        pytest.param(_of_a_whole_job, "is the config of a whole job", id="whole"),
        pytest.param(_nothing, "no NAME.shard-I-of-N.config.yml there", id="none"),
    ],
)
def test_what_does_not_belong_together_is_not_merged(
    spoil: Callable[[Path], None], message: str, folder: Path, tmp_path: Path
) -> None:
    parts = tmp_path / "parts"
    shutil.copytree(folder / "parts", parts)
    spoil(parts)
    done = merged(folder, tmp_path / "out", parts)
    assert (done.status, message in done.err) == (1, True), done.err
    assert not (tmp_path / "out" / "x.judgments.jsonl").exists()


def test_more_parts_than_responses_leave_some_empty(folder: Path, tmp_path: Path) -> None:
    for number in range(1, 10):
        assert command(*flags(folder, str(tmp_path), "--shard", f"{number}/9", "-q")).status == 3
    assert merged(folder, tmp_path / "out", tmp_path).status == 3
    assert same_files(folder / "one", tmp_path / "out") == list(FILES)


@pytest.mark.parametrize("given", ["0/3", "4/3", "1", "a/b", "1/0", "-1/3"])
def test_a_part_that_there_is_not(given: str, folder: Path) -> None:
    done = command(*flags(folder, "none", "--shard", given))
    assert (done.status, "give I/N, such as 2/8" in done.err) == (1, True)


def _responses(*items: int) -> list[ResponsePlace]:
    return [ResponsePlace(Path("r"), n, "r", size) for n, size in enumerate(items)]


def test_parts_are_of_about_equal_size_and_in_order() -> None:
    parts = into_parts(_responses(10, 10, 10, 10, 40, 5, 5, 5), 3)
    assert [part.items for part in parts] == [30, 50, 15]
    ordinals = [n for part in parts for portion in part.portions for n in portion.ordinals]
    assert ordinals == list(range(8))


def test_shards_have_enough_items_to_be_worth_it() -> None:
    assert [s.items for s in into_shards(_responses(*[7] * 10), workers=4, least=20)] == [
        21,
        21,
        21,
        7,
    ]
    assert into_shards([], workers=2) == []


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--human", "labels.jsonl"), "leave out --labels: `job merge` takes it"),
        (
            ("--report",),
            "leave out --report: the command `report` makes one",
        ),
        (("--workers", "2"), "leave out --workers: a part is judged by one process"),
        (("--all-variants",), "leave out --all-variants: a part is of one job"),
        (("--sweep", "seeds"), "leave out --sweep: a part is of one job"),
    ],
)
def test_what_is_of_a_whole_job_only(
    more: tuple[str, ...], message: str, folder: Path, tmp_path: Path
) -> None:
    done = command(*flags(folder, str(tmp_path / "none"), "--shard", "1/3", *more))
    assert (done.status, f"error: --shard: {message}" in done.err) == (1, True), done.err
    assert not (tmp_path / "none").exists()


def test_a_plan_of_a_part_counts_what_the_part_asks(folder: Path, tmp_path: Path) -> None:
    counted = []
    with serving(attesting()) as endpoint, pytest.MonkeyPatch.context() as patch:
        for variable, value in endpoint.environment().items():
            patch.setenv(variable, value)
        for number in (1, 2):
            part = ("--shard", f"{number}/2", "--max-topics", "1", "--max-runs", "1", "-q")
            use = ("--use-env-llm", "--cache-dir", str(tmp_path / f"cache{number}"), "--json")
            words = flags(folder, str(tmp_path), *part, *use)
            before = len(endpoint.requests)
            plan = json.loads(command(*words, "--plan").out)
            assert len(endpoint.requests) == before
            assert command(*words).status in (0, 3)
            counted.append((plan["calls"], len(endpoint.requests) - before))
    assert counted[0][0] == counted[0][1] and counted[1][0] == counted[1][1]
    assert sum(calls for calls, _ in counted) > 0
