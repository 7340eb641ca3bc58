"""The parts of an answer as people lay it out: sentences, items, headings, rows of tables, code.

A reader asks `parts` for them. What is judged of a part is `part.judged(...)` of its text as
written, from which the reader may have cut the marks of citations.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Literal

from trecjudge.text.sentences import CITATION, sentence_spans

# Text of SGML, XML or HTML without its markup. Entities that a file defines are not expanded.
CDATA = (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>"))
UNSEEN = (
    (re.compile("<!--"), re.compile("-->")),
    (re.compile(r"<script\b", re.IGNORECASE), re.compile(r"</script\s*>", re.IGNORECASE)),
    (re.compile(r"<style\b", re.IGNORECASE), re.compile(r"</style\s*>", re.IGNORECASE)),
)
"""(begin, end) of parts that no reader sees."""
DECLARATION = re.compile(r"<[!?][^<>]*>")
INLINE = re.compile(
    r"</?(?:a|abbr|b|bold|em|font|i|italic|mark|small|span|strong|sub|sup|u)(?:\s[^<>]*)?>",
    re.IGNORECASE,
)
BLOCK = re.compile(
    r"</?(?:p|br|div|li|ul|ol|tr|table|h\d|section|title|head|body|abstracttext|text)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
TAG = re.compile(r"</?[A-Za-z][^<>]*>")
BLANKS = re.compile(r"[^\S\n]{2,}|[^\S\n ]")
LINES = re.compile(r" ?\n[ \n]*")


def literal(marked_up: str) -> str:
    """Return the text with its CDATA sections escaped, since they hold no markup."""
    if "<![CDATA[" not in marked_up:
        return marked_up
    return _replace_parts(marked_up, *CDATA, lambda section: html.escape(section, quote=False))


def without_markup(marked_up: str) -> str:
    """Return the text that a reader would see: no tags, a line a paragraph, entities resolved."""
    text = marked_up
    if "<" in text:
        text = literal(text)
        for begin, end in UNSEEN:
            text = _replace_parts(text, begin, end, lambda part: " ")
        text = TAG.sub(" ", BLOCK.sub("\n", INLINE.sub("", DECLARATION.sub(" ", text))))
    if "&" in text:
        text = html.unescape(text)
    return LINES.sub("\n", BLANKS.sub(" ", text)).strip()


def _replace_parts(
    text: str, begin: re.Pattern[str], end: re.Pattern[str], made: Callable[[str], str]
) -> str:
    """Return the text with each part from `begin` to `end` replaced.

    One pattern for both would take quadratic time where a part is never closed.
    """
    parts: list[str] = []
    position = 0
    while start := begin.search(text, position):
        close = end.search(text, start.end())
        if close is None:
            break
        parts += (text[position : start.start()], made(text[start.end() : close.start()]))
        position = close.end()
    return "".join((*parts, text[position:]))


Kind = Literal["sentence", "heading", "row", "code"]
Span = tuple[int, int]

ITEM = (
    r"(?:[-*+•‣◦▪●○·–](?=\s)(?:\s+\[[ xX]\])?"
    r"|\(?\d{1,3}[.)](?=\s)|\(?[A-Za-z]\)(?=\s)|[a-h]\.(?=\s)|[ivx]{2,4}[.)](?=\s)|[①-⑳]|(?:\d{1,2}|[一二三四五六七八九十]{1,2})、)"
)
"""Pattern of what opens an item of a list: "-", "2.", "a)", "• "."""
LAYOUT = re.compile(rf"^\s*(?:(?:#{{1,6}}|>+)\s+|{ITEM}\s*)+")
"""The signs of layout before the words of a heading, an item or a quotation."""
_ITEM = re.compile(rf"[ \t>]*({ITEM})\s*")
_HEADING = re.compile(r" {0,3}#{1,6}\s")
_QUOTED = re.compile(r"\n[ \t]*>[ \t>]*")
_BOLD = re.compile(r"(?:\*\*[^*]+\*\*|__[^_]+__) ?[:：]?")
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})[ \t]*(\w*)[^`]*$")
_RULE = re.compile(r"[-+= ]{3,}|[*_ ]{3,}")
_UNDERLINE = re.compile(r"=+|-{2,}")
_LINE = re.compile(r".+|^$", re.MULTILINE)
_PROSE = frozenset({"", "markdown", "md", "text", "txt", "plain", "plaintext"})
_FEW = 20  # characters that may stand before a fence that is all there is
_RULER = re.compile(r":?-+:?")
_STOPPED = re.compile(r"[.!?;…。！？।۔]['\"”’»)\]*_]*$")
_LONGEST_HEADING, _LONGEST_LEAD = 12, 5  # words of a line that is underlined, that has a colon
BORDER = re.compile(r"(?<!\\)\|")
_MARK = re.compile(CITATION)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_BLOCK = re.compile(
    r"</?(table|tr|thead|tbody|ul|ol|li|p|br|div|section|h[1-6]|hr|dl|dt|dd|blockquote)\b[^<>]*>",
    re.IGNORECASE,
)
_ROW_END = re.compile(r"</tr\s*>|<tr\b|</?table\b", re.IGNORECASE)
_CELL = re.compile(r"<(t[dh])\b[^<>]*>", re.IGNORECASE)
# What such a header names is in every row: its cells need no name.
_NAMES_NOTHING = frozenset(
    """
    # no nr number item items fact facts claim claims statement statements detail details value
    values description info information property attribute aspect category feature field parameter
    metric measure key point points finding findings note notes evidence answer summary topic
    merkmal wert beschreibung 项目 内容 項目
    """.split()  # noqa: SIM905
)
# The cells of such a column may be citations, not what is said.
_CITES = frozenset(
    """
    source sources reference references citation citations document documents ref refs quelle
    quellen fuente fuentes fonte fonti bron 来源 出典 источник источники
    """.split()  # noqa: SIM905
)
_CITED = re.compile(r"(?:[^\W\d]{0,15}[\s.#]{0,3}\[?\d{1,3}\]?(?:\s*[,;]\s*|$))+|https?://\S+")
"""A cell that names a source by a number or an address."""
_EMPTY = frozenset({"", "-", "–", "—", "n/a", "…", "..."})
_SENTENCE_FROM, _LONG_FROM = 5, 8  # words of a cell that is a sentence: with a stop, without one


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a text, `start` to `end`; a row has the names of its columns as `header`."""

    start: int
    end: int
    kind: Kind = "sentence"
    header: tuple[str, ...] = ()
    html: bool = False

    def judged_text(self, written: str) -> str:
        """Return what is judged of the part: its text as `written`, without its layout.

        A row reads "Length: 300 m; Opened: 1931."; a heading keeps a sign, as in "## Costs".
        """
        if self.kind == "row":
            return _row_text(_cells(written, self.html), self.header)
        plain = without_markup(written) if self.html else written
        if self.kind == "code":
            return plain
        bare = _QUOTED.sub("\n", LAYOUT.sub("", plain)).strip()
        if self.kind == "heading" and bare:
            return f"## {bare.splitlines()[0].rstrip('# ')}"
        return bare


def judged_texts(text: str) -> list[str]:
    """Return what is judged of each part of a text."""
    texts = (part.judged_text(text[part.start : part.end]) for part in parts(text))
    return [judged for judged in texts if judged]


def parts(text: str) -> Iterator[Part]:
    """Yield the parts of a text, in order.

    A table, of Markdown or HTML, has a part a row; its header and its rulers are none. A heading,
    an item and a block of code are parts of their own. All else is cut by sentence.
    """
    if "<" in text and any(
        tag[1].lower() != "br" or "|" not in text for tag in _BLOCK.finditer(text)
    ):
        return _of_html(text)
    return _of_lines(text, 0, len(text))


def _sentences(text: str, start: int, end: int) -> Iterator[Part]:
    """Yield the sentences of a stretch; the sign of an item belongs to the first one."""
    item = _ITEM.match(text, start, end)
    begin = item.end() if item else start
    for one, other in sentence_spans(text[begin:end]):
        yield Part(item.start(1) if item else begin + one, begin + other)
        item = None


def _of_lines(text: str, start: int, end: int) -> Iterator[Part]:
    """Yield the parts of a stretch of Markdown or plain text."""
    lines = [line.span() for line in _LINE.finditer(text, start, end)]
    begun = at = 0
    while at < len(lines):
        taken, found = _block(text, lines, at)
        leads = at > begun and text[slice(*lines[at - 1])].rstrip().endswith((":", "："))
        if taken or leads or _ITEM.match(text, *lines[at]):
            if at > begun:
                yield from _sentences(text, lines[begun][0], lines[at - 1][1])
            begun = at + taken
        yield from found
        at += taken or 1
    if at > begun:
        yield from _sentences(text, lines[begun][0], end)


def _block(text: str, lines: Sequence[Span], at: int) -> tuple[int, Iterable[Part]]:
    """Return how many lines from `at` on are no running text, and their parts."""
    line = text[slice(*lines[at])]
    bare = line.strip()
    if not bare or _RULE.fullmatch(bare):
        return 1, ()
    if fence := _FENCE.match(line):
        return _code(text, lines, at, fence)
    after = text[slice(*lines[at + 1])].strip() if at + 1 < len(lines) else ""
    if "|" in bare and (is_ruler(after) or is_ruler(bare) or (bare[0] == bare[-1] == "|")):
        return _table(text, lines, at, headed=is_ruler(after))
    heading = Part(*_trim_span(text, lines[at]), "heading")
    if _UNDERLINE.fullmatch(after) and _is_title(bare, _LONGEST_HEADING):
        return 2, (heading,)
    leads = bare.endswith((":", "：")) and _is_title(bare, _LONGEST_LEAD) and not _ITEM.match(line)
    titled = leads or (_BOLD.fullmatch(bare) and not _STOPPED.search(bare))
    if titled or (_HEADING.match(line) and _is_title(bare, _LONGEST_HEADING)):
        return 1, (heading,)
    # Some run on: "## Costs They rose in 2019. They fell."
    return (1, _sentences(text, *lines[at])) if _HEADING.match(line) else (0, ())


def _trim_span(text: str, line: Span) -> Span:
    bare = text[slice(*line)].strip()
    begin = text.index(bare, *line)
    return begin, begin + len(bare)


def _is_title(line: str, longest: int) -> bool:
    return not _STOPPED.search(line) and len(line.split(maxsplit=longest)) <= longest


def is_ruler(line: str) -> bool:
    """Return whether a line divides the header of a table from its rows."""
    if "|" not in line or "-" not in line or line.strip("|-: \t>"):
        return False
    return all(_RULER.fullmatch(cell.strip()) for cell in line.strip("| \t>").split("|"))


def _code(
    text: str, lines: Sequence[Span], at: int, fence: re.Match[str]
) -> tuple[int, Iterable[Part]]:
    """Return the lines of a block of code and its part; of one that holds text, its parts.

    One of no language holds text, and so does one that is all there is.
    """
    end = at + 1
    while end < len(lines) and not text[slice(*lines[end])].strip().startswith(fence[1]):
        end += 1
    if end == len(lines):
        return 1, ()  # nothing closes it: what follows is judged
    opens = lines[at][0] < _FEW and not text[: lines[at][0]].strip()
    if (opens and not text[lines[end][1] :].strip()) or fence[2].lower() in _PROSE:
        return end - at + 1, _of_lines(text, lines[at][1] + 1, lines[end][0])
    return end - at + 1, (Part(lines[at][0], lines[end][1], "code"),)


def _table(text: str, lines: Sequence[Span], at: int, headed: bool) -> tuple[int, Iterable[Part]]:
    """Return how many lines a table has, and its rows."""
    header = _header(_cells(text[slice(*lines[at])])) if headed else ()
    end = at + 2 * headed
    rows = []
    while end < len(lines) and "|" in (line := text[slice(*lines[end])]):
        if not is_ruler(line.strip()):
            rows.append(Part(*_trim_span(text, lines[end]), "row", header))
        end += 1
    return end - at, rows


def _header(cells: Iterable[str]) -> tuple[str, ...]:
    return tuple(_MARK.sub("", cell).strip(" *_:") for cell in cells)


def _cells(row: str, html: bool = False) -> list[str]:
    if html:
        return [without_markup(cell).replace("\n", " ") for cell in _CELL.split(row)[2::2]]
    bare = row.strip(" \t>").removeprefix("|")
    bare = bare.removesuffix("|") if not bare.endswith("\\|") else bare
    return [_BREAK.sub(" ", cell).replace("\\|", "|").strip() for cell in BORDER.split(bare)]


def _row_text(cells: Sequence[str], header: Sequence[str]) -> str:
    """Return a row as a sentence, its cells with the names of their columns."""
    text, joint = "", ""
    for name, cell in zip_longest(header, cells, fillvalue=""):
        if _MARK.sub("", cell).strip().lower() in _EMPTY:
            continue
        if name.lower() in _CITES and _CITED.fullmatch(cell.strip()):
            continue
        stopped = _STOPPED.search(cell) is not None
        least = _SENTENCE_FROM if stopped else _LONG_FROM
        is_sentence = len(cell.split(maxsplit=least)) >= least
        unnamed = not name or name.lower() in _NAMES_NOTHING
        text += joint + (cell if unnamed or is_sentence else f"{name}: {cell}")
        # "Property | Value": the first cell names the second.
        names = unnamed and not joint and not is_sentence and len(cells) < 3
        joint = " " if stopped else ": " if names else "; "
    return f"{text}." if text and not stopped else text


def _of_html(text: str) -> Iterator[Part]:
    """Yield the parts of a text with tags of HTML, which may hold Markdown between them."""
    header: tuple[str, ...] = ()
    at, heading, in_head = 0, False, False
    while True:
        tag = _BLOCK.search(text, at)
        end = tag.start() if tag else len(text)
        for part in _of_lines(text, at, end):
            yield replace(part, html=True, kind="heading" if heading else part.kind)
        if tag is None:
            return
        name, opens = tag[1].lower(), tag[0][1] != "/"
        at, heading = tag.end(), opens and name[0] == "h" and name != "hr"
        if name in ("table", "thead", "tbody"):
            header = () if name == "table" else header
            in_head = opens and name == "thead"
        elif name == "tr" and opens:
            closing = _ROW_END.search(text, at)
            end = closing.start() if closing else len(text)
            row = text[at:end].lower()
            if not in_head and ("<td" in row or "<th" not in row):
                yield Part(at, end, "row", header, html=True)
            else:
                header = _header(_cells(text[at:end], html=True))
            at = end
