"""Packed files: frames of whole lines, one form of each file, and the newest of two."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
import zstandard

from trecjudge.errors import InputError, OutputError
from trecjudge.files import open_target
from trecjudge.inputs.sources.containers import lines, seekable
from trecjudge.results.jobs import judged_job
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.results.outputs import Outputs
from trecjudge.results.packed import FRAME, newest_form, open_output

HEADER = '{"record": "header", "format": 2, "judges": {"length": {}}}\n'


def text_of_lines(size: int) -> bytes:
    """Return lines of random numbers, of a size and a little more; one of them is long."""
    rng = random.Random(3)
    found = [b"%x\n" % rng.getrandbits(rng.choice((8, 800, 80_000))) for _ in range(size // 6700)]
    return b"".join([*found, b"a" * (FRAME + 5), b"\n", *found])


def frames_in(packed: bytes) -> list[bytes]:
    """Return the text of each frame."""
    found = []
    while packed:
        unpacker = zstandard.ZstdDecompressor().decompressobj()
        found.append(unpacker.decompress(packed))
        packed = unpacker.unused_data
    return found


@pytest.fixture(scope="module")
def text() -> bytes:
    return text_of_lines(2 * FRAME)


@pytest.mark.parametrize("size", [1, 7000, FRAME - 1, FRAME, FRAME + 1, 10 * FRAME])
def test_the_bytes_depend_on_the_text_only(tmp_path: Path, text: bytes, size: int) -> None:
    part = text[:60_000] if size == 1 else text
    with open_output(tmp_path / "whole.zst") as file:
        file.write(part)
    with open_output(tmp_path / "pieces.zst") as file:
        for begin in range(0, len(part), size):
            file.write(part[begin : begin + size])
            file.flush()
    assert (tmp_path / "pieces.zst").read_bytes() == (tmp_path / "whole.zst").read_bytes()


def test_a_frame_ends_at_the_first_line_end_behind_a_megabyte(tmp_path: Path, text: bytes) -> None:
    with open_output(tmp_path / "x.zst") as file:
        file.write(text)
    frames = frames_in((tmp_path / "x.zst").read_bytes())
    assert b"".join(frames) == text
    assert len(frames) > 3
    for frame in frames[:-1]:
        assert frame.endswith(b"\n")
        assert b"\n" not in frame[FRAME - 1 : -1]


def test_any_line_is_read_where_it_stands(tmp_path: Path, text: bytes) -> None:
    with open_output(tmp_path / "x.zst") as file:
        file.write(text)
    (tmp_path / "plain").write_bytes(text)
    with seekable(tmp_path / "x.zst") as packed, seekable(tmp_path / "plain") as plain:
        rng = random.Random(5)
        for place in [0, len(text), len(text) + 9, *(rng.randrange(len(text)) for _ in range(50))]:
            for file in (packed, plain):
                file.seek(place)
            assert [packed.readline(), packed.readline()] == [plain.readline(), plain.readline()]
            assert packed.tell() == plain.tell()
        assert packed.seek(-5, os.SEEK_END) == len(text) - 5
        assert packed.read() == text[-5:]


@pytest.mark.parametrize("kind", ["stream", "cut"])
def test_frames_of_others_are_unpacked_aside(tmp_path: Path, text: bytes, kind: str) -> None:
    if kind == "stream":  # no frame says how large it is
        packer = zstandard.ZstdCompressor().compressobj()
        (tmp_path / "x.zst").write_bytes(packer.compress(text) + packer.flush())
        with seekable(tmp_path / "x.zst") as file:
            file.seek(0)
            assert file.read() == text
    else:
        (tmp_path / "x.zst").write_bytes(zstandard.ZstdCompressor().compress(text)[:-9])
        with pytest.raises(
            InputError, match=r"x\.zst: cannot be read .*: the data break off; it is"
        ):
            seekable(tmp_path / "x.zst")


def test_what_was_written_of_a_log_is_kept_and_can_be_read(tmp_path: Path) -> None:
    with (
        pytest.raises(RuntimeError),
        open_output(tmp_path / "x.log.zst", keep_partial=True) as file,
    ):
        file.write(b"so far\n")
        raise RuntimeError
    assert [path.name for path in tmp_path.iterdir()] == ["x.log.zst.part"]
    assert list(lines(tmp_path / "x.log.zst.part")) == [(1, b"so far")]


@pytest.mark.parametrize("packed", [True, False])
def test_a_file_replaces_its_other_form(tmp_path: Path, packed: bool) -> None:
    before, after = Outputs(tmp_path, "x", not packed), Outputs(tmp_path, "x", packed)
    for outputs in (before, after):
        with open_output(outputs.judgments) as file:
            assert before.judgments.exists() == (outputs is after)
            file.write(HEADER.encode())
    assert [path.name for path in tmp_path.iterdir()] == [after.judgments.name]
    assert judged_job(tmp_path).outputs == after


def test_an_error_leaves_the_other_form(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("old")
    with pytest.raises(RuntimeError), open_output(tmp_path / "x.log.zst"):
        raise RuntimeError
    assert [path.name for path in tmp_path.iterdir()] == ["x.log"]


@pytest.mark.parametrize("newest", ["x.log", "x.log.zst", "x.log.gz"])
def test_the_newest_form_counts(tmp_path: Path, newest: str) -> None:
    assert newest_form(tmp_path / "x.log") is None
    for name in ("x.log", "x.log.zst", "x.log.gz"):
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, ns=(5, 9 if name == newest else 8))
    assert newest_form(tmp_path / "x.log") == tmp_path / newest
    assert newest_form(tmp_path / "x.log.zst") == tmp_path / newest


def test_after_unpacking_by_hand_the_plain_form_counts(tmp_path: Path) -> None:
    for name in ("x.log.zst", "x.log"):  # as `unzstd -k` leaves them
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, ns=(8, 8))
    assert newest_form(tmp_path / "x.log.zst") == tmp_path / "x.log"


def test_names_of_a_packed_job() -> None:
    outputs = Outputs(Path("out"), "x", packed=True).of("half")
    names = [path.name for path in (outputs.judgments, outputs.log, outputs.review, outputs.qrels)]
    assert names == [
        "x.half.judgments.jsonl.zst",
        "x.half.log.zst",
        "x.half.review.jsonl",
        "x.half.qrels",
    ]


def test_no_command_replaces_packed_judgments(tmp_path: Path) -> None:
    path = tmp_path / "x.judgments.jsonl.zst"
    path.write_bytes(b"")
    with pytest.raises(OutputError, match="has the judgments of a job"), open_target(path):
        pass


def test_judgments_that_are_cut(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "x.judgments.jsonl.zst"
    with open_output(path) as file:
        file.write(HEADER.encode() + b"\n" * (FRAME + 100))
    whole = path.read_bytes()
    path.write_bytes(whole[:-3])
    # Blank lines are not counted while they are passed over.
    message = r"x\.judgments\.jsonl\.zst: cannot be read beyond line 1: the data break off; it"
    with pytest.raises(InputError, match=message):
        list(JudgmentsReader(path))
    path.write_bytes(whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:])
    with pytest.raises(InputError, match=r"beyond line \d+: .*; it is cut or damaged: copy"):
        list(JudgmentsReader(path))
