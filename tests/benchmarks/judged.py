"""Invented judgments files of TREC's size: texts of real length, the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from invented import WORDS

from trecjudge.records import GRADES, Citation, Evidence, Judgment, Response, Sentence
from trecjudge.results.judgments import Header, JudgmentsWriter
from trecjudge.results.outputs import Outputs

CITATIONS = 4
"""Citations of a sentence."""
DOCUMENTS = 500
"""Documents of a topic, from which all runs cite."""
TEXTS = 2_000
"""Texts that are drawn from: to invent one for each judgment would take longer than to judge it."""
FLIPPED = 0.15
LABELS = tuple(GRADES)


def write_judged(
    folder: Path, name: str, runs: int, topics: int, pairs: int, seed: int, scored: bool = False
) -> Path:
    """Write the judgments of `pairs` sentence-document pairs of each response; return the file.

    Files of other seeds are on the same items, and have another label on about `FLIPPED` of them;
    with `scored`, every judgment has a value too.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = Outputs(folder, name).judgments
    with path.open("wb") as file:
        writer = JudgmentsWriter(file)
        writer.header(Header({"citation": {}}, {}, topics=tuple(_topics(topics))))
        for response in responses(runs, topics, pairs):
            made = _judgments(response, random.Random(f"{seed} {response.run_id}"), scored)
            writer.response(response, [("citation", judgment) for judgment in made])
        writer.end()
    return path


def responses(runs: int, topics: int, pairs: int) -> Iterator[Response]:
    """Yield the responses of all runs, run by run."""
    sentences = _texts(random.Random(1), 150)
    for run in range(runs):
        chance = random.Random(run)
        for topic_id in _topics(topics):
            yield _response(f"run-{run:02}", topic_id, pairs, sentences, chance)


def _topics(topics: int) -> list[str]:
    return [str(1000 + topic) for topic in range(topics)]


def _response(
    run_id: str, topic_id: str, pairs: int, texts: Sequence[str], chance: random.Random
) -> Response:
    numbers = chance.sample(range(DOCUMENTS), min(DOCUMENTS, pairs))
    ids = [f"msmarco_v2.1_doc_{topic_id}_{n:08}#{n % 10}_{n * 7919:09}" for n in numbers]
    places = range(pairs)
    sentences = tuple(
        Sentence(
            index,
            chance.choice(texts),
            tuple(
                Citation(ids[at % len(ids)], str(at)) for at in places[start : start + CITATIONS]
            ),
        )
        for index, start in enumerate(range(0, pairs, CITATIONS))
    )
    return Response(run_id, topic_id, sentences, "invented", tuple(ids))


def _judgments(response: Response, chance: random.Random, scored: bool) -> Iterator[Judgment]:
    reasons, quotes = _texts(random.Random(2), 170), _texts(random.Random(3), 290)
    # The same for all seeds, but for a share that each seed draws anew.
    common = random.Random(f"{response.run_id} {response.topic_id}")
    for sentence in response.sentences:
        for citation in sentence.citations:
            drawn = chance if chance.random() < FLIPPED else common
            label, start = drawn.choice(LABELS), common.randrange(500)
            quote = common.choice(quotes)
            yield Judgment(
                response.run_id,
                response.topic_id,
                sentence.index,
                citation.doc_id,
                citation.value,
                True,
                label,
                GRADES[label],
                round(chance.random(), 4) if scored else None,
                common.choice(reasons),
                Evidence(start, start + len(quote), quote),
                "lexical",
                expected=round(common.random(), 4),
            )


_MADE: dict[tuple[int, int], list[str]] = {}


def _texts(chance: random.Random, length: int) -> list[str]:
    found = _MADE.get((length, TEXTS))
    if found is None:
        words = [chance.choices(WORDS, k=length // 5) for _ in range(TEXTS)]
        found = _MADE[length, TEXTS] = [" ".join(text)[:length] for text in words]
    return found
