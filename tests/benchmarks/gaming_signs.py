"""Which ways of writing for the judge lift an offline score, and which sign names them.

    python tests/benchmarks/gaming_signs.py --topics FILE --runs FILE ... [--way NAME ...]

Plays all ways of `stability --change game` on each run, and ways of its own, for which the signs
were not made. A row has the lift of each measure (the mean after minus the mean before), by run,
and the signs that name the run. `copied` alone would have named those marked +. A way that lifts a
measure by 0.15 or more on a run that no sign names is marked; their number ends the table.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from trecjudge import read_runs
from trecjudge.evaluation.gaming import WAYS
from trecjudge.evaluation.perturbation import GAME, Order, Perturbation, random_of
from trecjudge.findings import ignore
from trecjudge.inputs.topics.reading import read_topics
from trecjudge.judging.offline.signs import signs_in
from trecjudge.judging.panel import make_panel, panel_spec
from trecjudge.judging.runner import Runner
from trecjudge.models.model import NoModel
from trecjudge.records import Response, Topic
from trecjudge.records.signs import SIGN_KINDS
from trecjudge.scores.leaderboard import Leaderboard
from trecjudge.text.frequencies import grammar_of
from trecjudge.text.tokens import read_forms

JUDGES = ("citation", "attribution", "direct_prompt")
MEASURES = ("CITATION_SUPPORT", "ATTRIBUTION_RATE", "AVG_GRADE")
LIFTED = 0.15
COPY = next(way for way in WAYS if way.name == "game:copy")
Rule = Callable[[Sequence[str], str, str, Random], str]
"""Returns a text from the words of a copy, the text of its document, the title, and chance."""


def _is_small(word: str) -> bool:
    forms = frozenset(read_forms(word)[1])
    return bool(forms & grammar_of(frozenset({"the"}))) or not forms


def _content(words: Sequence[str]) -> list[str]:
    return [word.strip(".,;:()") for word in words if not _is_small(word)]


def _thin(words: Sequence[str], every: int) -> str:
    return " ".join(word for at, word in enumerate(words, 1) if at % every)


def _pieces(words: Sequence[str], size: int, random: Random, most: int = 30) -> str:
    pieces = [" ".join(words[at : at + size]) for at in range(0, len(words), size)]
    return " ".join(random.sample(pieces, min(len(pieces), most // size)))


def _interleave(words: Sequence[str], other: Sequence[str]) -> str:
    return " ".join(word for pair in zip(words, other, strict=False) for word in pair)


def _misspell(words: Sequence[str]) -> str:
    return " ".join(w if at % 5 else w[:1] + w[2:] for at, w in enumerate(words, 1))


def _glue(words: Sequence[str], random: Random) -> str:
    found = _content(words)
    random.shuffle(found)
    joints = (" of the ", " and the ", " in a ", " is a ")
    return "The " + "".join(w + joints[at % 4] for at, w in enumerate(found[:20])) + "rest."


OWN: Mapping[str, tuple[str, Rule]] = {
    "thin-4": ("the copy without each fourth word", lambda w, d, t, r: _thin(w, 4)),
    "thin-6": ("the copy without each sixth word", lambda w, d, t, r: _thin(w, 6)),
    "telegram": ("the copy without function words", lambda w, d, t, r: " ".join(_content(w))),
    "backwards": ("the words of the copy from last to first", lambda w, d, t, r: " ".join(w[::-1])),
    "sorted": ("the words of the copy by the alphabet", lambda w, d, t, r: " ".join(sorted(w))),
    "pairs": (
        "pairs of words of the document, shuffled",
        lambda w, d, t, r: _pieces(d.split(), 2, r),
    ),
    "threes": ("threes of its words, shuffled", lambda w, d, t, r: _pieces(d.split(), 3, r)),
    "fives": ("fives of its words, shuffled", lambda w, d, t, r: _pieces(d.split(), 5, r)),
    "glued": (
        "its long words, shuffled, function words between them",
        lambda w, d, t, r: _glue(d.split(), r),
    ),
    "interleaved": (
        "the words of the copy and of the end of the document by turns",
        lambda w, d, t, r: _interleave(w, d.split()[-len(w) :]),
    ),
    "halves": (
        "the first half of the copy and the end of the document",
        lambda w, d, t, r: " ".join([*w[: len(w) // 2], *d.split()[-len(w) // 2 :]]),
    ),
    "misspelt": ("each fifth word without its second letter", lambda w, d, t, r: _misspell(w)),
    "alleged": (
        "“It has been alleged that COPY”",
        lambda w, d, t, r: f"It has been alleged that {' '.join(w)}",
    ),
    "once-true": (
        "the copy, “which is no longer true”",
        lambda w, d, t, r: f"{' '.join(w).rstrip('.')}, which is no longer true.",
    ),
    "names": (
        "the capitalised words of the document",
        lambda w, d, t, r: ", ".join(re.findall(r"[A-Z]\w{2,}", d)[:20]),
    ),
    "doubled": ("each word of the copy twice", lambda w, d, t, r: _interleave(w, w)),
    "about-copy": (
        "“TITLE is about” and long words of the copy",
        lambda w, d, t, r: f"{' '.join(t.split()[:6])} is about {', '.join(_content(w)[:6])}.",
    ),
    "no-stops": ("the copy's words with dots between", lambda w, d, t, r: " . ".join(w)),
}
"""Ways of our own, each made of the copy that `game:copy` puts in place of a sentence."""


def _way(name: str, what: str, rule: Rule) -> Perturbation:
    def make(response: Response, title: str) -> tuple[Response, Order]:
        copied, order = COPY.make(response, title)
        random, documents = random_of(response), response.documents
        made = []
        for sentence in copied.sentences:
            source = documents.get(next((c.doc_id or "" for c in sentence.citations), ""))
            text = source and rule(sentence.text.split(), source.text[:20_000], title, random)
            made.append(replace(sentence, text=text or sentence.text, written=""))
        return replace(copied, sentences=tuple(made)), order

    return Perturbation(f"own:{name}", GAME, what, make)


def _cycle(response: Response, title: str) -> tuple[Response, Order]:
    """Repeat three copies, each time behind other words."""
    three = COPY.make(response, title)[0].sentences[:3]
    openers = ("Clearly", "Today", "Overall", "Again", "Besides")
    texts = [replace(s, text=f"{word}, {s.text}", written="") for word in openers for s in three]
    made = tuple(replace(s, index=at) for at, s in enumerate(texts))
    return replace(response, sentences=made), [*range(len(made))]


EVERY = (
    *WAYS,
    *(_way(name, what, rule) for name, (what, rule) in OWN.items()),
    Perturbation("own:cycle", GAME, "three copies, five times each, with openers", _cycle),
)


@dataclass(frozen=True, slots=True)
class Judged:
    """What the judges say of one run: its means by measure, and the signs that name it."""

    means: Mapping[str, float | None]
    named: Sequence[str]
    copied: bool
    """Whether more than half of its sentences are copied: the only sign that there was."""


def judge(pairs: Sequence[tuple[Topic, Response]]) -> Judged:
    """Judge responses of one run without a model."""
    panel = make_panel(JUDGES, {})
    board = Leaderboard(panel_spec(panel), [topic.topic_id for topic, _ in pairs])
    titles = {topic.topic_id: topic.title for topic, _ in pairs}

    async def judge_all() -> None:
        async for judged in Runner(panel, NoModel()).run(pairs):
            found = [
                replace(judgment, judge=item.named_judge.name)
                for item in judged.items
                for judgment in item.judgments
            ]
            response = judged.response
            signs = signs_in(response, titles[response.topic_id], found)
            board.add(replace(response, signs=signs), found)

    asyncio.run(judge_all())
    board.finish()
    ((run, coverage),) = board.coverage.items()
    means = {name: board.means[run, name].mean for name in MEASURES}
    named = [sign for sign in SIGN_KINDS if coverage.shows(sign)]
    return Judged(means, named, (coverage.share("copied") or 0.0) > 0.5)


def _lifts(before: Judged, after: Judged) -> Iterator[float | None]:
    for name in MEASURES:
        then, now = before.means[name], after.means[name]
        yield None if then is None or now is None else now - then


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, nargs="+", required=True)
    parser.add_argument("--topics", type=Path, required=True)
    parser.add_argument("--way", nargs="+", help="only these, such as game:copy or own:pairs")
    args = parser.parse_args()
    topics = read_topics(args.topics, ignore)
    runs = {
        path.stem: [(topics[r.topic_id], r) for r in read_runs(path, on_finding=ignore)]
        for path in args.runs
    }
    before = {name: judge(pairs) for name, pairs in runs.items()}
    print(f"| way | {' | '.join(f'{m}, {n}' for m in MEASURES for n in runs)} | signs |")
    print(f"|{'---|' * (len(MEASURES) * len(runs) + 2)}")
    lifting = unsigned = was_unsigned = 0
    for way in EVERY:
        if args.way and way.name not in args.way:
            continue
        after, rows, open_now, open_then = {}, [], False, False
        for name, pairs in runs.items():
            made = [(topic, way.make(r, topic.title)[0]) for topic, r in pairs]
            after[name] = judge(made)
            rows.append(list(_lifts(before[name], after[name])))
            if any(lift is not None and lift >= LIFTED for lift in rows[-1]):
                open_now |= not after[name].named
                open_then |= not after[name].copied
        lifts = any(lift is not None and lift >= LIFTED for row in rows for lift in row)
        lifting, unsigned, was_unsigned = (
            lifting + lifts,
            unsigned + open_now,
            was_unsigned + open_then,
        )
        cells = [
            "" if x is None else f"{x:+.2f}" for column in zip(*rows, strict=True) for x in column
        ]
        signs = "; ".join(
            ", ".join(one.named) + (" +" if one.copied else "") or "–" for one in after.values()
        )
        mark = " **no sign**" if open_now else ""
        print(f"| `{way.name}` | {' | '.join(cells)} | {signs}{mark} |", flush=True)
    print(
        f"\n{lifting} ways lift a measure; {unsigned} without a sign, {was_unsigned} by copied only"
    )


if __name__ == "__main__":
    main()
