"""Text that a model reads and a person does not see: hidden, reversed, in look-alike letters."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u0640\u064b-\u065f\u0670\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]+"
)
# Tag characters spell ASCII without being seen; only the flags of Wales and the like need them.
_TAGS = re.compile("(?<!\U0001f3f4)(?<![\U000e0020-\U000e007f])[\U000e0020-\U000e007f]{2,}")
_TAG_OFFSET = 0xE0000  # a tag character less this is the ASCII character that it spells
# Bytes hidden behind a character, as variation selectors or as runs of zero-width characters.
_SMUGGLED = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}|[\u200b-\u200d\u2060-\u2064]{16,}")
_TURNED = re.compile("\u202e([^\u202c\n]{4,})")
# Beside ASCII these are all that most texts have, and they hide nothing.
_COMMON = frozenset(map(chr, range(128))) | frozenset(
    "‘’“”„–—…•·°£€§©®™×½\u00a0àáâãäåçèéêëìíîïñòóôõöøùúûüßÀÁÂÃÄÅÇÈÉÊËÍÎÑÓÔÖÚÜ«»"
)
_ENTITIES = ("&#", "&lt;")
MIXED = re.compile(
    "[A-Za-z][\u0370-\u03ff\u0400-\u052f]|[\u0370-\u03ff\u0400-\u052f][A-Za-z]"
    "|[\u0250-\u02af\u0300-\u036f\u1d00-\u1d7f\ua730-\ua7ff]"
)
"""Letters of two alphabets side by side, and rare letters that look like Latin ones."""
LOOK_ALIKES = str.maketrans(
    "аеорсухіјѕԁһӏԛԝвкмнтгпАВЕКМНОРСТУХІЈЅαοερυνικτχηωΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɡɑɩʏɪɢɴʀʙʜʟᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢꜰꜱ",
    "aeopcyxijsdhlqwbkmhtrnABEKMHOPCTYXIJSaoepuvikTxnwABEZHIKMNOPTYXigaiyignrbhlacdejkmoptuvwzfs",
)
"""Letters of other alphabets, as the Latin ones that they look like."""
_LEET = re.compile(r"[013457@$][A-Za-z](?<=[A-Za-z]..)")
_DIGITS = str.maketrans("013457@$", "oieastas")
_GAP = r"[ ._*|~-]"
_SPACED_HINT = re.compile(_GAP + 4 * rf"[A-Za-z]{_GAP}{{1,2}}")
_SPACED = re.compile(rf"(?<![^\W_])[A-Za-z](?:{_GAP}{{1,3}}[A-Za-z](?![^\W_])){{5,}}")
_GAPS = re.compile(r"[^A-Za-z]+")


def is_common(text: str) -> bool:
    """Return whether a text has only characters that hide nothing."""
    return text.isascii() or _COMMON.issuperset(text)


def plain_forms(text: str, common: bool) -> Iterator[str]:
    """Yield the readings of a text: itself without disguise, then look-alikes as real letters.

    Compatible characters are made equal (NFKC), and invisible ones are left out. A part that is
    forced to run from right to left is turned. Words in letters of two alphabets are read in Latin
    ones, and digits within words as the letters that they resemble.
    """
    read = text
    if any(entity in text for entity in _ENTITIES):
        read = html.unescape(text)
        common = is_common(read)
    read = read.replace("’", "'")
    if _LEET.search(read):
        yield read.translate(_DIGITS)
    if common:
        yield read
        return
    yield from (turned[::-1] for turned in _TURNED.findall(read))
    read = unicodedata.normalize("NFKC", _INVISIBLE.sub("", read))
    yield read
    if MIXED.search(read):
        apart = unicodedata.normalize("NFD", read).translate(LOOK_ALIKES)
        yield "".join(c for c in apart if not unicodedata.combining(c))


def hidden_text(text: str) -> str | None:
    """Return the text spelt in invisible characters, or the characters as they are, or None."""
    if tags := _TAGS.search(text):
        return "".join(chr(ord(c) - _TAG_OFFSET) for c in tags[0])
    smuggled = _SMUGGLED.search(text)
    return smuggled[0] if smuggled else None


def spaced_out(text: str) -> Iterator[tuple[str, str]]:
    """Yield each part whose letters stand apart, "l i k e  t h i s", and its letters together."""
    if _SPACED_HINT.search(text):
        for match in _SPACED.finditer(text):
            yield match[0], _GAPS.sub("", match[0]).lower()
