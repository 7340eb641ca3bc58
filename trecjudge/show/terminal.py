"""A response and its judgments for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from trecjudge.errors import InputError, unknown
from trecjudge.findings import visible
from trecjudge.judging.claims.kinds import kind_not_stated
from trecjudge.records import Judgment, Response, Sentence
from trecjudge.records.signs import SIGN_KINDS
from trecjudge.results.judgments import JudgmentsReader
from trecjudge.show.formats import TopicNames
from trecjudge.show.retrieval import provenance_text
from trecjudge.show.tones import (
    GROUPS,
    SIGNS,
    SentenceMarks,
    Stating,
    Tone,
    by_tone,
    marks_of,
    paths_by_judge,
    statings,
    tone,
    word,
)
from trecjudge.text.languages import ENGLISH, UNKNOWN, language_of

STYLES: Mapping[Tone, str] = {
    "good": "green",
    "part": "yellow",
    "bad": "red",
    "against": "red",
    "missing": "magenta",
    "unjudged": "bright_black",
    "plain": "default",
}


SUMMED: Final[Sequence[Tone]] = ("bad", "missing", "against", "part", "good", "plain", "unjudged")
"""The tones in the order in which a summary counts them."""
WRONG: Final[Sequence[Tone]] = SUMMED[:3]
MOST_PLACES: Final = 20
"""Topics or runs that a summary names, those with most that is wrong first."""


class LabelCounts:
    """How often each judge said what of responses, in all, and by run, or by topic of one run."""

    def __init__(self) -> None:
        self._words: dict[str, Counter[tuple[Tone, str]]] = {}
        self._places: dict[str, Counter[tuple[str, str, bool]]] = {}
        """By judge: how often on (run_id, topic_id) something is wrong, or is not."""

    def add(self, response: Response, judgments: Sequence[Judgment]) -> None:
        """Count the judgments on a response, those on one nugget as one."""
        # What is plain on the whole response, such as ABSTAINED, is no item beside its sentences.
        said = [
            (j.judge, tone(j), word(j))
            for j in judgments
            if j.nugget is None and (j.sentence_index is not None or tone(j) != "plain")
        ]
        said += [(s.judge, s.tone, GROUPS.get(s.tone, "")) for s in statings(response, judgments)]
        for judge, of_all, label in said:
            if label:  # else it is a value
                self._words.setdefault(judge, Counter())[of_all, label] += 1
                place = response.run_id, response.topic_id, of_all in WRONG
                self._places.setdefault(judge, Counter())[place] += 1

    def lines(self) -> Iterator[str]:
        """Yield a line for each judge, and one on where most is wrong."""
        for judge, words in self._words.items():
            ordered = sorted(words, key=lambda key: (SUMMED.index(key[0]), -words[key]))
            counts = [f"{words[key]} {key[1]}" for key in ordered]
            counts[0] = f"{words[ordered[0]]} of {words.total()} {ordered[0][1]}"
            yield f"{judge}: {', '.join(counts)}"
            if wrong := [said for of_all, said in ordered if of_all in WRONG]:
                yield from self._place_lines(self._places[judge], ", ".join(wrong))

    def _place_lines(self, places: Counter[tuple[str, str, bool]], wrong: str) -> Iterator[str]:
        by_run = len({run_id for run_id, _, _ in places}) > 1
        found: dict[str, Counter[bool]] = {}
        for (run_id, topic_id, is_wrong), count in places.items():
            found.setdefault(run_id if by_run else topic_id, Counter())[is_wrong] += count
        if len(found) > 1:
            names = (lambda run_id: run_id) if by_run else TopicNames().of
            wrong_on = (name for name in found if found[name][True])
            worst = sorted(wrong_on, key=lambda name: -found[name][True])
            parts = [f"{names(n)} {found[n][True]} of {found[n].total()}" for n in worst]
            more = [f"… {len(parts) - MOST_PLACES} more"][: len(parts) > MOST_PLACES]
            listed = ", ".join((*parts[:MOST_PLACES], *more))
            yield f"  {wrong} by {'run' if by_run else 'topic'}: {listed}"


def summary_view(counts: LabelCounts) -> Group:
    """Return the lines of a summary, if there are any, and an empty one behind them."""
    lines = [Text(visible(line)) for line in counts.lines()]
    return Group(*lines, *[Text()][: len(lines)])


def find_response(path: Path, run_id: str, topic_id: str) -> tuple[Response, list[Judgment]]:
    """Return a response with its judgments. Raises InputError with the choices."""
    topics: dict[str, list[str]] = {}
    reader = JudgmentsReader(path)
    for response, judgments in reader:
        if (response.run_id, response.topic_id) == (run_id, topic_id):
            reader.check_rest()  # a file that breaks off later must not look complete
            return response, judgments
        # Kept for the message, in case nothing fits.
        topics.setdefault(response.run_id, []).append(response.topic_id)
    if run_id not in topics:
        raise InputError(unknown("run", run_id, topics))
    raise InputError(
        f"run {run_id!r} has no response on it: {unknown('topic', topic_id, topics[run_id])}"
    )


def response_view(response: Response, judgments: Sequence[Judgment]) -> Group:
    """Return a response with its judgments, as the report shows it."""
    stated = statings(response, judgments)
    apart = {one.place for one in stated}
    others = [judgment for place, judgment in enumerate(judgments) if place not in apart]
    parts: list[RenderableType] = [_head(response), Text(), *_judgments(others, None, 0)]
    marks = {judge: found for judge, found in marks_of(judgments).items() if found.tones}
    if len(marks) > 1:
        parts.append(Text(f"signs by {', '.join(map(visible, marks))}", "dim"))
    signs = {s.index: _signs(s.index, marks.values()) for s in response.sentences}
    width = max((len(found) for found in signs.values()), default=1)
    paths = [path for own in paths_by_judge(response, judgments).values() for path in own]
    for sentence in response.sentences:
        parts.append(_sentence(sentence, signs[sentence.index], width))
        parts += (
            _indent(Text(path.line, STYLES[path.tone]), 6)
            for path in paths
            if path.path.sentence_index == sentence.index
        )
        parts += _judgments(others, sentence.index, 6)
        parts += _origins(response, sentence.index)
    if not response.sentences:
        parts.append(Text("the response has no sentence", "italic"))
    return Group(*parts, *_nuggets(judgments, stated))


def chosen_view(response: Response, judgments: Sequence[Judgment]) -> Group:
    """Return some judgments on a response, each under its sentence; sentences count from 1."""
    parts: list[RenderableType] = [_head(response), *_judgments(judgments, None, 2)]
    for sentence in response.sentences:
        mine = [j for j in judgments if j.sentence_index == sentence.index]
        if mine:
            signs = _signs(sentence.index, marks_of(mine).values())
            parts.append(_sentence(sentence, signs, max(len(signs), 1)))
            parts += _judgments(mine, sentence.index, 6)
            parts += _origins(response, sentence.index)
    return Group(*parts)


def _head(response: Response) -> Text:
    names = visible(response.run_id), visible(response.topic_id)
    language = language_of(response.text)
    said = "" if language in (ENGLISH, UNKNOWN) else f", language {language}"
    return Text.assemble((names[0], "bold"), " on ", (names[1], "bold"), said)


def _nuggets(judgments: Sequence[Judgment], stated: Sequence[Stating]) -> Iterator[RenderableType]:
    groups = by_tone(stated)
    if groups:
        counts = (f"{len(own)} {GROUPS[name]}" for name, own in groups.items())
        yield Text(f"\nnuggets: {', '.join(counts)}", "bold")
    for own in groups.values():
        for one in own:
            lines = [*_lines(judgments[one.place], one.tone)]
            if one.where:
                indexes = dict.fromkeys(str(index + 1) for index, *_ in one.where)
                lines.append(Text(f"in sentence {', '.join(indexes)}", "dim"))
            yield from _hang(lines, 2)


def _signs(index: int, marks: Iterable[SentenceMarks]) -> Text:
    """Return the sign of each judge for a sentence; a `?` after it where something is unjudged."""
    signs = Text()
    for found in marks:
        of_all = found.tones.get(index, "plain")
        signs.append(SIGNS[of_all], STYLES[of_all])
        if index in found.open:
            signs.append(SIGNS["unjudged"], STYLES["unjudged"])
    return signs or Text(SIGNS["plain"])


def _sentence(sentence: Sentence, signs: Text, width: int) -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", width=3)
    grid.add_column(width=width)
    grid.add_column(overflow="fold")
    grid.add_row(str(sentence.index + 1), signs, Text(visible(sentence.shown)))
    return grid


def _indent(text: Text, columns: int) -> Padding:
    return Padding(text, (0, 0, 0, columns), expand=False)


def _hang(lines: Iterable[Text], columns: int) -> Iterator[Padding]:
    """Yield the first line, and those below it two columns further in, also where they wrap."""
    first, *rest = lines
    yield _indent(first, columns)
    yield from (_indent(line, columns + 2) for line in rest)


def _origins(response: Response, index: int) -> Iterator[Padding]:
    lines = [provenance_text(line) for line in response.provenance if line.sentence_index == index]
    of_sentence = (name for name, sign in response.signs.items() if index in sign.at)
    lines += filter(None, (SIGN_KINDS[name].sentence for name in of_sentence))
    yield from (_indent(Text(line, "dim"), 6) for line in lines)


def _judgments(every: Iterable[Judgment], index: int | None, columns: int) -> Iterator[Padding]:
    """Yield the judgments on a sentence, for None those on the whole response."""
    for judgment in every:
        if judgment.sentence_index == index:
            yield from _hang(_lines(judgment), columns)


def _lines(judgment: Judgment, of_all: Tone | None = None) -> Iterator[Text]:
    """Yield a judgment: sign, document, word, judge; then claim or nugget, reason, evidence."""
    found = of_all or tone(judgment)
    against = f"against {judgment.opponent.run_id}:" if judgment.opponent else ""
    on = judgment.doc_id or judgment.citation or against
    parts = [SIGNS[found], on, word(judgment), judgment.match]
    if judgment.value is not None:
        parts.append(f"{judgment.value:.3f}")
    yield Text.assemble(
        (visible(" ".join(filter(None, parts))), STYLES[found]), (f" ({judgment.judge})", "dim")
    )
    if judgment.claim is not None:
        sure = "" if judgment.confidence is None else f" ({judgment.confidence:.2f})"
        kind = ", ".join(filter(None, ("claim", kind_not_stated(judgment))))
        yield Text(f"{kind}{sure}: {visible(judgment.claim.text)}")
    if judgment.nugget is not None:
        named = ", ".join(filter(None, ("nugget", judgment.nugget.rank)))
        yield Text(f"{visible(named)}: {visible(judgment.about)}")
    if judgment.failure is not None:
        yield Text(visible(f"{judgment.failure.kind}: {judgment.failure.message}"))
    if judgment.reason:
        yield Text(visible(judgment.reason), "dim")
    if judgment.uncalibrated:
        yield Text(f"no weight to expect: not calibrated for {judgment.uncalibrated}", "dim")
    for start, end, quote in _passages(judgment):
        yield Text.assemble((f"[{start}-{end}] ", "dim"), visible(f"“{' '.join(quote.split())}”"))


def _passages(judgment: Judgment) -> Iterator[tuple[int, int, str]]:
    """Yield the evidence, and the sources of a claim, as far as their text is there."""
    evidence = judgment.evidence
    if evidence is not None and evidence.quote:
        yield evidence.start, evidence.end, evidence.quote
    for source in judgment.sources:
        if source.excerpt and (evidence is None or source.start != evidence.start):
            yield source.start, source.end, source.excerpt
