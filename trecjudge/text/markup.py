"""Text of SGML, XML or HTML without its markup. Nothing that a file defines is ever expanded."""

from __future__ import annotations

import html
import re

CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
UNSEEN = re.compile(
    r"<!--.*?-->|<(script|style)\b[^>]*>.*?</\1\s*>|<[!?][^>]*>", re.DOTALL | re.IGNORECASE
)
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
BLANKS = re.compile(r"[^\S\n]+")
LINES = re.compile(r" ?\n[ \n]*")


def literal(marked_up: str) -> str:
    """Return the text with its CDATA sections escaped: what stands there is no markup."""
    if "<![CDATA[" not in marked_up:
        return marked_up
    return CDATA.sub(lambda found: html.escape(found[1], quote=False), marked_up)


def without_markup(marked_up: str) -> str:
    """Return the text that a reader would see: tags out, paragraphs on lines, entities resolved."""
    text = marked_up
    if "<" in text:
        text = TAG.sub(" ", BLOCK.sub("\n", INLINE.sub("", UNSEEN.sub(" ", literal(text)))))
    if "&" in text:
        text = html.unescape(text)
    return LINES.sub("\n", BLANKS.sub(" ", text)).strip()
