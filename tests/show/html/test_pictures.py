"""Charts of a judge beside people, as files: complete, well-formed, and the same in any order."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from trecjudge.results.statistics import Unjudged
from trecjudge.show.charts import bump_picture, scatter_picture
from trecjudge.stats.meta import Correlated

SVG = "{http://www.w3.org/2000/svg}"
NAMES, TRUTH, PREDICTED = ["a", "b", "c"], [0.9, 0.5, 0.1], [0.5, 0.7, 0.1]
BOTH = pytest.mark.parametrize("draw", [scatter_picture, bump_picture])
Draw = Callable[[Correlated, str], str]


def found(
    names: Sequence[str] = NAMES,
    truth: Sequence[float] = TRUTH,
    predicted: Sequence[float] = PREDICTED,
    unjudged: Sequence[Unjudged | None] = (),
) -> Correlated:
    gaps = [(None, one) for one in unjudged]
    return Correlated("judge", "H", "M", names, 4, truth, predicted, [], gaps)


@BOTH
def test_a_file_needs_no_other_and_no_browser(draw: Draw) -> None:
    text = draw(found(unjudged=[Unjudged(1), None, None]), "t")
    for word in ("var(", "url(", "@import", "font:", "href", "<script", "currentColor"):
        assert word not in text


@BOTH
@pytest.mark.skipif(shutil.which("rsvg-convert") is None, reason="apt-get install librsvg2-bin")
def test_a_file_becomes_pdf(draw: Draw, tmp_path: Path) -> None:
    (tmp_path / "x.svg").write_text(draw(found(), "a & <b>"), encoding="utf-8")
    words = ["rsvg-convert", "-f", "pdf", "-o", "x.pdf", "x.svg"]
    subprocess.run(words, cwd=tmp_path, check=True)
    assert (tmp_path / "x.pdf").read_bytes().startswith(b"%PDF")


def drawn(draw: Draw, one: Correlated) -> ElementTree.Element:
    return ElementTree.fromstring(draw(one, "M by judge"))


def texts(picture: ElementTree.Element, tag: str = "text") -> list[str]:
    return [element.text or "" for element in picture.iter(f"{SVG}{tag}")]


def test_a_scatter_plot_has_a_point_for_each_run() -> None:
    picture = drawn(scatter_picture, found())
    points = list(picture.iter(f"{SVG}circle"))
    assert [(p.get("cx"), p.get("cy")) for p in points] == [
        ("504.0", "181.3"), ("284.0", "40.0"), ("64.0", "464.0"),
    ]  # fmt: skip
    assert texts(picture, "title") == [
        "M by judge",
        "a: 0.500 M, 0.900 H (truth)",
        "b: 0.700 M, 0.500 H (truth)",
        "c: 0.100 M, 0.100 H (truth)",
    ]
    assert {"H (truth)", "M", "M by judge", "0.5", "0.55"} <= set(texts(picture))


def test_a_bump_plot_has_a_line_for_each_run() -> None:
    picture = drawn(bump_picture, found())
    kinds = [g.get("class") for g in picture.iter(f"{SVG}g")]
    assert kinds == ["axis", "run fall", "run rise", "run"]
    heights = [float(circle.get("cy") or "") for circle in picture.iter(f"{SVG}circle")]
    assert heights == [48, 70, 70, 48, 92, 92]
    assert texts(picture, "title")[1:] == [
        "a: H (truth) 1, M 2", "b: H (truth) 2, M 1", "c: H (truth) 3, M 3",
    ]  # fmt: skip


def test_runs_are_tied_to_six_decimals() -> None:
    picture = drawn(bump_picture, found(predicted=[0.7, 0.7000004, 0.1]))
    assert "2 runs are tied at rank 1" in texts(picture, "title")
    assert "a: H (truth) 1, M 1" in texts(picture, "title")


@BOTH
def test_a_run_with_unjudged_items_is_told_apart(draw: Draw) -> None:
    picture = drawn(draw, found(unjudged=[None, Unjudged(3, 12, 0.25, 1.0), Unjudged(0, 12)]))
    open_tips = [t for t in texts(picture, "title") if t.endswith("; unjudged 3 of 12 (0.25 to 1)")]
    assert [t[:2] for t in open_tips] == ["b:"]
    assert any("items of the run are unjudged" in text for text in texts(picture))
    marked = [g for g in picture.iter(f"{SVG}g") if "open" in (g.get("class") or "").split()]
    assert len(marked) == 1
    assert not any("unjudged" in text for text in texts(drawn(draw, found())))


@BOTH
def test_constant_scores_are_drawn(draw: Draw) -> None:
    text = draw(found(["a", "b"], [1.0, 1.0], [0.0, 0.0]), "t")
    assert "nan" not in text
    ElementTree.fromstring(text)


@BOTH
def test_the_order_of_runs_changes_no_picture(draw: Draw) -> None:
    turned = found(NAMES[::-1], TRUTH[::-1], PREDICTED[::-1])
    assert draw(turned, "t") == draw(found(), "t")


@BOTH
def test_a_file_needs_nothing_beside_it(draw: Draw) -> None:
    picture = drawn(draw, found(["x" * 500, "b", "c"]))
    (style,) = texts(picture, "style")
    assert ".chart" in style and "var(" not in style and "light-dark" not in style
    assert texts(picture, "title")[0] == "M by judge"
    assert all(len(text) < 100 for text in texts(picture))
