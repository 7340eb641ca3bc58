"""Numbers as people read them, with named decimals: means, intervals, bounds, shares, sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, Final

from trecjudge.findings import plural, visible
from trecjudge.inputs.pipelines.parts import words_of_id

if TYPE_CHECKING:
    from trecjudge.results.statistics import RunScore, Unjudged
    from trecjudge.scores.leaderboard import Coverage

MEAN_DIGITS: Final = 3
"""Of a mean in a table of runs, and of an interval beside it."""
BOUND_DIGITS: Final = 2
"""Of the bounds beside such a mean: a table has little room."""
FIGURE_DIGITS: Final = 4
MOST_PAIRS = 6
"""Pairs of voters that have a line."""


class TopicNames:
    """Topics as tables name them: one whose id was made from a question by its first words.

    Ids that users gave stay. Where two questions begin alike, the second has its whole id.
    """

    def __init__(self) -> None:
        self._by_words: dict[str, str] = {}

    def of(self, topic_id: str) -> str:
        """Return the name of a topic, always the same one."""
        words = words_of_id(topic_id)
        is_first = bool(words) and self._by_words.setdefault(words, topic_id) == topic_id
        return words if is_first else topic_id


def number(value: float | None, digits: int = FIGURE_DIGITS) -> str:
    """Return a number with so many decimals, `n/a` for None."""
    return "n/a" if value is None else f"{value:.{digits}f}"


def decimal(value: float | None, digits: int) -> str:
    """Return a number as `number` does, but never a negative zero."""
    text = number(value, digits)
    return text.removeprefix("-") if text.strip("-0.") == "" else text


def signed(value: float | None, digits: int = MEAN_DIGITS) -> str:
    """Return a difference as `+0.012`, never a negative zero, `n/a` for None."""
    text = decimal(value, digits)
    return text if value is None or text.startswith("-") else f"+{text}"


def interval(
    bounds: Iterable[float | None],
    digits: int = MEAN_DIGITS,
    form: str = "{} to {}",
    none: str = "n/a",
) -> str:
    """Return bounds in a form such as `0.41 to 0.60`, `none` where there is no interval."""
    low, high = bounds
    if low is None or high is None:
        return none
    return form.format(number(low, digits), number(high, digits))


def bracket_interval(bounds: Iterable[float | None], digits: int) -> str:
    """Return `[0.410, 0.600]`, without a negative zero; nothing where there is no interval."""
    low, high = bounds
    if low is None or high is None:
        return ""
    return f"[{decimal(low, digits)}, {decimal(high, digits)}]"


def probability(p: float | None) -> str:
    """Return a p value; of the smallest only the order of magnitude."""
    if p is None:
        return "n/a"
    return f"{p:.4f}" if p >= 0.0001 else f"{p:.0e}"


def gaps(unjudged: Unjudged | None) -> str:
    """Return unjudged items and the bounds of a mean, `n/a` where nothing is known of them."""
    return "n/a" if unjudged is None else unjudged.with_bounds


def share_text(share: float | None) -> str:
    """Return `51 %`, `n/a` where the share is not known."""
    return "n/a" if share is None else f"{share * 100:.0f} %"


MOST_LANGUAGES = 3


def languages_text(counts: Mapping[str, int]) -> str:
    """Return `ar 8, fa 2`, the most frequent first."""
    found = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    more = ", …" if len(found) > MOST_LANGUAGES else ""
    return ", ".join(f"{code} {count}" for code, count in found[:MOST_LANGUAGES]) + more


def language_cell(counts: Mapping[str, int]) -> str:
    """Return the languages of a run: without a count where it is one."""
    return next(iter(counts)) if len(counts) == 1 else languages_text(counts)


def withheld_text(withheld: Mapping[str, int], what: str) -> str:
    """Return what it means that some have no probability, by language."""
    return (
        f"no probabilities: {plural(sum(withheld.values()), what)} ({languages_text(withheld)})"
        " with a label only, since the offline attester has no calibration there"
        " (calibrate --labels)"
    )


_MOST_WORDS = 5


def question_lines(runs: Iterable[Coverage]) -> Iterator[str]:
    """Yield a line on the kinds of question whose documents lack words, and one on these words."""
    failing, asked, missing = Counter[str](), Counter[str](), Counter[str]()
    for run in runs:
        missing.update(run.missing)
        for kind, (failed, of) in run.questions.items():
            failing[kind] += failed
            asked[kind] += of
    kinds = [(kind, failed, asked[kind]) for kind, failed in failing.items() if failed]
    kinds.sort(key=lambda found: (-found[1] / found[2], -found[1], found[0]))
    if kinds:
        parts = (f"{kind} {failed} of {of}" for kind, failed, of in kinds)
        what = "responses whose documents lack half of the topic's words"
        yield visible(f"{what}, by kind of question: {', '.join(parts)}")
    words = sorted(missing.items(), key=lambda found: (-found[1], found[0]))
    if words:
        parts = (f"{word} {count}" for word, count in words[:_MOST_WORDS])
        more = ", …" if len(words) > _MOST_WORDS else ""
        yield visible(f"words of topics that are lacking, by responses: {', '.join(parts)}{more}")


def format_size(size: float) -> str:
    """Return a number of bytes as a person reads it: `980 bytes`, `2.5 kB`, `1.4 GB`."""
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size:.0f} bytes"


def rank_text(score: RunScore) -> str:
    """Return the rank of a run: `2=` for all that are second together, `?` where it has none."""
    if score.rank is None:
        return "?"
    return f"{score.rank}=" if score.ties else str(score.rank)


def letters(groups: Sequence[str]) -> str:
    """Return letters of groups as one word, three and more in a row as `a-d`."""
    runs: list[list[str]] = []
    for letter in sorted(groups, key=_place):
        if runs and _place(letter) == _place(runs[-1][-1]) + 1:
            runs[-1].append(letter)
        else:
            runs.append([letter])
    parts = [part for run in runs for part in ([f"{run[0]}-{run[-1]}"] if len(run) > 2 else run)]
    return ("" if all(len(part) == 1 for part in parts) else ",").join(parts)


def _place(letter: str) -> int:
    """Return the place of `a` to `z`, then `aa`, `ab`, ..."""
    place = 0
    for character in letter:
        place = place * len(ascii_lowercase) + ord(character) - ord("a") + 1
    return place


def rank_bounds(score: RunScore, form: str = "{}-{}") -> str:
    """Return `1-3`, the 95 % interval of a rank; nothing where there is none or it is open."""
    if score.rank_low is None or score.rank_high is None or score.is_open:
        return ""
    return form.format(score.rank_low, score.rank_high)


def describe_test(test: str) -> str:
    """Return what told runs apart; the test of statistics that do not name it was Holm's."""
    name, _, how = test.partition(": ")
    known = {"tukey": "randomised Tukey HSD over topics"}
    parts = (known.get(name, "paired sign-flip test over topics, Holm"), "p < 0.05", how)
    return ", ".join(filter(None, parts))


def bounds_text(mean: RunScore) -> str:
    """Return `0.40-0.60` where unjudged items leave a mean open, nothing where all is judged."""
    if not mean.is_open:
        return ""
    return interval((mean.lowest or 0.0, mean.highest or 0.0), BOUND_DIGITS, "{}-{}")


def mean_text(mean: RunScore) -> str:
    """Return `0.512`, with bounds `0.512 (0.40-0.60)` where unjudged items leave it open."""
    value, bounds = number(mean.mean, MEAN_DIGITS), bounds_text(mean)
    return f"{value} ({bounds})" if bounds else value


def cell_text(value: object) -> str:
    """Return a value as a cell of a file of CSV: nothing for None, `true` and `false`."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def voter_lines(voters: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return lines on how the voters of each judge agree."""
    lines = []
    for own in voters:
        alpha = _agreement("alpha", own["alpha"], own["alpha_interval"])
        items = plural(own["items"], "item")
        lines.append(f"voters of {own['judge']}: differ on {own['differ']} of {items}{alpha}")
        lines += [
            f"  samples of {one['voter']}: differ on {one['differ']} of {one['items']} items,"
            f" flip rate {one['flip_rate']:.1%}"
            for one in own["samples"]
        ]
        for pair in own["pairs"][:MOST_PAIRS]:
            kappa = _agreement("kappa", pair["kappa"], pair["interval"])
            names = " and ".join(pair["voters"])
            lines.append(f"  {names}: the same on {pair['same']:.1%} of {pair['items']}{kappa}")
        if (rest := len(own["pairs"]) - MOST_PAIRS) > 0:
            lines.append(f"  … {rest} more pairs: --json shows all")
        failed = own["failed"].items()
        lines += [f"  {name}: no vote on {plural(count, 'item')}" for name, count in failed]
    return [visible(line) for line in lines]


def _agreement(name: str, value: float | None, bounds: Sequence[float | None]) -> str:
    if value is None:
        return f", {name} not defined"
    return f", {name} {value:.2f}{interval(bounds, BOUND_DIGITS, ' [{}, {}]', '')}"
