"""The index in a real PostgreSQL: equal to that in SQLite, all or nothing, errors in one line."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.baseline.index.indexed import DOG, FOX, HAN, found, ids, refreshed, source
from tests.baseline.index.servers import WORDS, Hashed, asked, invented
from trecjudge.baseline.chunking import ChunkSettings
from trecjudge.baseline.index.index import Index, make_index, open_index
from trecjudge.baseline.index.postgres import PostgresStore
from trecjudge.baseline.index.records import Changes, Filter
from trecjudge.errors import InputError, OutputError


@pytest.fixture
def index(address: str) -> Iterator[Index]:
    made = make_index(address)
    yield made
    made.close()


def store_of(index: Index) -> PostgresStore:
    assert isinstance(index.store, PostgresStore)
    return index.store


def test_a_nul_character_is_replaced_and_found_again(index: Index) -> None:
    nul = source("a\0b", "One\0two words.", "T\0", note="x\0")
    assert refreshed(index, [nul]).added == 1
    assert refreshed(index, [nul]) == Changes(kept=1)
    whole = index.document("a\0b")
    assert whole is not None
    assert whole.text == "T\ufffd\nOne\ufffdtwo words."


def test_half_a_surrogate_pair_is_looked_for(index: Index) -> None:
    refreshed(index, [FOX])
    assert found(index, "a\ud800") == []
    assert found(index, "fox", only=Filter({"doc_id": ["\ud800", "fox"]})) == ["fox"]


def test_long_values_are_kept_and_found(index: Index) -> None:
    long = "word " * 5000
    refreshed(index, [source("a", "Text.", note=long), source("b", "Text.", note=long + "x")])
    assert found(index, "text", only=Filter({"note": [long]})) == ["a"]


@pytest.fixture(scope="module")
def both(url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Index, Index]]:
    """Return the same 400 documents in SQLite and in PostgreSQL, refreshed twice."""
    path = tmp_path_factory.mktemp("both") / "x.index"
    made = [make_index(str(path)), make_index(f"{url}&index=both")]
    changed = [*invented(400)[50:], *invented(30, seed=2)]
    for index in made:
        refreshed(index, invented(400), embeds=Hashed())
        refreshed(index, changed, embeds=Hashed())
    yield made[0], made[1]
    for index in made:
        index.close()


NARROWED = {
    "all": None,
    "a field": Filter({"kind": ["news"]}),
    "two values": Filter({"percent": ["3", "70"]}),
    "two fields": Filter({"kind": ["web"], "percent": [str(n) for n in range(20)]}),
    "a month": Filter({"date": ["2024-05"]}),
    "since": Filter(since="2024-05-15"),
    "between": Filter(since="2023", until="2024-05"),
    "ids": Filter({"doc_id": ["d1", "d60", "d61"]}),
    "nothing": Filter({"percent": ["100"]}),
}


@pytest.mark.parametrize("only", NARROWED.values(), ids=NARROWED)
def test_words_are_found_as_in_sqlite(both: tuple[Index, Index], only: Filter | None) -> None:
    for start in range(0, len(WORDS) - 6, 12):
        terms = {word: 1.0 + n / 4 for n, word in enumerate(WORDS[start : start + 6])}
        ours, theirs = (index.by_words(terms, 20, only) for index in both)
        assert ours == theirs
    assert both[0].idf(WORDS[:9]) == both[1].idf(WORDS[:9])
    assert both[0].facts == both[1].facts


@pytest.mark.parametrize("only", NARROWED.values(), ids=NARROWED)
def test_vectors_are_found_as_in_sqlite(both: tuple[Index, Index], only: Filter | None) -> None:
    for start in range(0, len(WORDS) - 4, 30):
        vector = Hashed().of(" ".join(WORDS[start : start + 4]))
        ours, theirs = (dict(index.by_vector(vector, 20, only)) for index in both)
        np.testing.assert_allclose(list(ours.values()), list(theirs.values()), atol=1e-5)
        last = min(ours.values(), default=0.0)
        assert {n for n, s in ours.items() if s > last + 1e-5} <= theirs.keys()
    hits = [number for number, _ in both[0].by_vector(Hashed().of("bala"), 9, only)]
    assert both[0].chunks(hits) == both[1].chunks(hits)


def test_a_field_that_no_document_has(both: tuple[Index, Index]) -> None:
    messages = []
    for index in both:
        with pytest.raises(InputError) as error:
            index.by_words({"a": 1.0}, 5, Filter({"kindd": ["news"]}))
        messages.append(str(error.value).partition("unknown")[2])
    assert messages[0] == messages[1]
    assert "did you mean 'kind'" in messages[0]


def planned(address: str, index: Index) -> list[str]:
    """Return the approximate indexes that there are."""
    query = "SELECT indexname FROM pg_indexes WHERE schemaname = %s AND indexdef LIKE '%%hnsw%%'"
    return [
        row[0] for row in asked(address.partition("&index")[0], query, store_of(index).address.name)
    ]


def test_filters_lose_nothing_beside_an_approximate_index(address: str, index: Index) -> None:
    store_of(index).most_looked_at = 1000
    refreshed(index, invented(2100), embeds=Hashed())
    assert planned(address, index) == ["chunks_by_vector"]
    vector = Hashed().of("bala dera")
    one_percent = Filter({"percent": ["7"]})
    fifth = Filter({"percent": [str(number) for number in range(20)]})
    for only in (one_percent, fifth):
        hits = index.by_vector(vector, 20, only)
        assert len(hits) == 20
        scores = [score for _, score in hits]
        assert scores == sorted(scores, reverse=True)
    store_of(index).most_looked_at = 10**9
    exact = index.by_vector(vector, 20, fifth)
    store_of(index).most_looked_at = 1000
    assert index.by_vector(vector, 20, fifth) == exact


def test_an_approximate_index_finds_what_came_after_it(address: str, index: Index) -> None:
    store_of(index).most_looked_at = 1000
    documents = invented(1500)
    refreshed(index, documents, embeds=Hashed())
    new = source("new", "Lonely outlier.")
    refreshed(index, [*documents[1:], new], embeds=Hashed())
    assert ids(index, index.by_vector(Hashed().of("Lonely outlier."), 3))[0] == "new"
    # Many new ones are a reason to build it again; few chunks are a reason to do without.
    refreshed(index, [*documents, *invented(2000, seed=3)[1500:]], embeds=Hashed())
    assert planned(address, index) == ["chunks_by_vector_2"]
    assert len(index.by_vector(Hashed().of("bala"), 20)) == 20
    refreshed(index, documents[:50], embeds=Hashed())
    assert planned(address, index) == []
    assert len(index.by_vector(Hashed().of("bala"), 60)) == 50


def test_a_vector_of_zeros(index: Index) -> None:
    refreshed(index, [source("none", ""), source("some", "bala")], embeds=Hashed())
    hits = index.by_vector(np.zeros(16), 5)
    assert [score for _, score in hits] == [0.0] * len(hits)


KILLED = """
import os, sys
from tests.baseline.index.indexed import refreshed
from tests.baseline.index.servers import invented, Hashed
from trecjudge.baseline.index.index import open_index

class Stopping(Hashed):
    async def embed(self, texts):
        if len(self.asked) > 300:
            print("under way", flush=True)
            sys.stdin.read()
        return await super().embed(texts)

refreshed(open_index(sys.argv[1]), invented(900, seed=5), embeds=Stopping())
"""


def test_a_refresh_that_is_killed_leaves_all_as_it_was(address: str, index: Index) -> None:
    refreshed(index, [FOX, DOG])
    before = index.facts
    command = [sys.executable, "-c", KILLED, address]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"under way\n"
        assert index.facts == before
        assert found(index, "fox") == ["fox", "dog"]
        os.kill(process.pid, signal.SIGKILL)
    assert index.facts == before
    assert refreshed(index, [FOX, DOG, HAN]) == Changes(added=1, kept=2, chunks=1)


def test_two_refreshes_at_once_follow_one_another(address: str, index: Index) -> None:
    threads = [
        threading.Thread(target=refresh_alone, args=(address, [source(f"t{n}", f"Text {n}.")]))
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert index.facts.documents == 4
    assert sorted(found(index, "text")) == ["t0", "t1", "t2", "t3"]


def refresh_alone(address: str, sources: list[object]) -> None:
    other = make_index(address)
    refreshed(other, sources, others=False)  # type: ignore[arg-type]
    other.close()


def test_a_lost_connection_is_opened_again(url: str, index: Index) -> None:
    refreshed(index, [FOX])
    asked(
        url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid != pg_backend_pid()"
        " AND backend_type = 'client backend'",
    )
    with pytest.raises((InputError, OutputError)):
        found(index, "fox")
    assert found(index, "fox") == ["fox"]


def test_two_indexes_in_one_database(url: str, address: str, index: Index) -> None:
    refreshed(index, [FOX])
    other = make_index(f"{url}&index=another")
    assert other.facts.documents == 0
    assert index.facts.documents == 1
    other.close()


def failure(address: str) -> str:
    """Return how opening an index fails, in one line."""
    with pytest.raises((InputError, OutputError)) as error:
        make_index(address)
    message = str(error.value)
    assert "\n" not in message
    return message


def test_no_index_is_there(url: str) -> None:
    with pytest.raises(
        InputError, match=r"there is no such index; make one: run_judge.py rag index"
    ):
        open_index(f"{url}&index=none")


def test_the_server_is_down() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    message = failure(f"postgresql://me:geheim%40x@127.0.0.1:{port}/db")
    assert message.startswith(f"postgresql://***@127.0.0.1:{port}/db: cannot be reached: ")
    assert "refused" in message
    assert "geheim" not in message


def test_a_wrong_password(url: str) -> None:
    ((file,),) = asked(url, "SELECT setting FROM pg_settings WHERE name = 'hba_file'")
    rules = Path(file).read_text()
    asked(url, "CREATE ROLE stranger LOGIN PASSWORD 'right'")
    try:
        Path(file).write_text(f"local all stranger scram-sha-256\n{rules}")
        asked(url, "SELECT pg_reload_conf()")
        message = failure(url.replace("postgres:@", "stranger:geheim%40x@"))
    finally:
        Path(file).write_text(rules)
        asked(url, "SELECT pg_reload_conf()")
        asked(url, "DROP ROLE stranger")
    assert 'password authentication failed for user "stranger"; set PGPASSWORD' in message
    assert "geheim" not in message


def test_a_user_who_may_not_make_an_extension(url: str) -> None:
    asked(url, "DROP DATABASE IF EXISTS bare")
    asked(url, "CREATE DATABASE bare")
    asked(url, "DROP ROLE IF EXISTS guest")
    asked(url, "CREATE ROLE guest LOGIN")
    asked(url, "GRANT CREATE ON DATABASE bare TO guest")
    message = failure(url.replace("postgres:@/postgres", "guest:@/bare"))
    assert "may not create the extension `vector`; ask an administrator" in message
    asked(url, "DROP DATABASE bare")


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("postgresql://me:geheim@host:port/db", "is not valid: write postgresql://"),
        ("postgresql://me:geheim@host/db?nonsense=1", "is not valid"),
        ("postgresql://me:geheim@host/db?index=Großes", "must be small letters"),
        ('postgresql://me:geheim@host/db?index=a";drop', "must be small letters"),
    ],
)
def test_addresses_that_cannot_be(address: str, message: str) -> None:
    pytest.importorskip("psycopg")
    found = failure(address)
    assert message in found
    assert "geheim" not in found


def test_no_password_is_shown(address: str) -> None:
    index = make_index(f"{address}&password=geheim")
    try:
        assert "geheim" not in repr(index)
        with pytest.raises(InputError) as error:
            index.by_vector([1.0], 5)
        assert "geheim" not in str(error.value)
        with pytest.raises(InputError) as error:
            make_index(f"{address}&password=geheim", ChunkSettings(50, 5))
        assert "geheim" not in str(error.value)
    finally:
        index.close()


DOCS = Path(__file__).parents[3] / "docs" / "retrieval.md"
DAM = source("dam", "Dams hold rivers back.", "Dams", date="2023-01-01", lang="en")
NEW = source("new", "Dams hold rivers in the north.", "North", date="2024-05-01", lang="en")
ALT = source("alt", "Katzen schlafen.", "Tiere", date="2024-06-01", lang="de")


def test_the_queries_of_the_page_find_what_they_say(index: Index, url: str) -> None:
    refreshed(index, [DAM, NEW, ALT], embeds=Hashed("words"))
    text = DOCS.read_text(encoding="utf-8").partition("<!-- sql -->\n```sql\n")[2]
    queries = [query for query in text.partition("```")[0].split(";") if query.strip()]
    queries += [
        "SELECT chunk_index, content FROM chunks WHERE document_id = 'dam' ORDER BY chunk_index",
        "SELECT embedding_model, embedding_dimensions FROM state",
    ]
    within = f"{url}&options=-csearch_path%3D{store_of(index).address.name},public"
    english, near, chunks, model = (asked(within, query) for query in queries)
    assert chunks == [(0, "Dams hold rivers back.")]
    assert [row[0] for row in english] == ["dam", "new"]
    assert [row[0] for row in near] == ["new", "alt"]
    vectors = Hashed("words")
    own, other = (vectors.of(s.document.full_text) for s in (DAM, NEW))
    assert near[0][1] == pytest.approx(float(own @ other), abs=1e-6)
    assert model == [("words", 16)]


def test_a_vector_of_another_length_is_refused_by_the_database(index: Index, url: str) -> None:
    refreshed(index, [DAM], embeds=Hashed("words"))
    refreshed(index, [DAM, NEW], embeds=Hashed("words"))  # pinned once, written again
    name = store_of(index).address.name
    with pytest.raises(Exception, match="expected 16 dimensions, not 2"):
        asked(url, f"UPDATE {name}.chunks SET embedding = '[1,0]'")


def test_tables_laid_out_before_are_refused_with_what_to_do(index: Index, url: str) -> None:
    name = store_of(index).address.name
    asked(url, f"UPDATE {name}.state SET shape = 1")
    said = f'is of version 1, and this program reads 2; DROP SCHEMA "{name}" CASCADE, and index'
    with pytest.raises(InputError, match=said):
        found(index, "dam")
