"""Files are written whole or not at all, under safe names, inside the output folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from trecjudge.errors import OutputError
from trecjudge.files import whole
from trecjudge.results.outputs import Outputs


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "a b", "a\n"])
def test_names_that_are_not_safe(name: str) -> None:
    with pytest.raises(OutputError, match="letters, digits"):
        Outputs(Path("out"), name)


def test_points_have_files_of_their_own() -> None:
    outputs = Outputs(Path("out"), "x").of("half")
    assert outputs.qrels == Path("out/x.half.qrels")


def test_qrels_of_several_judges_have_names_of_their_own() -> None:
    judges = ["a b", "a+b", "my.mod:Judge", "Support", "support"]
    found = Outputs(Path("out"), "x").qrels_of(judges)
    names = ["x.a+b", "x.a+b+", "x.my+mod+Judge", "x.Support", "x.support+"]
    assert list(found.values()) == [Path(f"out/{name}.qrels") for name in names]
    assert Outputs(Path("out"), "x").qrels_of(["support"]) == {"support": Path("out/x.qrels")}


@pytest.mark.parametrize("folder", ["file", "file/out"])
def test_a_folder_that_cannot_be_made(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="a file is in its way; give another --out-dir"):
        Outputs(tmp_path / folder, "x").prepare()


def test_an_error_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), whole(path) as file:
        file.write(b"new")
        raise RuntimeError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_log_keeps_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    with pytest.raises(RuntimeError), whole(path, keep_partial=True) as file:
        file.write(b"so far")
        raise RuntimeError
    assert (tmp_path / "x.log.part").read_text() == "so far"
    assert not path.exists()


def test_two_that_write_one_file_do_not_mix(tmp_path: Path) -> None:
    with whole(tmp_path / "x") as one, whole(tmp_path / "x") as two:
        one.write(b"one, and longer")
        two.write(b"two")
    assert (tmp_path / "x").read_bytes() == b"one, and longer"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_folder_in_the_place_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    with pytest.raises(OutputError, match="cannot be written"), whole(tmp_path / "x"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_an_error_of_another_file_keeps_its_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), whole(tmp_path / "x"):
        (tmp_path / "gone").read_bytes()
