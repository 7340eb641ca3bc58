"""Where a text may mark a citation: brackets, superscripts, tags, commands, links, addresses."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import itemgetter
from typing import Final

from trecjudge.text.layout import BORDER, is_ruler
from trecjudge.text.tables import expression

SOURCE: Final = (
    r"sources?|src|citations?|cite[sd]?|cit\.?|ref(?:erence)?s?|docs?|documents?|contexts?|ctx|"
    r"passages?|segments?|snippets?|chunks?|excerpts?|extracts?|items?|entr(?:y|ies)|articles?|"
    r"evidence|web|oaicite|(?:doc|chunk)[\s_-]?ids?|p(?:m|mc)?ids?|(?:search\s+)?results?|"
    r"quellen?|dokumente?|abschnitt|beleg|fuentes?|documentos?|fonti|fonte|extrait|bron(?:nen)?|"
    r"źródło|zdroj|kilder?|källa|lähde|kaynak|forrás|πηγή|sumber|nguồn|"
    r"источник(?:и)?|джерело|документ(?:ы)?|来源|出处|资料|文献|文档|片段|参考(?:资料|文献)|見?出典|見?資料|"
    r"参考資料|文書|출처|문서|स्रोत|(?:แหล่ง)?ที่มา|المصدر|مصدر|منبع|سند|מקור|"
    r"(?:ids?|urls?|links?|files?|doi)(?=\s*[:=：])"
)
"""Pattern of a word for a source, which may stand before what names it."""
SEE: Final = (
    r"(?:see(?:\s+also)?|cf\.?|siehe|vgl\.?|per|via|from|as\s+(?:in|per|stated\s+in|described\s+in)|"
    r"according\s+to|adapted\s+from|based\s+on|laut|gemäß|nach|selon|d['’]après|según|secondo|volgens|"
    r"见|見|参见)(?:\s+(?:the|la|le|el|il|de|der|den|lo))?"
)
"""Pattern of words that send a reader to a source."""
AND: Final = r"and|und|et|y|e|en|och|og|i|и|oder|or|ou"
"""Pattern of words between two sources."""
HEADINGS: Final = (
    r"(?:list\s+of\s+|supporting\s+|verwendete\s+|использованные\s+)?(?:references?|sources?|citations?|"
    r"source\s+documents?|documents?|evidence|links|notes?|legend|bibliography|works\s+cited|"
    r"footnotes?|endnotes?|further\s+reading|literature(?:\s+cited)?|"
    r"(?:source|reference|citation)\s+(?:list|legend)|(?:sources?|references?|documents?)\s+"
    r"(?:used|cited|consulted|referenced)(?:\s+in\s+this\s+\w+)?|cited\s+sources?|"
    r"references?\s*(?:&|and)\s*sources?|references?\s*\(\w+\)|"
    r"literatur(?:verzeichnis)?|quellen(?:verzeichnis|angaben)?|belege|einzelnachweise|"
    r"références(?:\s+bibliographiques)?|fuentes(?:\s+consultadas)?|"
    r"referencias(?:\s+bibliográficas)?|bibliograf[ií]a|bibliographie|fonti|riferimenti|bronnen|"
    r"bronvermelding|referenties|źródła|referências|fontes(?:\s+consultadas)?|kilder|källor|"
    r"lähteet|zdroje|kaynaklar|surse|források|πηγές|джерела|источники|sumber|daftar\s+pustaka|"
    r"nguồn|список\s+(?:литературы|источников)|литература|参考文献|参考资料|参考来源|引用来源|資料來源|"
    r"參考(?:資料|文獻)|参考資料|引用|出典|参考|来源|แหล่งที่มา|מקורות|संदर्भ|তথ্যসূত্র|حوالہ\s+جات|المصادر|"
    r"المراجع|منابع|참고\s*문헌|출처)"
)
"""Pattern of the heading of an answer's own list of sources."""
NO_SOURCE: Final = (
    r"sic|…|\.{2,}|x|\s*|emphasis.*|italics.*|translat.*|citation\s+needed|source\s+needed|redacted|"
    r"todo.*|laugh.*|applause|music|inaudible|enter|esc|tab|return|space|ctrl.*|shift.*|alt.*|"
    r"(?:fig(?:ure)?|table|step|notes?|verse|chorus|part|question|answer|option|intro|outro|scene|"
    r"confidence|draft|warning|tip)\b.*|yes\b.*|no\b.*|(?:mon|tues|wednes|thurs|fri|satur|sun)day|"
    r".*\b(?:your|insert|name|placeholder|hide|edit|update)\b.*"
)
"""Pattern of what people write into brackets that cites nothing."""


ADDRESS: Final = (
    r"(?:https?://|www\.)[^\s<>\[\]{}【】（）()\"'`|]{1,2000}"
    r"(?:\([^\s<>()]{0,200}\)[^\s<>\[\]{}()\"'`|]{0,500})?"
)
"""Pattern of an address in a text; parentheses in it are closed."""
_ADDRESS = re.compile(r"^(?:https?://|www\.)\S+$", re.IGNORECASE)

ANGLE = "<1>"
CIRCLED = "①"
LABELLED = "Source: text"
LATEX = "latex"
LINK = "link"
NUMBER_IN_PARENTHESES = "(1)"
PARENTHESES = "(text)"
SUPERSCRIPT = "superscript"
TAG = "tag"
URL = "url"
SQUARE = "[text]"
BOUND = ("[text]", "【text】", "{text}")
"""Shapes whose brackets are made for marks: what they hold may be one that is not understood."""

_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
PLAIN_DIGITS = str.maketrans(_SUPERSCRIPTS + "⁻˒", "0123456789-,")
_TARGET = (
    r"\((?P<target>(?:https?:|#)[^()\s]{0,2000}(?:\([^()\s]{0,200}\)[^()\s]{0,500})?)"
    r"(?:\s+\"[^\"\n]{0,200}\")?\)"
)
_TAGS = r"cite|ref|citation|reference|source|src|doc|document|co"
_MARKS = re.compile(
    r"(?P<range>\[\d{1,4}\]\s?[-–—]\s?\[\d{1,4}\])"
    rf"|\\?\[{{1,2}}(?P<square>[^\[\]\n]{{1,300}}?)\\?\]{{1,2}}(?:{_TARGET})?"
    r"|[【［〔〖⟦](?P<lenticular>[^【】［］〔〕〖〗⟦⟧\n]{1,300})[】］〕〗⟧]"
    r"|\{{1,2}(?P<curly>[^{}\n]{1,100})\}{1,2}"
    r"|[(（](?P<paren>[^()（）\n]{1,500})[)）]"
    r"|:contentReference\[(?P<reference>oaicite:\d{1,4})\](?:\{index=\d{1,4}\})?"
    rf"|⁽?(?P<super>[{_SUPERSCRIPTS}]+(?:[⁻˒,][{_SUPERSCRIPTS}]+)*)⁾?"
    r"|<sup\b[^<>]{0,100}>(?P<sup>[^<>\n]{1,100})</sup>"
    r"|\^(?:\[(?P<caret>[^\[\]\n]{1,100})\]|(?P<power>\d{1,3})\^?)"
    rf"|<(?P<tag>{_TAGS})\b(?P<attributes>[^<>]{{0,300}}?)"
    rf"(?:/>|>(?P<inner>[^<>]{{0,1000}})</(?:{_TAGS})\b[^<>]{{0,100}}>|(?<=[\w\"'])>)"
    r"|<a\b[^<>]{0,300}?href\s*=\s*[\"']?(?P<href>[^\"'\s<>]{1,2000})[^<>]{0,200}>"
    r"(?P<anchor>[^<>]{0,300})</a>"
    r"|\\(?:[a-zA-Z]{0,8}cite[a-z]{0,8}|autoref|ref)\*?(?:\[[^\[\]\n]{0,100}\]){0,2}"
    r"\{(?P<latex>[^{}\n]{1,300})\}"
    r"|(?P<circled>[①-⑳]+)"
    r"|<(?P<angle>\d{1,3})>"
    r"|\ue200(?P<private>[^\ue200\ue201\n]{1,300})\ue201|\bcite(?P<turn>(?:turn\d{1,4}[a-z]{1,12}\d{1,4})+)"
    r"|\b(?:sources?|citations?|quellen?|fuentes?)[:：]\s*(?P<said>[^\n.;!?。()\[\]]{1,100})"
    rf"|<?(?P<url>{ADDRESS})>?",
    re.IGNORECASE,
)
_SHAPES = {
    "square": SQUARE,
    "lenticular": BOUND[1],
    "curly": BOUND[2],
    "latex": LATEX,
    "angle": ANGLE,
    "circled": CIRCLED,
    "private": TAG,
    "turn": TAG,
    "reference": TAG,
    "said": LABELLED,
}
MAY_MARK = re.compile(
    rf"[\[【［〔〖⟦（{{①-⑳{_SUPERSCRIPTS}]|https?:|www\.|<(?:sup|a|{_TAGS})\b|"
    r"\\\w{0,8}cite|\^\d|<\d|\ue200|citeturn|:contentReference|"
    r"\b(?:sources?|citations?|quellen?|fuentes?)[:：]",
    re.IGNORECASE,
)
"""Finds the beginning of what may be a mark, but for an id or a title in parentheses."""
_CODE = re.compile(
    r"^[ \t]*(?P<fence>`{3,9}|~{3,9})[^\n`~]*\n.*?(?:^[ \t]*(?P=fence)|\Z)"
    r"|(?<!`)(?P<ticks>`{1,3})(?!`)[^`\n]{1,500}(?P=ticks)"
    r"|<(?P<code>code|pre)\b[^<>]{0,100}>.*?(?:</(?P=code)>|\Z)",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_MATHS = re.compile(
    r"\$\$[^$]{1,500}\$\$|\$(?=\S)[^$\n]{1,200}(?<=\S)\$(?!\d)|\\\([^\n]{1,200}?\\\)"
)
_ATTRIBUTE = re.compile(
    r"(?:\b(?:id|ids|name|doc|docs|doc_id|document|source|src|ref|index|key|url|href|target|n)"
    r"\s*=\s*[\"']?(?P<value>[^\"'<>=]{1,200}?)[\"']?(?=\s+\w+\s*=|\s*$))"
    r"|^\s*[:=]\s*(?P<bare>[^<>]{1,100})$",
    re.IGNORECASE,
)
_UNIT = re.compile(
    r"(?:^|[^\w])(?:[kcdmnµμ]?m|in|ft|yd|mi|s|h|g|kg|w|v|x|y|n|r|e|10|[a-z])$", re.IGNORECASE
)
_IDENTIFIER = re.compile(r"[\w.)\]]+$")
_ENDS_CLAUSE = re.compile(r"[\s*_\"”’»)]*(?:[.,;:!?。，；：！？、।॥؟۔|]|\n|$|[\[【［〔(<^⁰¹²³⁴-⁹])")
_SENDS = re.compile(
    r"\b(?:visit(?:ing)?|(?:web)?site|page|at|on|to|go|contact|homepage|called|named|is)\s*:?\s*$",
    re.IGNORECASE,
)
_INTERVAL = re.compile(
    r"(?:\b(?:intervals?|ranges?|domain|scale|between|ci|set|values?(?:\s+(?:in|from|of))?|over|"
    r"bounds?|limits?|intervall|bereich)|[∈=∪∩:\\]|%)\s*(?:of\s+|from\s+|the\s+)?$",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"\[?\d{1,4}\]?(?:\s?[,;–-]\s?\[?\d{1,4}\]?){0,20}")
_WITHOUT_SPACES = "\u0e00"
"""From here on most scripts have no spaces: Thai, Chinese, Japanese."""
_STOPS = (".", "!", "?", "。", "！", "？")
_SECTION = re.compile(r"(?:§+|\b(?:art|sec|no|nr|par|abs)\w{0,6}\.?)\s*\d+\s*$", re.IGNORECASE)
"""Before a number in parentheses that is a part of a law: "§ 1 (2)"."""
_PREFIX = re.compile(r"[a-z]|-[a-z]")
_PLACE = re.compile(
    r"\b(?:ind(?:ex|ices)|elements?|positions?|offset|slots?|columns?|rows?|argument|key|page|code)\s+$",
    re.IGNORECASE,
)
_WITHIN = re.compile(r"\b(?:in|within|on|over|to|into|from|of|for)\s+$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Mark:
    """What may mark a citation: `text[start:end]`, and what stands in its brackets, `content`.

    `kept` is the part inside it that is text of the answer, such as the words of a link; None where
    all of it is the mark. `target` is the address of a link. `glued`: no space stands before it.
    `ends`: a clause ends after it; `goes_on`: it goes on behind a space; `opens`: it opens a line.
    """

    start: int
    end: int
    shape: str
    content: str
    kept: tuple[int, int] | None = None
    target: str = ""
    glued: bool = False
    ends: bool = True
    goes_on: bool = False
    opens: bool = False


def trim_address(address: str) -> str:
    """Return an address without the signs of the sentence that it ends."""
    return address.rstrip(".,;:!?*_~")


def is_address(text: str) -> bool:
    """Return whether a text is the address of a page."""
    return _ADDRESS.match(text) is not None


def may_have_marks(text: str) -> bool:
    """Return whether a text may have a mark: most have none, and this is fast."""
    return "(" in text or MAY_MARK.search(text) is not None


def marks_in(text: str, begin: int = 0, end: int | None = None) -> Iterator[Mark]:
    """Yield what may mark a citation, in order and apart; nothing inside code or formulas.

    Indices (`items[0]`), intervals and powers are left out. With `end` only `text[begin:end]` is
    looked at, which is a part without code.
    """
    hidden = _hidden_spans(text) if end is None else ()
    done = indexed = begin
    for found in _MARKS.finditer(text, begin, len(text) if end is None else end):
        start = found.start()
        if start < done or _is_hidden(hidden, start):
            continue
        # What follows an index is one too: `a[1][2]`.
        mark = None if found["square"] and 0 < start == indexed else _mark_of(text, found, done)
        if mark is not None:
            mark = _widen(text, mark, done)
            done = mark.end
            yield mark
        elif found["square"]:
            indexed = found.end()


def _hidden_spans(text: str) -> Sequence[tuple[int, int]]:
    """Return (start, end) of the code and the formulas of a text, in order."""
    spans = []
    if "`" in text or "~~~" in text or "<code" in text or "<pre" in text:
        spans += [found.span() for found in _CODE.finditer(text)]
    if "$" in text or "\\(" in text:
        spans += [found.span() for found in _MATHS.finditer(text)]
    return sorted(spans)


def _is_hidden(hidden: Sequence[tuple[int, int]], at: int) -> bool:
    before = bisect_right(hidden, at, key=itemgetter(0)) - 1
    return before >= 0 and hidden[before][0] <= at < hidden[before][1]


def _mark_of(text: str, found: re.Match[str], done: int) -> Mark | None:
    """Return a match as a mark, None where its place shows that it is none.

    `done` is where the mark before it ends: what stands there is glued to no word.
    """
    start, end = found.span()
    before = text[start - 1] if done < start else " "
    # Scripts without spaces have none before a mark either.
    glued = before in "_)]" or (before.isalnum() and before < _WITHOUT_SPACES)
    ends = _ENDS_CLAUSE.match(text, end) is not None
    if found["range"]:
        content = found["range"].replace("[", "").replace("]", "")
        return Mark(start, end, SQUARE, content, None, "", glued, ends)
    if found["url"]:
        return _of_address(text, found, ends)
    if found["href"]:
        kept = found.span("anchor")
        return Mark(start, end, LINK, found["anchor"], kept, found["href"], glued, ends)
    if found["tag"]:
        return _of_tag(found, glued, ends)
    if found["square"] and text[start - 1 : start] == "!":
        return None  # a picture
    if found["square"] and found["target"]:
        kept, content = found.span("square"), found["square"]
        return Mark(start, end, LINK, content, kept, found["target"], glued, ends)
    if found["super"] or found["power"] or found["sup"]:
        return None if _is_power(text, found) else _of_superscript(found, glued, ends)
    group = next(g for g in (*_SHAPES, "paren", "caret") if found[g])
    content = found[group].strip(" []").removeprefix("cite\ue202").replace("\ue202", ", ")
    if group == "circled" and not ends:
        return None  # "① Heat it ② Pour it" counts steps
    if group == "paren" and _NUMBERS.fullmatch(content):
        glued = glued and text[start] == "("
        said = text[max(0, start - 5) : start].rstrip()[-1:]
        ends = ends or said in _STOPS
        counts = glued or not ends or _SECTION.search(text, max(0, start - 30), start)
        return None if counts else Mark(start, end, NUMBER_IN_PARENTHESES, content)
    if group in ("square", "curly") and _counts_something(text, start, content, glued):
        return None
    shape = _SHAPES.get(group, PARENTHESES if group == "paren" else SUPERSCRIPT)
    behind = text[end : end + 2]
    # "The [2]rotaxane": a prefix of a word.
    if group == "square" and _PREFIX.match(behind) and (start == 0 or text[start - 1].isspace()):
        return None
    line = text[text.rfind("\n", 0, start) + 1 : start] if behind[:1] in ("\n", ":") else "…"
    opens = not line.strip(" *_#>-")
    goes_on = not ends and behind[:1].isspace()
    return Mark(start, end, shape, content, None, "", glued, ends, goes_on, opens)


def _of_address(text: str, found: re.Match[str], ends: bool) -> Mark:
    start, end = found.span("url")
    address = trim_address(found["url"])
    end -= len(found["url"]) - len(address)
    if text[start - 1 : start] == "<" and text[end : end + 1] == ">":
        start, end = start - 1, end + 1
    # "Visit www.example.org." sends the reader there; it may cite nothing.
    sends = _SENDS.search(text, max(0, start - 30), start) is not None
    return Mark(start, end, URL, address, None, address, ends=ends and not sends)


def _of_tag(found: re.Match[str], glued: bool, ends: bool) -> Mark:
    """Return a tag: what it cites stands in an attribute, and its inside is text, or inside it."""
    named = _ATTRIBUTE.search(found["attributes"].strip(" /"))
    inner = found["inner"] or ""
    if named is None:
        return Mark(*found.span(), TAG, inner.strip(), None, "", glued, ends)
    content = named["value"] or named["bare"]
    if re.fullmatch(r"\d+-\d+(?:[,:].*)?", content) and "index" in named[0]:
        content = f"index {content}"  # of a document and a sentence in it, counted in some way
    kept = found.span("inner") if inner else None
    return Mark(*found.span(), TAG, content.strip(), kept, "", glued, ends)


def _of_superscript(found: re.Match[str], glued: bool, ends: bool) -> Mark:
    content = found["super"] or found["power"] or found["sup"]
    content = content.translate(PLAIN_DIGITS).strip(" []()")
    return Mark(*found.span(), SUPERSCRIPT, content, None, "", glued, ends)


def _is_power(text: str, found: re.Match[str]) -> bool:
    """Return whether a raised number is a power, a unit's, or the mass of an isotope."""
    before, after = text[max(0, found.start() - 12) : found.start()], text[found.end() :][:2]
    if after[:1].isalnum() or (after[:1] == "-" and after[1:].isalnum()) or after[:1] in "⁺⁻⁼":
        return after != ""
    if before[-1:].isdigit() and not re.search(r"(?<!\d)\d{4}$", before):
        return True
    return _UNIT.search(before) is not None or before[-1:] in (
        "/",
        "^",
        "-",
        "−",
        "⁻",
        "⁺",
        "€",
        "$",
    )


def _counts_something(text: str, start: int, content: str, glued: bool) -> bool:
    """Return whether brackets hold an index (`x[0]`, `a[1][1]`, `d[k].v`) or an interval."""
    if glued:
        named = _IDENTIFIER.search(text, max(0, start - 60), start)
        word = named[0] if named else ""
        code = len(word) == 1 or "_" in word or re.search(r"[a-z][A-Z]|\w\.\w|\w\]$|\)$", word)
        after = text[start + len(content) + 2 :][:2]
        if after[:1] in ("(", "=") or (after[:1] == "." and after[1:].isalpha()):
            return True
        return bool(code) and not re.search(r"\d$|\d\]$", word)
    if _PLACE.search(text, max(0, start - 30), start):
        return True
    if not re.fullmatch(r"[-+−]?\d+\s*[,;–-]\s*[-+−]?\d+", content):
        return False
    before = text[max(0, start - 30) : start]
    from_zero = content.startswith("0") and _WITHIN.search(before)
    return bool(from_zero or _INTERVAL.search(before))


def _widen(text: str, mark: Mark, floor: int) -> Mark:
    """Return a mark with the parentheses or brackets around it, where they hold nothing else."""
    start, end = mark.start, mark.end
    while floor < start and end < len(text) and text[start - 1] + text[end] in ("()", "[]", "（）"):
        start, end = start - 1, end + 1
    if start == mark.start:
        return mark
    # A link by itself in parentheses is a mark; what it says is no part of the sentence.
    return replace(mark, start=start, end=end, kept=None)


_HEADER = rf"[\s*_]*(?:{SOURCE})[\s*_:]*"
_LONGEST = 300
"""Characters of a cell that names a source; a longer one says something."""
Cell = tuple[int, int]
"""Where the text of a cell begins and ends."""


def source_columns(text: str) -> Iterator[list[Mark]]:
    """Yield the cells of each column headed "Source" or the like, as what may be marks."""
    if "|" not in text or "--" not in text:
        return
    start, columns, before = 0, dict[int, list[Mark]](), list[Cell]()
    for line in text.split("\n"):
        cells = _cells(line, start) if "|" in line else []
        if before and cells and is_ruler(line):
            yield from columns.values()
            # Compiled here: it takes long, and few texts have such a table.
            header = expression(_HEADER, re.IGNORECASE)
            named = (i for i, cell in enumerate(before) if header.fullmatch(text[slice(*cell)]))
            columns = {index: [] for index in named}
        elif not cells:
            yield from columns.values()
            columns = {}
        for index, marks in columns.items():
            begin, end = cells[index] if index < len(cells) else (0, 0)
            if 0 < end - begin <= _LONGEST and not is_ruler(line):
                marks.append(Mark(begin, end, SQUARE, text[begin:end]))
        before, start = cells, start + len(line) + 1
    yield from columns.values()


def _cells(line: str, start: int) -> list[Cell]:
    """Return where the cells of a row stand in the text, without white space."""
    inner = line.strip(" \t>")
    begin = line.find(inner) + inner.startswith("|")
    end = line.find(inner) + len(inner) - (inner.endswith("|") and len(inner) > 1)
    borders = [begin - 1, *(b.start() for b in BORDER.finditer(line, begin, end)), end]
    cells = []
    for left, right in pairwise(borders):
        written = line[left + 1 : right]
        at = start + left + 1 + len(written) - len(written.lstrip())
        cells.append((at, at + len(written.strip())))
    return cells
