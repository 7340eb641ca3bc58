"""Charts: every run is in them, where it belongs, and every one is well-formed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest

from trecjudge.findings import visible
from trecjudge.scores.reliability import Reliability
from trecjudge.show.charts import (
    Axes,
    Axis,
    bump,
    distribution,
    names_near,
    panels_of_reliability,
    scatter,
    short,
)

SVG = "{http://www.w3.org/2000/svg}"


def drawn(svg: str) -> ElementTree.Element:
    """Return a chart as a tree, as a browser would take it; a file of its own as it is."""
    text = str(svg)
    if "xmlns" not in text:
        text = text.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    return ElementTree.fromstring(text)


def tips(svg: str) -> list[str]:
    """Return the tip of each run in a chart."""
    return [element.text or "" for element in drawn(svg).iter(f"{SVG}title")]


@pytest.mark.parametrize(
    ("values", "value", "expected"),
    [
        ([0.2, 0.7], 0.5, 50.0),
        ([0, 8], 4, 50.0),
        ([-1, 1], 0, 50.0),
        ([-2, -1], 0, 100.0),
        ([], 0.25, 25.0),
        ([0.0], 1.0, 100.0),
    ],
)
def test_an_axis(values: list[float], value: float, expected: float) -> None:
    assert Axis.over(values, 0, 100).at(value) == expected


def test_a_distribution_has_a_tip_for_each_run() -> None:
    svg = distribution("M", {"a": [0.0, 0.5, 1.0], "b": [0.5], "c": []})
    assert tips(svg) == [
        "a: median 0.500, middle half 0.250 to 0.750, 0.000 to 1.000 over 3 topics",
        "b: median 0.500, middle half 0.500 to 0.500, 0.500 to 0.500 over 1 topics",
        "c: no values",
    ]
    points = [element.get("d") or "" for element in drawn(svg).iter(f"{SVG}path")]
    assert [path.count("h0") for path in points] == [3, 1]


def test_points_at_one_place_are_one() -> None:
    svg = distribution("M", {"a": [0.5, 0.0, 1.0, 0.5, 0.0]}, narrow=True)
    (points,) = (element.get("d") for element in drawn(svg).iter(f"{SVG}path"))
    assert points == "M14.0 59.1h0m166 0h0m166 0h0"


def test_ranks_lead_from_measure_to_measure() -> None:
    svg = bump(["M", "N"], {"a": [1, 2], "b": [2, 1], "c": [3, None]})
    assert tips(svg) == ["a: M 1, N 2", "b: M 2, N 1", "c: M 3, N no value"]
    heights = [float(circle.get("cy") or "") for circle in drawn(svg).iter(f"{SVG}circle")]
    assert heights == [48, 70, 70, 48, 92]


def test_tied_runs_stand_in_a_frame() -> None:
    svg = bump(["M", "N"], {"a": [1, 2], "b": [1, 1], "c": [3, 2]})
    assert tips(svg) == [
        "2 runs are tied at rank 1", "2 runs are tied at rank 2",
        "a: M 1, N 2", "b: M 1, N 1", "c: M 3, N 2",
    ]  # fmt: skip
    heights = [float(circle.get("cy") or "") for circle in drawn(svg).iter(f"{SVG}circle")]
    assert heights == [48, 70, 70, 48, 92, 92]
    frames = [(rect.get("y"), rect.get("height")) for rect in drawn(svg).iter(f"{SVG}rect")]
    assert frames == [("39", "40"), ("61", "40")]


def test_a_scatter_has_a_point_a_run() -> None:
    svg = scatter(Axes("M", "others", "ours"), {"a": (1.0, 0.0), "b": (0.5, 0.5)})
    assert tips(svg) == ["a: 1.000 in ours, 0.000 in others", "b: 0.500 in ours, 0.500 in others"]
    first, second = ((c.get("cx"), c.get("cy")) for c in drawn(svg).iter(f"{SVG}circle"))
    assert (first, second) == (("64.0", "40.0"), ("284.0", "252.0"))


def test_names_stand_near_points_where_they_fit() -> None:
    points = [(100.0, 100.0), (100.0, 101.0), (396.0, 300.0)]
    found = list(names_near(["a" * 40, "b", "at the edge"], points, (0, 0, 400, 400)))
    assert [(name["text"][:2], name["anchor"]) for name in found] == [
        ("aa", "start"), ("b", "end"), ("at", "end"),
    ]  # fmt: skip
    assert len(found[0]["text"]) == 22
    crowd = [(50.0 + i % 7, 50.0 + i // 7) for i in range(49)]
    assert len(list(names_near([f"run {i}" for i in range(49)], crowd, (0, 0, 400, 400)))) < 9


def test_the_figure_of_agreement_stands_in_a_scatter() -> None:
    svg = scatter(Axes("M", "others", "ours"), {"a": (1.0, 0.0)}, figure="tau 0.8 (95 %: 0 to 1)")
    assert "tau 0.8" in [element.text for element in drawn(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize("measures", [1, 2, 12])
def test_narrow_charts_are_as_wide_as_a_phone(measures: int) -> None:
    names = [f"MEASURE_{i}" for i in range(measures)]
    bumped = bump(names, {"a" * 50: [1] * measures}, names[:1], narrow=True)
    for svg in (bumped, distribution("M", {"a" * 50: [0.1]}, narrow=True)):
        assert float(drawn(svg).get("width") or "") <= 374


def hostile(name: str, title: str = "") -> Iterator[str]:
    """Yield every chart with a name wherever one can stand; of a `title` those in files."""
    yield bump([name, f"{name} N"], {name: [1, 1]}, [name], {name: name}, title)
    yield scatter(Axes(name, name, name), {name: (1.0, 0.5)}, {name: name}, name, title)
    if not title:
        yield bump([name, f"{name} N"], {name: [1, 1]}, [name], narrow=True)
        for narrow in (False, True):
            yield distribution(name, {name: [0.5]}, narrow)
            yield scatter(Axes(name, name, name), {name: (1.0, 0.5)}, narrow=narrow)


@pytest.mark.parametrize(
    "name",
    ["<script>", '"&', "\u202ea", "a" * 99, "{{ 7 * 7 }}", "</style><b>", "']]>", "x\r\n\ty"],
)
@pytest.mark.parametrize("in_file", [False, True])
def test_names_are_escaped_and_fit(name: str, in_file: bool) -> None:
    for svg in hostile(name, name if in_file else ""):
        assert not re.search(r"<script>|<b>|\u202e|>[^<]*\b49\b", svg)
        labels = [element.text or "" for element in drawn(svg).iter(f"{SVG}text")]
        assert {short(name), visible(name)} & set(labels)
        tags = {element.tag.removeprefix(SVG) for element in drawn(svg).iter()}
        assert tags <= {"svg", "g", "line", "text", "rect", "title", "path", "circle", "style"}
    assert len(short(name)) <= 30


@pytest.mark.parametrize("name", ["\x00\x1b[2J", "\ud800\uffff", "a\ufffeb", "\x08\x0b"])
@pytest.mark.parametrize("title", ["", "T"])
def test_what_no_file_can_hold_is_left_out(name: str, title: str) -> None:
    for svg in hostile(name, title and f"{title} {name}"):
        drawn(svg.encode().decode())


def test_a_page_forbids_styles_in_a_chart() -> None:
    for svg in hostile("r"):
        assert not re.search(r"style=|<style", svg)


def stated(run_id: str, *bins: tuple[float, int, float, float]) -> Reliability:
    """Return the reliability of a run with these bins."""
    return Reliability(run_id, "M", 9, 0, 0, 0.5, 0.5, 0.125, bins)


@pytest.mark.parametrize("narrow", [False, True])
def test_a_panel_has_a_point_for_each_bin_and_its_count(narrow: bool) -> None:
    runs = [stated("<b>", (0.2, 1, 0.25, 1.0), (0.9, 8, 0.95, 0.5)), stated("q")]
    svg = panels_of_reliability(runs, narrow)
    assert tips(svg) == [
        "1 response: 0.250 stated, 1.000 found",
        "8 responses: 0.950 stated, 0.500 found",
    ]
    texts = [text.text for text in drawn(svg).iter(f"{SVG}text")]
    assert texts.count("calibration error 0.125") == 2
    assert {"<b>", "q", "1", "8"} <= set(texts)
    (first, second) = drawn(svg).iter(f"{SVG}circle")
    assert float(first.get("cx", 0)) < float(second.get("cx", 0))
    assert float(first.get("cy", 0)) < float(second.get("cy", 0))


def test_only_the_first_runs_have_panels() -> None:
    many = panels_of_reliability([stated(f"r{n}", (0.5, 1, 0.5, 0.5)) for n in range(40)])
    assert len(tips(many)) == 12
    assert len(str(many)) < 20_000
