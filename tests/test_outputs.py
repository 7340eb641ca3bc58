"""Files are written whole or not at all, under safe names, inside the output folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from trecjudge.errors import OutputError
from trecjudge.outputs import Outputs, whole


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "a b", "a\n"])
def test_names_that_are_not_safe(name: str) -> None:
    with pytest.raises(OutputError, match="letters, digits"):
        Outputs(Path("out"), name)


def test_points_have_files_of_their_own() -> None:
    outputs = Outputs(Path("out"), "x").of("half")
    assert outputs.qrels == Path("out/x.half.qrels")


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="give another --out-dir"):
        Outputs(tmp_path / "file" / "out", "x").prepare()


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
