"""Scatter and bump plots: well-formed, complete, and safe whatever a run is called."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from trecjudge.stats.plots import bump, scatter

SVG = "{http://www.w3.org/2000/svg}"
NAMES, TRUTH, PREDICTED = ["a", "b", "c"], [0.9, 0.5, 0.1], [0.5, 0.7, 0.1]
Draw = Callable[..., str]


def drawn(draw: Draw, names: list[str] = NAMES) -> ElementTree.Element:
    text = draw(names, TRUTH, PREDICTED, "M by judge", ("H (truth)", "M"))
    return ElementTree.fromstring(text)


def texts(picture: ElementTree.Element, tag: str = "text") -> list[str]:
    return [element.text or "" for element in picture.iter(f"{SVG}{tag}")]


def test_a_scatter_plot_has_a_point_for_each_run() -> None:
    picture = drawn(scatter)
    points = list(picture.iter(f"{SVG}circle"))
    across = [float(point.attrib["cx"]) for point in points]
    upwards = [float(point.attrib["cy"]) for point in points]
    assert across == sorted(across, reverse=True)
    assert upwards[1] < upwards[0] < upwards[2]  # b is the highest
    assert texts(picture, "title") == ["M by judge", "a: 0.9, 0.5", "b: 0.5, 0.7", "c: 0.1, 0.1"]
    assert {"H (truth)", "M"} <= set(texts(picture))


def test_a_bump_plot_has_a_line_for_each_run() -> None:
    picture = drawn(bump)
    lines = list(picture.iter(f"{SVG}line"))
    ends = [(line.attrib["y1"], line.attrib["y2"]) for line in lines]
    assert (ends[0], ends[1]) == (ends[1][::-1], ends[0][::-1])  # a and b change places
    assert ends[2][0] == ends[2][1]
    assert len({line.attrib["stroke"] for line in lines}) == 3
    assert texts(picture, "title")[1:] == ["a: 1 -> 2", "b: 2 -> 1", "c: 3 -> 3"]


@pytest.mark.parametrize("draw", [scatter, bump])
def test_a_run_with_unjudged_items_is_told_apart(draw: Draw) -> None:
    axes = ("H (truth)", "M")
    told = {"b": "3 of 12 (0.25 to 1)"}
    picture = ElementTree.fromstring(draw(NAMES, TRUTH, PREDICTED, "M by judge", axes, told))
    assert [t for t in texts(picture, "title") if "; unjudged 3 of 12 (0.25 to 1)" in t] == [
        t for t in texts(picture, "title") if t.startswith("b: ")
    ]
    assert any("items of the run are unjudged" in text for text in texts(picture))
    mark = "stroke" if draw is scatter else "stroke-dasharray"
    shapes = picture.iter(f"{SVG}{'circle' if draw is scatter else 'line'}")
    assert sum(mark in shape.attrib for shape in shapes) == 1


@pytest.mark.parametrize("draw", [scatter, bump])
@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "a&b\"'", "\x00\x1b[2J", "\ud800\uffff", "x" * 500]
)
def test_a_hostile_name_is_text(draw: Draw, name: str) -> None:
    picture = drawn(draw, [name, "b", "c"])
    assert list(picture.iter("script")) == []
    assert not any(key.startswith("on") for e in picture.iter() for key in e.attrib)


@pytest.mark.parametrize("draw", [scatter, bump])
def test_constant_scores_are_drawn(draw: Draw) -> None:
    text = draw(["a", "b"], [1.0, 1.0], [0.0, 0.0], "t", ("x", "y"))
    assert "nan" not in text
    ElementTree.fromstring(text)


def test_the_order_of_runs_changes_no_picture() -> None:
    for draw in (scatter, bump):
        turned = draw(NAMES[::-1], TRUTH[::-1], PREDICTED[::-1], "t", ("x", "y"))
        assert turned == draw(NAMES, TRUTH, PREDICTED, "t", ("x", "y"))


def test_a_long_name_is_cut_beside_its_line() -> None:
    assert f"{'x' * 33}…" in texts(drawn(bump, ["x" * 500, "b", "c"]))
