"""Words that relate two things, and their opposites: more and less, before and after."""

from __future__ import annotations

from collections.abc import Collection

from trecjudge.text.forms import word_form

_OPPOSITE_RELATIONS = """
more less,fewer
most least,fewest
before after
earlier later
over under
above below,under
ahead behind
higher lower
larger,bigger,greater smaller
longer shorter
taller shorter
faster,quicker slower
older younger,newer
quieter louder
stronger weaker
better worse
richer poorer
cheaper dearer
heavier lighter
hotter,warmer colder,cooler
wider narrower
deeper shallower
easier harder
safer riskier
nearer,closer farther,further
minimum maximum
with without
inside outside
always never
all none
exceed trail
"""
# What follows these is compared with what precedes them.
COMPARING = frozenset(map(word_form, ("than", "before", "after", "ahead", "behind")))
_MUTUAL = """
met meets married tied drew borders bordered resembled played fought faced equals shared talked
agreed negotiated collaborated divorced dated intersected adjoined
"""
SYMMETRIC = frozenset(map(word_form, _MUTUAL.split()))
"""Verbs that mean the same with their two sides exchanged."""
_IRREGULAR = frozenset(
    """
    ate beat became began bit blew bought broke brought built came caught chose drew drove fed flew
    forbade foresaw forgave forgot fought found gave got grew held hid hit hurt kept knew laid led
    left lent let lost made met outdid outran outsold oversaw overthrew overtook paid put ran rang
    read rode sang sank saw sent set shook shot slew sold sought spent spoke spread stole struck
    sued swore swung taught threw told took tore undertook understood went withdrew withstood won
    wore wrote
    """.split()  # noqa: SIM905
)


def _read() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in _OPPOSITE_RELATIONS.strip().splitlines():
        one, other = (set(map(word_form, side.split(","))) for side in line.split())
        for ours, theirs in ((one, other), (other, one)):
            for form in ours:
                found.setdefault(form, set()).update(theirs)
    return {form: frozenset(forms) for form, forms in found.items()}


_OPPOSITES_OF = _read()
RELATING = frozenset(_OPPOSITES_OF) | COMPARING
"""The forms of all such words."""


def opposites_of(form: str) -> Collection[str]:
    """Return the forms that say the opposite relation."""
    return _OPPOSITES_OF.get(form, ())


def is_verb(written: str) -> bool:
    """Return whether a word between two things is surely a verb that relates them."""
    return written.islower() and (written.endswith("ed") or written in _IRREGULAR)
