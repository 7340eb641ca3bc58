"""The pages are plain English: short sentences, plain words, and a title each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.prose import LINK, PAGES, ROOT, name_of, prose, table, words

MEAN, LONGEST = 20, 45

UNWRITTEN = {
    "alone": r"alone",  # only; by itself
    "anew": r"anew",  # again
    "is no JSON": r"(?:is|are) no (?:JSON|YAML)",  # is not
    "hold against": r"(?:hold|holds|held) (?:\w+ ){0,3}against",  # compare with
    "one's own": r"one's own|of one's",  # your own
    "flatter": r"flatters?",  # is optimistic
    "hang on": r"hangs? on",  # depends on
    "it is said": r"it is said (?:what|that|when|how|which|why)|change is said",  # is reported
    "for ever": r"for ever",  # always
    "heed": r"heed(?:ed|s)?",  # obey, take into account
    "bear on": r"bears? on",  # affect
    "what is odd": r"what(?:ever)? is odd",  # problems
    "bare number": r"bare number",  # a number without a name
    "thereof": r"thereof|whereof|aforesaid|hereby|herein|therein",
    "utilize": r"utili[sz]e[sd]?|leverag(?:es?|ed|ing)|seamless(?:ly)?",  # use
}


def test_the_sentences_of_every_page_are_short() -> None:
    pages = {name_of(page): prose(page.read_text(encoding="utf-8")) for page in PAGES}
    long = [
        f"{name}: {words(s)} words: {s}"
        for name, read in pages.items()
        for s in read.sentences
        if words(s) > LONGEST
    ]
    dense = [f"{name}: mean {read.mean:.1f}" for name, read in pages.items() if read.mean > MEAN]
    assert not dense and not long, "\n".join(["", *dense, *long, "", table()])


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_word_that_we_do_not_write(page: Path) -> None:
    read = prose(page.read_text(encoding="utf-8")).sentences
    found = [f"{name}: {sentence}" for sentence in read for name in unwritten(sentence)]
    assert found == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_place_is_left_to_be_filled(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    assert re.findall(r"^[A-Z_]{4,}$|\bTODO\b|\bTBD\b|\bXXX\b", text, re.M) == []


def unwritten(sentence: str) -> list[str]:
    """Return the words of a sentence that we do not write."""
    return [n for n, w in UNWRITTEN.items() if re.search(rf"(?<!\w){w}(?!\w)", sentence, re.I)]


@pytest.mark.parametrize("page", [p for p in PAGES if p.parent.name == "docs"], ids=name_of)
def test_a_page_has_a_title_and_the_readme_leads_to_it(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.match(r"(?:<!--.*?-->\s*)?# \S", text, re.DOTALL)
    assert f"]({name_of(page)}" in readme


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("One two. Three four five.", [2, 3], id="sentences"),
        pytest.param("One two\nthree. Four.", [3, 1], id="a line is no end"),
        pytest.param("# A title of it\n\nOne two.", [2], id="headings"),
        pytest.param("One.\n\n```sh\nrun it now\n```\n\nTwo three.", [1, 2], id="code"),
        pytest.param("| a b | c d |\n|---|---|\n| e f | g |\n\nOne.", [1], id="tables"),
        pytest.param("<!-- run -->\nOne two.", [2], id="comments"),
        pytest.param("- One two\n- Three. Four five.", [2, 1, 2], id="items of a list"),
        pytest.param("1. One\n   two\n2. Three", [2, 1], id="numbered items"),
        pytest.param("See [the page](docs/one.md#two three) now.", [4], id="targets of links"),
        pytest.param("Give `--out-dir out --name x` too.", [3], id="code is one word"),
        pytest.param('It is 0.86. See `x`. (It ends.) "So." Yes', [3, 2, 2, 1, 1], id="ends"),
        pytest.param("By Pradeep et al. 2024, e.g. Two.", [7], id="abbreviations"),
        pytest.param("**In bold.** Then plain.", [2, 2], id="bold"),
    ],
)
def test_what_counts_as_a_sentence(text: str, expected: list[int]) -> None:
    assert [words(sentence) for sentence in prose(text).sentences] == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The first N alone.", ["alone"]),
        ("Read it anew.", ["anew"]),
        ("The file is no JSON.", ["is no JSON"]),
        ("It is held against the rest.", ["hold against"]),
        ("A table of one's own.", ["one's own"]),
        ("Standalone renewal is fine.", []),
        ("It is not JSON.", []),
    ],
)
def test_what_we_do_not_write(sentence: str, expected: list[str]) -> None:
    assert unwritten(sentence) == expected


def test_links_read_as_their_text() -> None:
    assert LINK.sub(r"\1", "[a](b.md) ![c](d.png) [e][f]") == "a c e"


def test_the_pages_can_be_read_in_an_afternoon() -> None:
    pages = [ROOT / "README.md", *(page for page in PAGES if page.parent.name == "docs")]
    counted = {name_of(page): len(page.read_text(encoding="utf-8").split()) for page in pages}
    assert len(counted) <= 18 and sum(counted.values()) <= 36_000, counted
