"""Codes in the place of names of runs and teams: nothing is lost, and nobody is named."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.commandline import command
from trecjudge.errors import InputError
from trecjudge.inputs.anonymous import Key, anonymise, name_again
from trecjudge.results.judgments import JudgmentsReader

ODD = (
    '{"metadata": {"team_id":"Blue-Team7" ,  "run_id" : "blue_2b-run", "topic_id": "1"},'
    ' "responses": [{"text": "As blue_2b-run says:\\nblue_2b-run, not blue_2b-run5.",'
    ' "citations": ["corpus/blue_2b-run/9"]}],'
    ' "documents": {"corpus/blue_2b-run/9": {"text": "Blue-Team7 \\u00e9crit."}}}\n'
)


def written(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def record(run: str, team: str, text: str = "It rains.") -> dict[str, Any]:
    names = {"team_id": team, "run_id": run, "topic_id": "1"}
    return {"metadata": names, "responses": [{"text": text}]}


def there_and_back(folder: Path, path: Path, *words: str) -> tuple[bytes, bytes]:
    """Return what a file becomes, and what becomes of that with the names back."""
    key = Key.read(folder / "key", make=True)
    (made, *_) = anonymise([path], folder / "codes", key, words).files
    (back, *_) = name_again([folder / "codes"], folder / "back", key)
    assert back.name == path.name.removesuffix(".gz")
    return made.read_bytes(), back.read_bytes()


def test_fields_texts_and_ids_of_documents_have_codes_and_come_back(tmp_path: Path) -> None:
    path = written(tmp_path / "in", "blue_2b-run.jsonl", ODD)
    coded, back = there_and_back(tmp_path, path)
    assert back == path.read_bytes()
    assert b"Blue-Team7" not in coded and coded.count(b"blue_2b-run") == 1  # that of run5
    assert b'"run_id" : "run-' in coded and b"corpus/run-" in coded


def test_a_name_that_is_written_in_several_ways_comes_back_as_it_was(tmp_path: Path) -> None:
    text = json.dumps(record("équipe-9x", "t-1x"), ensure_ascii=False) + "\n"
    text += json.dumps(record("équipe-9x", "t-1x", "by équipe-9x") | {"topic": 2}) + "\n"
    text += text.splitlines()[0].replace('"équipe-9x"', '" équipe-9x "') + "\n"
    coded, back = there_and_back(tmp_path, written(tmp_path, "x.jsonl", text))
    assert back == text.encode()
    assert "équipe".encode() not in coded and b"quipe" not in coded


def test_a_name_that_may_be_a_word_stays_in_texts_and_is_counted(tmp_path: Path) -> None:
    line = json.dumps(record("combined", "red", "The combined red flags."))
    path = written(tmp_path, "combined.jsonl", f"{line}\n")
    found = anonymise([path], tmp_path / "a", Key("00"), [])
    assert dict(found.left) == {"combined": 1, "red": 1}
    coded = found.files[0].read_text()
    assert "The combined red flags." in coded and '"combined"' not in coded
    found = anonymise([path], tmp_path / "b", Key("00"), ["combined"])
    assert dict(found.left) == {"red": 1}
    assert "The combined" not in found.files[0].read_text()


def test_a_code_that_stands_in_a_text_is_given_to_nobody(tmp_path: Path) -> None:
    path = written(tmp_path, "x.jsonl", json.dumps(record("r-100", "t-100")) + "\n")
    key = Key("11")
    anonymise([path], tmp_path / "a", key, [])
    taken = key.codes["run:r-100"]
    text = json.dumps(record("r-100", "t-100", f"See {taken}.")) + "\n"
    coded, back = there_and_back(tmp_path / "again", written(tmp_path, "x.jsonl", text))
    assert back == text.encode() and coded.count(taken.encode()) == 1


def test_the_same_key_gives_the_same_codes_in_no_order_of_names(tmp_path: Path) -> None:
    lines = [json.dumps(record(f"run-{n:02d}x", "t-9x")) for n in range(20)]
    paths = [written(tmp_path, f"{n}.jsonl", f"{line}\n") for n, line in enumerate(lines)]
    keys = [Key("ab"), Key("ab"), Key("cd")]
    for n, key in enumerate(keys):
        anonymise(paths if n else paths[::-1], tmp_path / str(n), key, [])
    codes = [dict(sorted(key.codes.items())) for key in keys]
    assert codes[0] == codes[1] != codes[2]
    runs = [code for named, code in codes[0].items() if named.startswith("run:")]
    assert runs != sorted(runs) and len(set(runs)) == 20


def test_a_packed_file_comes_back_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "blue_2b-run.jsonl.gz"
    path.write_bytes(gzip.compress(ODD.encode()))
    assert there_and_back(tmp_path, path)[1] == ODD.encode()


@pytest.mark.parametrize("text", [ODD.rstrip(), f"\n{ODD}\r\n\n", f"\ufeff{ODD}"])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
def test_every_byte_between_the_names_comes_back(text: str, packed: bool, tmp_path: Path) -> None:
    path = tmp_path / f"blue_2b-run.jsonl{'.gz' * packed}"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    assert there_and_back(tmp_path, path)[1] == text.encode()


def test_teams_that_call_runs_and_files_by_one_name_lose_nothing(tmp_path: Path) -> None:
    folder, key = tmp_path / "in", Key("00")
    given = {
        f"{team}/{name}": json.dumps(record(run, team, f"{team} {number} says so.")) + "\n"
        for number, (team, name, run) in enumerate(
            [("a-1x", "run.jsonl", "base-1"), ("b-1x", "run.jsonl", "base-1"),
             ("b-1x", "other.jsonl", "else-2"), ("b-1x", "run.json", "base-1")]
        )
    }  # fmt: skip
    for name, text in given.items():
        written((folder / name).parent, Path(name).name, text)
    packed = folder / "a-1x" / "run.jsonl.gz"
    packed.write_bytes(gzip.compress(json.dumps(record("third-3", "a-1x")).encode()))
    made = anonymise([folder, packed], tmp_path / "codes", key, []).files
    assert len({path.name for path in made}) == 5 == len([*(tmp_path / "codes").iterdir()])
    back = name_again([tmp_path / "codes"], tmp_path / "back", key)
    assert len(set(back)) == 5
    for name, text in given.items():
        assert (tmp_path / "back" / name).read_text(encoding="utf-8") == text


def test_a_key_leads_nowhere_else(tmp_path: Path) -> None:
    path, key = written(tmp_path / "in", "x.jsonl", ODD), Key("00", files={"x.jsonl": "../y.jsonl"})
    with pytest.raises(InputError, match="leads out of"):
        name_again([path], tmp_path / "back", key)


def test_a_number_as_a_name_is_refused_with_its_line(tmp_path: Path) -> None:
    line = json.dumps(record("7", "t-9x")).replace('"7"', "7")
    path = written(tmp_path, "x.jsonl", f"{line}\n")
    with pytest.raises(InputError, match=r"x.jsonl:1: the name 7 is a number; put it in quotes"):
        anonymise([path], tmp_path / "a", Key("00"), [])


def test_what_a_job_wrote_has_the_names_again_and_is_whole(tmp_path: Path) -> None:
    runs = written(tmp_path / "in", "blue_2b-run.jsonl", ODD)
    key = tmp_path / "key.json"
    assert command("job", "anonymise", runs, "--out-dir", tmp_path / "a", "--key", key).status == 0
    job = ("--rag-responses", tmp_path / "a", "--judge", "citation", "--out-dir", tmp_path / "out")
    assert command(*job, "--name", "x", "-q").status == 0
    assert "blue_2b-run\t" not in (tmp_path / "out" / "x.leaderboard.txt").read_text()
    back = ("anonymise", tmp_path / "out", "--back", "--out-dir", tmp_path / "b", "--key", key)
    assert command(*back).status == 0
    assert "blue_2b-run\tall" in (tmp_path / "b" / "x.leaderboard.txt").read_text()
    reader = JudgmentsReader(tmp_path / "b" / "x.judgments.jsonl")
    assert [response.team_id for response, _ in reader] == ["Blue-Team7"]
    assert not reader.edited


def test_what_is_no_key(tmp_path: Path) -> None:
    path = written(tmp_path, "x.jsonl", ODD)
    done = command("job", "anonymise", path, "--back", "--out-dir", tmp_path / "b", "--key", path)
    assert done.status == 1 and "is no key, as `job anonymise` writes it" in done.err
    done = command(
        "job", "anonymise", path, "--back", "--out-dir", tmp_path, "--key", tmp_path / "none"
    )
    assert done.status == 1 and "cannot be read" in done.err
