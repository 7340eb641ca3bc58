"""Several judges in one pass: settings for each, measures side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fakes import judgment, response
from trecjudge.errors import InputError, PluginError, WorkflowError
from trecjudge.judging.panel import (
    NamedJudge,
    calibrations,
    leading_measures,
    make_panel,
    panel_spec,
    settings_by_judge,
    with_calibration,
)
from trecjudge.measures import LeaderboardSpec, MeasureSpec
from trecjudge.records import FULL, NONE, Failure, Judgment, Response
from trecjudge.scores.leaderboard import Leaderboard


def share(response: Response, judgments: Sequence[Judgment]) -> float | None:
    judged = [j for j in judgments if j.judged]
    return sum(j.label == FULL for j in judged) / len(judged) if judged else None


@dataclass(frozen=True)
class Sharing:
    """A judge of one measure."""

    measure: str

    @property
    def measures(self) -> LeaderboardSpec:
        return LeaderboardSpec((MeasureSpec(self.measure, share),), sort_by=self.measure)

    pool = judge = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("names", "settings", "expected"),
    [
        (["citation"], {"partial": 1}, {"citation": {"partial": 1}}),
        (["citation"], {"citation": {"partial": 1}}, {"citation": {"partial": 1}}),
        (["a", "b"], {"b": {"x": 1}}, {"a": {}, "b": {"x": 1}}),
        (["a", "b"], {}, {"a": {}, "b": {}}),
    ],
)
def test_settings_by_judge(
    names: list[str], settings: dict[str, object], expected: dict[str, object]
) -> None:
    assert settings_by_judge(names, settings) == expected


@pytest.mark.parametrize(
    ("names", "settings", "message"),
    [
        (["a", "b"], {"partial": 1}, "unknown judge 'partial'.* given by judge"),
        (["a", "a"], {}, "judge 'a' is named twice"),
    ],
)
def test_settings_of_no_judge(names: list[str], settings: dict[str, object], message: str) -> None:
    with pytest.raises(WorkflowError, match=message):
        settings_by_judge(names, settings)


def test_a_measure_sees_only_its_own_judge() -> None:
    spec = panel_spec([NamedJudge("a", Sharing("X")), NamedJudge("b", Sharing("Y"))])  # type: ignore[arg-type]
    board = Leaderboard(spec)
    failed = judgment(failure=Failure("cut", ""), judge="b")
    board.add(response(), [judgment(FULL, judge="a"), judgment(NONE, judge="b"), failed])
    board.finish()
    means = {m.name: board.mean("r", m).mean for m in spec.measures}
    assert (means, spec.ranked_by) == ({"X": 1.0, "Y": 0.0}, "X")


def test_measures_of_one_name_get_the_names_of_their_judges() -> None:
    spec = panel_spec([NamedJudge("a", Sharing("X")), NamedJudge("b", Sharing("X"))])  # type: ignore[arg-type]
    assert [m.name for m in spec.measures] == ["A.X", "B.X"]
    assert spec.ranked_by == "A.X"


def test_judges_of_a_job_have_their_own_settings() -> None:
    panel = make_panel(["citation", "length"], {"length": {"limit": 3}})
    assert [named.name for named in panel] == ["citation", "length"]
    assert panel[1].judge == make_panel(["length"], {"limit": 3})[0].judge


def test_a_calibration_goes_to_the_judges_that_take_one() -> None:
    panel = make_panel(["citation", "length"], {})
    citation, length = with_calibration(panel, Path("mine.json"))
    assert citation.judge == make_panel(["citation"], {"calibration": "mine.json"})[0].judge
    assert length is panel[1]
    with pytest.raises(PluginError, match="judge 'length' takes no calibration"):
        with_calibration(panel[1:], Path("mine.json"))


def test_the_calibrations_of_a_panel_are_looked_at() -> None:
    assert calibrations(make_panel(["citation", "length"], {})) == []
    with pytest.raises(InputError, match=r"nowhere\.json: cannot be read"):
        calibrations(make_panel(["support"], {"calibration": "nowhere.json"}))


@pytest.mark.parametrize(
    ("names", "wanted", "expected"),
    [
        pytest.param(
            ["citation", "length"],
            {},
            ["CITATION_SUPPORT", "EXPECTED_CITATION_SUPPORT", "LENGTH"],
            id="the ranking ones",
        ),
        pytest.param(
            ["citation", "length"],
            {"measures": ["CITATION_SUPPORT", "FITS"]},
            ["CITATION_SUPPORT", "FITS"],
            id="the first where the ranking one is no column",
        ),
        pytest.param(["length"], {}, ["LENGTH", "FITS"], id="all of one judge"),
    ],
)
def test_the_measures_to_look_at_first(
    names: list[str], wanted: dict[str, list[str]], expected: list[str]
) -> None:
    panel = make_panel(names, {})
    assert leading_measures(panel, panel_spec(panel, wanted)) == expected
