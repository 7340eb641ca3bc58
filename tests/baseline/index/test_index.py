"""What every index does, in SQLite and PostgreSQL: refreshed, searched, narrowed, broken off."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from tests.baseline.index.indexed import ALL, DOG, FOX, HAN, Letters, found, ids, refreshed, source
from trecjudge.baseline.chunking import ChunkSettings
from trecjudge.baseline.index.index import Index, make_index, open_index
from trecjudge.baseline.index.records import Changes, Filter
from trecjudge.errors import InputError

Places = tuple[str, str, str]


@pytest.fixture
def index(places: Places) -> Iterator[Index]:
    made = make_index(places[0])
    assert refreshed(made, ALL) == Changes(added=3, chunks=3)
    yield made
    made.close()


def test_words_are_found_where_they_stand(index: Index) -> None:
    assert found(index, "fox") == ["fox", "dog"]
    assert found(index, "dog") == ["dog"]
    assert found(index, "anim") == ["fox"]  # a word of its title
    assert found(index, "漢字") == ["han"]
    assert found(index, "cat") == []


def test_a_chunk_is_a_quote_with_all_that_is_known(index: Index) -> None:
    [(number, _)] = index.by_words({"anim": 1.0}, 1)
    [chunk] = index.chunks([number])
    assert (chunk.text, chunk.document.title) == ("The quick brown fox jumps.", "Animals")
    assert (chunk.document.date, chunk.metadata) == ("2024-05-03", {"lang": "en"})
    whole = index.document("fox")
    assert whole is not None
    assert whole.text == FOX.document.full_text
    assert whole.text[chunk.start : chunk.end] == chunk.text
    assert chunk.digest == whole.digest != ""


def test_after_many_refreshes_it_is_as_if_made_at_once(places: Places) -> None:
    index, draw, held = make_index(places[0], ChunkSettings(10, 2)), random.Random(5), {}
    for _ in range(25):
        for number in draw.sample(range(40), draw.randint(0, 8)):
            words = draw.choices(["fox", "dog", "cat", "."], k=draw.randint(0, 60))
            held[number] = source(f"d{number}", " ".join(words), draw.choice(["", "Fox"]))
        for number in draw.sample(sorted(held), min(len(held), draw.randint(0, 5))):
            del held[number]
        refreshed(index, held.values())
    whole = make_index(places[1], ChunkSettings(10, 2))
    refreshed(whole, held.values())
    assert index.facts == whole.facts
    both = [scored(one, {"fox": 1.0, "cat": 0.5}) for one in (index, whole)]
    assert both[0] == pytest.approx(both[1])
    for one in (index, whole):
        one.close()


def scored(index: Index, terms: dict[str, float]) -> dict[tuple[str, int], float]:
    found = index.by_words(terms, 1000)
    chunks = index.chunks([number for number, _ in found])
    return {(c.doc_id, c.start): s for c, (_, s) in zip(chunks, found, strict=True)}


def test_what_changed_or_went_is_never_found(index: Index) -> None:
    version = index.facts.version
    [(number, _)] = index.by_words({"bark": 1.0}, 1)
    changes = refreshed(index, [FOX, source("dog", "Cats meow.")])
    assert changes == Changes(changed=1, removed=1, kept=1, chunks=1)
    assert found(index, "dog") == found(index, "漢字") == []
    assert found(index, "fox") == ["fox"]
    assert found(index, "cat") == ["dog"]
    assert index.document("han") is None
    with pytest.raises(KeyError):
        index.chunks([number])
    refreshed(index, ALL)
    assert index.facts.version == version


@pytest.mark.parametrize(
    "changed",
    [
        source("han", "漢字を使う人々。", "T", lang="ja", url="https://x.example/han", version="2"),
        source("han", "漢字を使う人々。", lang="ja", url="https://x.example/han", version="3"),
        source("han", "漢字を使う人々。", lang="zh", url="https://x.example/han", version="2"),
    ],
    ids=["title", "version", "field"],
)
def test_each_part_of_a_document_counts(index: Index, changed: object) -> None:
    version = index.facts.version
    changes = refreshed(index, [FOX, DOG, changed])  # type: ignore[list-item]
    assert (changes.changed, changes.kept) == (1, 2)
    assert index.facts.version != version


def test_others_are_kept_where_asked(index: Index) -> None:
    changes = refreshed(index, [source("cat", "Cats meow.")], others=False)
    assert changes == Changes(added=1, chunks=1)
    assert index.facts.documents == 4
    assert found(index, "fox") == ["fox", "dog"]


def test_the_first_of_an_id_counts(index: Index) -> None:
    twice = [source("cat", "Cats meow."), source("cat", "Cats purr."), FOX]
    assert refreshed(index, twice) == Changes(added=1, removed=2, kept=1, chunks=1)
    assert (found(index, "meow"), found(index, "purr")) == (["cat"], [])


def test_equal_contents_have_equal_versions_in_any_order(index: Index, places: Places) -> None:
    other = make_index(places[1])
    refreshed(other, [HAN, FOX])
    refreshed(other, [DOG, HAN, FOX])
    assert other.facts.version == index.facts.version
    other.close()
    third = make_index(places[2], ChunkSettings(100, 10))
    refreshed(third, ALL)
    assert third.facts.version != index.facts.version
    third.close()


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        (Filter({"lang": ["de"]}), ["dog"]),
        (Filter({"lang": ["de", "en"]}), ["fox", "dog"]),
        (Filter({"lang": ["de", "en"], "year": ["7"]}), ["dog"]),
        (Filter({"lang": ["fr"]}), []),
        (Filter({"doc_id": ["fox"]}), ["fox"]),
        (Filter({"doc_id": ["nobody"]}), []),
        (Filter({"date": ["3 May 2024"]}), ["fox"]),
        (Filter({"date": ["2024"]}), ["fox"]),
        (Filter({"version": ["2"]}), []),
        (Filter(since="2024"), ["fox"]),
        (Filter(since="20240503", until="2024-05-03"), ["fox"]),
        (Filter(until="2023"), ["dog"]),
        (Filter(until="2022-12-31"), []),
        (Filter({"lang": ["en"]}, until="2023"), []),
        (Filter(), ["fox", "dog"]),
    ],
)
def test_filters(index: Index, only: Filter, expected: list[str]) -> None:
    assert found(index, "fox", only=only) == expected


def test_a_filter_loses_no_result(places: Places) -> None:
    index = make_index(places[0])
    few = {7, 55, 123, 180}
    texts = [("fox " * 5 + "and more") if n not in few else "a fox and more" for n in range(200)]
    refreshed(
        index,
        [source(f"d{n}", t, kept=str(n in few), date="2024") for n, t in enumerate(texts)],
    )
    only = Filter({"kept": ["True"]}, since="2020")
    assert sorted(found(index, "fox", most=4, only=only)) == ["d123", "d180", "d55", "d7"]
    assert len(found(index, "fox", most=3, only=only)) == 3
    index.close()


def test_what_cannot_be_asked_says_the_choices(index: Index) -> None:
    with pytest.raises(InputError, match=r"unknown field 'language'.*lang"):
        found(index, "fox", only=Filter({"language": ["en"]}))
    with pytest.raises(InputError, match="since 'soon' is no date; write it as 2024-05-03"):
        found(index, "fox", only=Filter(since="soon"))


def test_vectors(places: Places) -> None:
    index, letters = make_index(places[0]), Letters()
    texts = [source("a", "aaaa b"), source("b", "bbb"), source("c", "cc", lang="x")]
    refreshed(index, texts, embeds=letters)
    assert index.facts.vectors == letters.model
    assert ids(index, index.by_vector([0, 2, 0], 3)) == ["b", "a", "c"]
    assert index.by_vector([0, 2, 0], 1)[0][1] == pytest.approx(1.0)
    assert ids(index, index.by_vector([0, 2, 0], 3, Filter({"lang": ["x"]}))) == ["c"]
    del letters.texts[:]
    refreshed(index, [texts[0], source("b", "ccc a", "b")], embeds=letters)
    assert letters.texts == ["b\nccc a"]
    assert ids(index, index.by_vector([0, 0, 1], 3)) == ["b", "a"]
    index.close()


def test_vectors_come_to_an_index_without(index: Index) -> None:
    letters, version = Letters(), index.facts.version
    with pytest.raises(InputError, match="has no vectors; index the documents with --vectors"):
        index.by_vector([1, 0, 0], 3)
    refreshed(index, ALL, embeds=letters)
    assert len(letters.texts) == 3
    assert index.facts.version != version
    assert len(index.by_vector([1, 0, 0], 3)) == 3


@pytest.mark.parametrize("other", [None, Letters("others"), Letters(dimensions=4)])
def test_another_model_is_refused(index: Index, other: Letters | None) -> None:
    refreshed(index, ALL, embeds=Letters())
    with pytest.raises(InputError, match=r"has vectors of 'letters' .3 numbers, 1111.*file"):
        refreshed(index, [FOX], embeds=other)
    with pytest.raises(InputError, match="has vectors of 3 numbers, the question 2"):
        index.by_vector([1, 0], 3)
    assert index.facts.documents == 3


def test_an_error_in_the_middle_leaves_what_was_there(index: Index) -> None:
    before = index.facts

    def broken() -> Iterator[object]:
        yield source("cat", "Cats meow.")
        raise InputError("the file breaks off")

    with pytest.raises(InputError, match="breaks off"):
        refreshed(index, broken())  # type: ignore[arg-type]
    assert index.facts == before
    assert found(index, "cat") == []


def test_other_sizes_of_chunks_are_refused(index: Index, places: Places) -> None:
    with pytest.raises(InputError, match="has chunks of 220 words with an overlap of 30"):
        make_index(places[0], ChunkSettings(100, 10))


def test_readers_see_old_or_new(index: Index, places: Places) -> None:
    other = open_index(places[0])

    def looking() -> Iterator[object]:
        for n in range(20):
            yield source(f"cat{n}", "Cats meow.")
            assert (found(other, "meow"), len(found(other, "fox"))) == ([], 2)

    refreshed(index, looking())  # type: ignore[arg-type]
    assert (len(found(other, "meow", most=50)), found(other, "fox")) == (20, [])
    other.close()


@pytest.mark.parametrize(
    "text",
    [
        "a\0fox\0b",
        "fox \ud800 fox",
        "\u202efox",
        "fox" * 5000 + " fox",
        "👩‍👧 fox",
        "fox\r\n\r\nfox",
    ],
    ids=["null", "half a pair", "direction", "long word", "joined", "lines"],
)
def test_any_text_is_kept_as_it_is(places: Places, text: str) -> None:
    index = make_index(places[0])
    refreshed(index, [source("odd", text, "t'\";--")])
    assert found(index, "fox") == ["odd"]
    whole = index.document("odd")
    assert whole is not None
    kept = text.replace("\ud800", "?")
    assert whole.text in (f"t'\";--\n{kept}", f"t'\";--\n{kept}".replace("\0", "\ufffd"))
    for chunk in index.chunks([number for number, _ in index.by_words({"fox": 1.0}, 9)]):
        assert whole.text[chunk.start : chunk.end] == chunk.text
    index.close()
