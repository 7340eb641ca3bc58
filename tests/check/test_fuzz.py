"""Records with anything in any place: always a report, and a mended copy that stays mended."""

from __future__ import annotations

import copy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.check.samples import GOOD, SENTENCES, as_json, lines
from trecjudge.check.checker import check_files
from trecjudge.check.repair import fix
from trecjudge.check.rules import all_tracks
from trecjudge.records import Topic

MENDED = {
    "citation_duplicate",
    "citation_out_of_range",
    "reference_duplicate",
    "reference_uncited",
    "response_duplicate",
    "response_length_differs",
    "too_long",
    "too_many_citations",
}
"""Rules that no mended copy breaks; for some others, mending can come too late or not at all."""
TOPICS = {"1": Topic("1", "What?", limit=10), "2000": Topic("2000", limit=9)}
ids = st.sampled_from(["", "a", "0", "1", "9", "a b", "msmarco_v2.1_doc_01_1#0_1", 0, 1, 2, -1, 7])
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | ids
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
citations = st.lists(ids, max_size=5) | st.dictionaries(st.text(), scalars, max_size=5) | anything
texts = st.text() | st.sampled_from(["It is.", "a " * 300, "ﬁ" * 1500])
sentence = st.fixed_dictionaries({"text": texts, "citations": citations}) | anything


@st.composite
def records(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """Return a track and a record of it with some of its values replaced."""
    track = draw(st.sampled_from(sorted(GOOD)))
    record = copy.deepcopy(GOOD[track])
    if draw(st.booleans()):
        record[SENTENCES.get(track, "responses")] = draw(st.lists(sentence, max_size=4))
    if draw(st.booleans()):
        record["references"] = draw(st.lists(ids, max_size=6) | citations)
    for key in draw(st.lists(st.sampled_from([*record, "metadata"]), max_size=2)):
        record[key] = draw(anything)
    return track, record


@given(st.lists(records(), min_size=1, max_size=3))
def test_any_record_is_checked_and_mended_for_good(drawn: list[tuple[str, dict[str, Any]]]) -> None:
    track = drawn[0][0]
    assert track in all_tracks()
    with TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "run.jsonl"
        path.write_text(lines(*(record for _, record in drawn)), encoding="utf-8")
        report = check_files([path], TOPICS, track=track)
        assert as_json(report)["totals"] == report.as_dict()["totals"]
        fix([path], folder / "fixed", TOPICS, track=track)
        fixed = folder / "fixed" / "run.jsonl"
        assert not fix([fixed], folder / "again", TOPICS, track=track)
        left = set(check_files([fixed], TOPICS, track=track).counts)
        # An answer that is one text has no sentences to leave out.
        spared = {"too_long", "response_length_differs"} if "response_not_a_list" in left else set()
        # A record in the form of another track is checked, and not mended.
        spared |= MENDED if "format_of_other_track" in left else set()
        assert left & MENDED <= spared
