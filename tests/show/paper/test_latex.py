"""Tables in LaTeX: what they are made of, and that they compile where LaTeX is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.show.paper.grids import grid
from trecjudge.errors import InputError
from trecjudge.show.paper.grid import Cell, Grid, GridColumn
from trecjudge.show.paper.latex import MOST_ROWS, Layout, escape_latex, latex

IDS = (
    r"a_b%c&d\e{f}$g#h^i~j",
    "[x]",
    "*star",
    "a--b ''q'' ,,x ?`y <<z>>",
    '"quote" |pipe|',
    "中文 😀 → ١",
    "e\u0301clair \u202eRTL",
    "\x1b[31mred\x00",
    "two\nlines\u2028",
    "".join(map(chr, range(0x21, 0x7F))),
    "".join(map(chr, range(0xA0, 0x180))),
    "a-very-long_name.of/a:run" * 4,
)


def test_a_text_is_set_as_it_is() -> None:
    expected = {
        "a_b": r"a\_b",
        "50%": r"50\%",
        "a&b": r"a\&b",
        "\\x{y}": r"\textbackslash{}x\{y\}",
        "$#": r"\$\#",
        "a^b~c": r"a\textasciicircum{}b\textasciitilde{}c",
        "[1]": "{[}1{]}",
        "*": "{*}",
        "a---b": "a-{}-{}-b",
        "Zoë Žižek": "Zoë Žižek",
        "e\u0301": "é",
        "中": r"\ifdefined\Umathcode 中\else\texttt{{[}U+4E2D{]}}\fi{}",
        "a\nb": "a b",
        "\x1b": r"\textbackslash{}x1b",
    }
    assert {text: escape_latex(text) for text in expected} == expected


def test_a_short_table_floats_with_numbers_in_columns_of_siunitx() -> None:
    assert latex(grid("r_1", "b", values=("-12.50", "n/a"))).splitlines() == [
        "% needs in the preamble:",
        r"% \usepackage[T1]{fontenc} % with pdfLaTeX",
        r"% \usepackage{booktabs}",
        r"% \usepackage{siunitx}",
        r"\begin{table}",
        r"\centering",
        r"\small",
        r"\setlength{\tabcolsep}{3pt}",
        r"\caption[x]{x. Means over 3 topics. p \textless{} 0.05.}",
        r"\label{tab:x}",
        r"\begin{tabular}{rlS[table-format=-2.2,detect-weight,mode=text]ll}",
        r"\toprule",
        r"{} & {run} & \multicolumn{3}{c}{M\_1~$\downarrow$} \\",
        r"\cmidrule(lr){3-5}",
        r" &  &  & {\scriptsize 95 \%} & {\scriptsize unjudged} \\",
        r"\midrule",
        r"1 & r\_1 & \bfseries -12.50 & {\scriptsize {[}0.1, 0.9{]}}"
        r" & {\scriptsize 1 of 2: 0.0 to 1.0} \\",
        r"2 & b & {n/a} & {\scriptsize {[}0.1, 0.9{]}} &  \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


def test_a_long_table_goes_over_pages_with_its_heads_on_each() -> None:
    text = latex(grid(*(f"r{i}" for i in range(MOST_ROWS + 1))))
    assert r"% \usepackage{longtable}" in text
    assert text.count("{run}") == 2
    assert r"\endhead" in text and r"\begin{table}" not in text


def test_long_names_are_broken() -> None:
    text = latex(grid("a_b-" * 10, "b"))
    assert "p{131pt}" in text
    assert r"a\_\allowbreak{}b-\allowbreak{}a" in text
    assert r"\allowbreak" not in latex(grid("a_b"))


def test_the_label_is_made_of_letters_and_digits() -> None:
    assert r"\label{tab:rag-25-x}" in latex(grid("a", name="Rag_25 {x}"))


def compiled(table: Grid, folder: Path, layout: str = "page", plain: bool = False) -> str:
    """Compile a document of the table as it is, twice, so that the list of tables is set too.

    Return what the engine says.
    """
    laid = Layout.of(layout, plain)
    text = latex(table, laid)
    packages = [line[2:] for line in text.splitlines() if line.startswith(r"% \usepackage")]
    columns = "twocolumn" if laid.in_columns else "onecolumn"
    begin = rf"\documentclass[{columns}]{{article}}"
    lines = [begin, *packages, r"\begin{document}\listoftables", text, r"\end{document}"]
    (folder / "d.tex").write_text("\n".join(lines), encoding="utf-8")
    for _ in range(2):
        words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "d.tex"]
        done = subprocess.run(words, cwd=folder, capture_output=True, check=False)
        assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    assert (folder / "d.pdf").stat().st_size > 1000
    return done.stdout.decode(errors="replace")


needs_latex = pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="apt-get install texlive-science"
)


@needs_latex
@pytest.mark.parametrize("times", [1, 5], ids=["floating", "over pages"])
def test_hostile_names_compile(times: int, tmp_path: Path) -> None:
    compiled(grid(*IDS * times, name="x_%\\中"), tmp_path)


def season() -> Grid:
    """Return a table of 53 runs by four judges, with all that may stand beside a value."""
    heads = ("ATTRIBUTION", "CITATION_SUPPORT", "support.WEIGHTED_PRECISION", "NDCG@10")
    names = ("a-team_1", "retrieval_by_words.fused.reranked_32b-then_answers_of_mini", "AGENTIC9")
    parts = (("95 %", "[0.100, 0.900]"), ("group", "a-d"), ("unjudged", "1 of 20: 0.100 to 1.000"))
    columns = [GridColumn("", "detail"), GridColumn("run")]
    for head in heads:
        columns.append(GridColumn(head, "number"))
        columns += [GridColumn(head, "detail", part) for part, _ in parts]
    rows = []
    for place in range(53):
        row = [Cell(f"{place + 1}="), Cell(f"{names[place % 3]}-{place}")]
        for _ in heads:
            row += [Cell("0.512", bold=place == 0), *(Cell(text) for _, text in parts)]
        rows.append(row)
    notes = ["Means over 8 topics, and whatever else is to be said of the table as a whole."] * 5
    return Grid("season", columns, rows, notes, [])


@needs_latex
@pytest.mark.parametrize("layout", ["page", "column:229", "wide:469", "landscape", "page:200"])
def test_no_table_is_wider_than_the_text(layout: str, tmp_path: Path) -> None:
    said = compiled(season(), tmp_path, layout, plain=layout == "landscape")
    assert "Overfull" not in said
    assert "too large" not in said


def test_parts_have_all_rows_and_columns_between_them() -> None:
    text = latex(season(), Layout.of("column"))
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") > 3
    bodies = text.split(r"\midrule")[1:]
    rows = [line.split(" & ")[0] for body in bodies for line in body.splitlines() if "= &" in line]
    assert set(rows) == {f"{place}=" for place in range(1, 54)}
    assert len(set(map(rows.count, rows))) == 1
    assert [text.count(rf"{{{head}") > 0 for head in ("ATTRIBUTION", "NDCG@10")] == [True, True]
    assert rows.count("1=") * 53 == len(rows)


@pytest.mark.parametrize("given", ["pages", "page:", "page:90", "wide:x", "column:-200"])
def test_a_layout_that_there_is_not(given: str) -> None:
    with pytest.raises(InputError, match=r"landscape|must be 150"):
        Layout.of(given)
