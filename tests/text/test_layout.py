"""An answer as people lay it out: its parts, what is judged of them, text without markup."""

from __future__ import annotations

import time

import pytest

from trecjudge.text.layout import judged_texts, parts, without_markup


@pytest.mark.parametrize(
    ("text", "judged"),
    [
        pytest.param("One. Two.", ["One.", "Two."], id="sentences"),
        pytest.param(
            "| fact | source |\n|---|---|\n| Ada fell | [1] |\n| It rose | [2] |\n",
            ["Ada fell.", "It rose."],
            id="a column of citations",
        ),
        pytest.param(
            "|**Bridge**|Length|\n|:-|-:|\n|Ada|3<br>m [1]|\n|Eve|-|",
            ["Bridge: Ada; Length: 3 m [1].", "Bridge: Eve."],
            id="names of columns",
        ),
        pytest.param(
            "Year|Event|Sources\n-|-|-\n1931|It rose|Doc 3\n1932|It fell|Alder",
            ["Year: 1931; Event: It rose.", "Year: 1932; Event: It fell; Sources: Alder."],
            id="numbers of sources are not said",
        ),
        pytest.param("Item | Value\n--|--\nOpened | 1931", ["Opened: 1931."], id="name and value"),
        pytest.param(
            "What|Why\n-|-\nIt|The bridge fell last year.\n\nEnd.",
            ["What: It; The bridge fell last year.", "End."],
            id="a sentence in a cell",
        ),
        pytest.param("+--+--+\n| a | b |\n+--+--+", ["a: b."], id="a table in a frame"),
        pytest.param("|a\\|b|c|\n|-|-|\n|d|e|", ["a|b: d; c: e."], id="an escaped bar"),
        pytest.param(
            "<table><tr><th>A</th><th>B</th></tr><tr><td>c</td><td>d</td></tr></table>",
            ["A: c; B: d."],
            id="HTML table",
        ),
        pytest.param(
            "<h2>Costs</h2><p>It <b>rose</b>.</p><ul><li>one</li><li>two</li></ul>",
            ["## Costs", "It rose.", "one", "two"],
            id="HTML",
        ),
        pytest.param(
            "Here:\n- a\n  1) It. So.\n  b. d\n• e\n* [x] f\n\n> g\n> h",
            ["## Here:", "a", "It.", "So.", "d", "e", "f", "g\nh"],
            id="items",
        ),
        pytest.param("# A\nB.\nC\n==\n**D**", ["## A", "B.", "## C", "## **D**"], id="titles"),
        pytest.param("# A It is. It was.\nB", ["A It is.", "It was.", "B"], id="a run-in title"),
        pytest.param("It rose.\n---\nIt fell.", ["It rose.", "It fell."], id="a rule"),
        pytest.param("```c\na. B\n\nc\n```\nD", ["```c\na. B\n\nc\n```", "D"], id="code"),
        pytest.param("```markdown\n- a\n- b\n```", ["a", "b"], id="an answer within a fence"),
        pytest.param("```\nIt is. So.\n```\nD", ["It is.", "So.", "D"], id="a bare fence"),
        pytest.param(" ```json\nIt is.\n```\n", ["It is."], id="a fence is all"),
        pytest.param("```c\nIt is. It fell.", ["It is.", "It fell."], id="a fence never closed"),
        pytest.param("a|b and x < y", ["a|b and x < y"], id="no table"),
        pytest.param("", [], id="nothing"),
    ],
)  # fmt: skip
def test_judged(text: str, judged: list[str]) -> None:
    assert judged_texts(text) == judged


def test_marks_that_were_cut_leave_no_trace() -> None:
    row = next(parts("|A|B|\n|-|-|\n|c|[1]|"))
    assert (row.header, row.judged_text("|c| |")) == (("A", "B"), "A: c.")


@pytest.mark.parametrize("unit", [*"|-\n` *_#", "| ", "> ", "<tr>", "<td", "[1]"])
def test_it_takes_no_long_time(unit: str) -> None:
    started = time.process_time()
    judged_texts(unit * 100_000)
    assert time.process_time() - started < 2


def test_without_markup() -> None:
    expected = {
        "plain  text": "plain text",
        "<p>One.</p><p>Two.</p>": "One.\nTwo.",
        "H<sub>2</sub>O and <b>bold</b>": "H2O and bold",
        "<td>a</td><td>b</td>": "a b",
        "AT&amp;T &#233; &lt;b&gt;": "AT&T é <b>",
        "a < b and c > d": "a < b and c > d",
        "<![CDATA[a <b> &amp; c]]>": "a <b> &amp; c",
        "x<!-- not <b> seen -->y<script>z()</script>": "x y",
        "&own; stays": "&own; stays",
    }
    assert {marked_up: without_markup(marked_up) for marked_up in expected} == expected


@pytest.mark.parametrize(
    "text",
    ["<" * 100_000, "<a " * 50_000, "<!--" * 50_000, "<script>" * 20_000, "<![CDATA[" * 20_000],
)
def test_markup_that_is_never_closed_takes_no_time(text: str) -> None:
    assert len(without_markup(text)) <= len(text)
