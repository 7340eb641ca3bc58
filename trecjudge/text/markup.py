"""Text of SGML, XML or HTML without its markup. Entities that a file defines are not expanded."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

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
