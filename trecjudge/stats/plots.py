"""Pictures of two orders of the same runs, as SVG: every name is escaped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from types import MappingProxyType

from trecjudge.findings import visible

INK, PALE, RISE, FALL = "#1f2933", "#cbd2d9", "#1a7f5a", "#b3412b"
SIZE, MARGIN = 420, 60
ROW, NAME_WIDTH, GAP = 16, 240, 220
TICKS = 5
NOTHING: Mapping[str, str] = MappingProxyType({})
UNJUDGED_NOTE = "items of the run are unjudged, in no mean; how many shows under the pointer"
LONGEST = 34
"""Characters of a name beside a line; the whole of it shows under the pointer."""


def scatter(
    names: Sequence[str],
    truth: Sequence[float],
    predicted: Sequence[float],
    title: str,
    axes: tuple[str, str],
    unjudged: Mapping[str, str] = NOTHING,
) -> str:
    """Return a point for each run: the truth across, what was predicted upwards.

    A run of which items are `unjudged` is hollow, and said to be.
    """
    across, upwards = _scale(truth), _scale(predicted)
    side = SIZE + 2 * MARGIN
    parts = [_opening(side, side, title), _text(side / 2, MARGIN / 2, title, "middle", bold=True)]
    parts += _frame(truth, predicted, axes)
    for name, x, y in sorted(zip(names, truth, predicted, strict=True)):
        place = f'cx="{MARGIN + SIZE * across(x):.1f}" cy="{MARGIN + SIZE * (1 - upwards(y)):.1f}"'
        tip = _safe(f"{name}: {x:.4g}, {y:.4g}{_gaps(unjudged, name)}")
        inside = f'fill="#fff" stroke="{RISE}"' if name in unjudged else f'fill="{RISE}"'
        parts.append(
            f'<circle {place} r="4" {inside} fill-opacity="0.6"><title>{tip}</title></circle>'
        )
    parts += _note(side / 2, side - 4, f"hollow: {UNJUDGED_NOTE}", unjudged)
    return "\n".join([*parts, "</svg>\n"])


def bump(
    names: Sequence[str],
    truth: Sequence[float],
    predicted: Sequence[float],
    title: str,
    axes: tuple[str, str],
    unjudged: Mapping[str, str] = NOTHING,
) -> str:
    """Return the runs in the order of either side, the best first, with a line for each run.

    A run that the prediction ranks better than the truth does is green, worse red; the line of one
    of which items are `unjudged` is dashed.
    """
    left, right = _places(names, truth), _places(names, predicted)
    height = MARGIN + ROW * (len(names) + 1 + bool(unjudged))
    width = 2 * NAME_WIDTH + GAP
    parts = [_opening(width, height, title), _text(width / 2, 18, title, "middle", bold=True)]
    ends = NAME_WIDTH, NAME_WIDTH + GAP
    parts.append(_text(ends[0] - 6, 42, axes[0], "end", bold=True))
    parts.append(_text(ends[1] + 6, 42, axes[1], "start", bold=True))
    for name in sorted(names):
        before, after = MARGIN + ROW * left[name], MARGIN + ROW * right[name]
        moved = left[name] - right[name]
        colour = PALE if moved == 0 else RISE if moved > 0 else FALL
        tip = _safe(f"{name}: {left[name] + 1} -> {right[name] + 1}{_gaps(unjudged, name)}")
        dashed = ' stroke-dasharray="4 3"' if name in unjudged else ""
        parts.append(
            f'<g><title>{tip}</title><line x1="{ends[0]}" y1="{before}" x2="{ends[1]}"'
            f' y2="{after}" stroke="{colour}" stroke-width="2"{dashed}/>'
        )
        parts.append(_text(ends[0] - 6, before + 4, _short(name), "end"))
        parts.append(_text(ends[1] + 6, after + 4, _short(name), "start") + "</g>")
    parts += _note(width / 2, height - 6, f"dashed: {UNJUDGED_NOTE}", unjudged)
    return "\n".join([*parts, "</svg>\n"])


def _gaps(unjudged: Mapping[str, str], name: str) -> str:
    """Return what is unjudged of a run, for its tip."""
    return f"; unjudged {unjudged[name]}" if name in unjudged else ""


def _note(x: float, y: float, text: str, unjudged: Mapping[str, str]) -> list[str]:
    return [_text(x, y, text, "middle")] if unjudged else []


def _places(names: Sequence[str], values: Sequence[float]) -> dict[str, int]:
    """Return the place of each run, the best 0; tied runs by name, as a line needs a row."""
    order = sorted(zip(names, values, strict=True), key=lambda run: (-run[1], run[0]))
    return {name: place for place, (name, _) in enumerate(order)}


def _scale(values: Sequence[float]) -> Callable[[float], float]:
    """Return what maps values to 0..1; all to the middle where they are one."""
    low, span = min(values), max(values) - min(values)
    return lambda value: (value - low) / span if span else 0.5


def _frame(x: Sequence[float], y: Sequence[float], axes: tuple[str, str]) -> Iterator[str]:
    """Yield the frame of a scatter plot, its ticks and what its axes are called."""
    edge = MARGIN + SIZE
    yield (
        f'<rect x="{MARGIN}" y="{MARGIN}" width="{SIZE}" height="{SIZE}" fill="none"'
        f' stroke="{PALE}"/>'
    )
    for tick in range(TICKS):
        share = tick / (TICKS - 1)
        across = min(x) + share * (max(x) - min(x))
        upwards = min(y) + share * (max(y) - min(y))
        yield _text(MARGIN + SIZE * share, edge + 18, f"{across:.3g}", "middle")
        yield _text(MARGIN - 6, edge - SIZE * share + 4, f"{upwards:.3g}", "end")
    yield _text(MARGIN + SIZE / 2, edge + 42, axes[0], "middle", bold=True)
    yield (
        f'<g transform="rotate(-90 14 {MARGIN + SIZE / 2})">'
        f"{_text(14, MARGIN + SIZE / 2, axes[1], 'middle', bold=True)}</g>"
    )


def _opening(width: float, height: float, title: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}"'
        f' width="{width:g}" height="{height:g}" role="img" font-family="sans-serif"'
        f' font-size="11" fill="{INK}" style="background:#fff"><title>{_safe(title)}</title>'
    )


def _text(x: float, y: float, text: str, anchor: str, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{weight}>{_safe(text)}</text>'


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def _safe(text: str) -> str:
    """Return a text from a run for XML: escaped, and without what XML cannot hold."""
    held = "".join(c for c in visible(text) if c >= " " and not "\ud800" <= c <= "\udfff")
    return escape(held.replace("\ufffe", "").replace("\uffff", ""))
