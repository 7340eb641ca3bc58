"""YAML is read one way only: keys once, words as YAML 1.2 reads them or as they are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from trecjudge.settings.strict_yaml import AmbiguousScalar, YamlFault, read_yaml, written_yaml

ROOT = Path(__file__).parents[2]
DOUBLED = "a: &a0 [1, 2]\n" + "\n".join(f"b{n}: &a{n + 1} [*a{n}, *a{n}]" for n in range(40))
"""Each line twice what the line before it is."""
OURS = [*ROOT.glob("workflows/*.yml"), ROOT / "trecjudge" / "check" / "rules.yml"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-1", 0.1),
        ("1E3", 1000.0),
        ("1e5", 100000.0),
        (".5", 0.5),
        ("-.5", -0.5),
        ("+1", 1),
        ("1_000", 1000),
        ("0o17", 15),
        ("0x1F", 31),
        ("0", 0),
        ("true", True),
        ("~", None),
        ("", None),
        ("'1e-1'", "1e-1"),
        ("1.2.3", "1.2.3"),
        ("[a, 1]", ["a", 1]),
    ],
)
def test_words_with_one_meaning(text: str, value: Any) -> None:
    found = read_yaml(text).value
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("text", ["yes", "No", "off", "017", "1:30", "2024-01-01", "1:30:00.5"])
def test_words_that_versions_read_differently_stay_as_written(text: str) -> None:
    found = read_yaml(text).value
    assert (found, type(found)) == (text, AmbiguousScalar)
    assert type(read_yaml(f"'{text}'").value) is str


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: 1\nb: 2\na: 3", 3, "key 'a' is given twice, first in line 1"),
        ("a: {x: 1, x: 2}", 1, "key 'x' is given twice"),
        ("a:\n- x: 1\n  'x': 2", 3, "key 'x' is given twice, first in line 2"),
        ("on: 1\n'on': 2", 2, "key 'on' is given twice"),
        ("<<: {a: 1}\n<<: {b: 1}", 2, "key '<<' is given twice"),
        (DOUBLED, 14, "too large"),
        ("a: &a " + "x" * 9000 + "\nb: [" + "*a," * 9000 + "]", 2, "too large"),
        ("a: &a [*a]", 1, "refers to itself"),
        ("a: !!timestamp 2024-01-01", 1, "is not YAML: could not determine a constructor"),
        ("a: !!python/name:os.system x", 1, "is not YAML"),
        ("a: 1\n---\nb: 1", 2, "is not YAML: but found another document"),
        ("a: *b", 1, "undefined alias"),
        (f"a: {'9' * 5000}", None, "is not YAML"),
        ("a: \ud800", None, "is not YAML"),
        ("a\x00: 1", None, "is not YAML"),
        ("[" * 900 + "]" * 900, 1, "is nested more than 100 deep"),
        ("a:\n " + "[" * 150 + "]" * 150, 2, "is nested more than 100 deep"),
    ],
    ids=lambda value: str(value)[:20].encode("ascii", "replace").decode(),
)
def test_faults_have_a_line(text: str, line: int | None, message: str) -> None:
    with pytest.raises(YamlFault, match=message) as found:
        read_yaml(text)
    assert found.value.line == line


def test_a_key_beats_what_is_merged_in() -> None:
    text = "base: &base {a: 1, b: 2}\nmine: {<<: *base, b: 3}\nsame: *base"
    found = read_yaml(text)
    assert found.value["mine"] == {"a": 1, "b": 3}
    assert found.value["same"] == {"a": 1, "b": 2}
    assert found.lines["mine", "b"] == 2


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_our_own_files_read_as_other_tools_read_them(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert read_yaml(text).value == yaml.safe_load(text)


def test_what_is_written_is_read_back_by_either_version() -> None:
    words = ["1e5", "no", "1:30", "017", "0o17", "2024-01-01", "=", "x", "", AmbiguousScalar("off")]
    text = written_yaml({"words": words, "number": 1e-7, "truth": True})
    assert read_yaml(text).value == yaml.safe_load(text)
    assert read_yaml(text).value["words"] == words
