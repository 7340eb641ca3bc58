"""Whether a full stop ends a sentence: not after an abbreviation, an initial, an ordinal number."""

from __future__ import annotations

import re

ABBREVIATIONS = frozenset(
    """
    mr mrs ms mx dr prof rev hon sr jr st mt ft gen col maj capt lt sgt cmdr adm gov sen rep pres
    supt messrs mme mlle vs etc al cf viz approx v est dept univ assn bros inc ltd co corp
    fig figs eq eqs sec ch vol no nos pp ed eds trans jan feb mar apr jun jul aug sep sept oct
    nov dec mon tue tues wed thu thur thurs fri sat sun ave blvd rd bzw usw nr bd hr sra dra
    """.split()  # noqa: SIM905
)
_ABROAD = frozenset(
    """
    abb abs abschn bspw bzgl ca chr dgl einschl evtl exkl geb gest ggf hrsg inkl insb insbes jhd
    kap lfd mio mrd sog str tsd usf vgl zz zzgl bijv blz dhr drs enz excl incl jl mevr
    ong zgn env éd fasc janv févr juill déc apr av tél pág págs núm ud uds vd srta dña lic arq
    aprox depto gral excmo exmo mons profa séc ltda dott sig sigg avv ecc es cfr pag pagg ing
    np tj tzn tzw mgr inż hab ul św itd itp zob godz tys mln mld płk abp woj čl např tzv atd
    apod odst písm nám popř příp cca mudr judr phdr rndr roč stol tis jfr jf kl stk hhv tlf
    mrd osv mv esim ym yms jne ekr jkr örn bkz doç yrd vb sok mah stb ún ifj özv
    vö alin dl hlm bpk dll dsb ths
    т тт г гг им ул стр рис табл кв обл просп тыс млн млрд см напр акад доц канд ред изд вып гл ст
    пп ср англ лат нем фр рус род др пр див ім вул σελ δρ αγ αρ डॉ श्री प्रो ดร นพ ผศ รศ
    hl hrn fr ds nl exa sv pl
    """.split()  # noqa: SIM905
)
"""What stands before "." inside a sentence, in the tracks' languages; not an English word."""
_OFTEN_LAST = frozenset(
    """
    etc al inc ltd co corp jr sr usw usf enz ecc ltda itd itp atd apod osv mv ym yms jne vb stb
    dll dsb др пр jhd dgl
    """.split()  # noqa: SIM905
)
"""These end a sentence as often as they stand inside one."""
_NUMBERED = frozenset(
    """
    art arts cap chap min max tel tab par para pos op kr pkt poz ok obr sz num lit pt kpl
    руб долл чел мин сек коп вв рр
    """.split()  # noqa: SIM905
)
"""Abbreviations before a number only; elsewhere they are words, or end a sentence."""
_KNOWN = ABBREVIATIONS | _ABROAD | _NUMBERED
_OPENERS = frozenset(
    """
    the a an this that these those it its he she they we i you his her their our in on at by for
    from with as if when while after before since although however but and or so yet there here
    who what why how where many most some all both each other another one two moreover meanwhile
    according additionally furthermore overall despite during such to no not
    """.split()  # noqa: SIM905
)
"""After an initialism ("the U.S. The") only such a word opens a new sentence."""
_OPENERS_ABROAD = _OPENERS | frozenset(
    """
    der die das ein eine er sie es wir im am auch dies diese dieser dieses danach doch dabei seit
    het een de zij hij dit deze le la les un une il elle ils elles ce cette ces el los las una en
    esto esta este estos ella ellos il lo gli questo questa o os uma ele ela eles isso este em
    он она оно они это эти этот эта в на по но и с для так после до когда потом затем однако
    to jest tym ten ta te w na po je se ve den det de som och og i på bu bir ve
    """.split()  # noqa: SIM905
)
_ORDERED = frozenset(
    """
    januar februar märz mai juni juli august september oktober november dezember jänner maj
    desember december jahrhundert jahrhunderts jh jahrtausend weltkrieg weltkriegs quartal dünya
    """.split()  # noqa: SIM905
)
"""What an ordinal number is of: "3. Mai", "II. Weltkrieg"."""
_LIST_ENDS = frozenset(
    {"т.д", "т.п", "u.s.w", "m.m", "m.fl", "o.ä", "u.ä", "κ.λπ"}
    | {"т. д", "т. п", "s. w", "m. m", "m. fl", "o. ä"}
)
_LAST_WORD = re.compile(r"(?:[^\W\d_]|[.'’-])*[^\W\d_]$")
_PAIR = r"(?:[^\W\d_]|[A-Z]{2}|ej|ex|es|eks|Chr|Kr|Zt|fl|in)"
# The stops of "z. B.", "i. d. R.", "p. ej.", "EE. UU.", each followed by a space.
_SPACED = re.compile(rf"(?<![\w.])[^\W\d_]{{1,2}}\.\s{_PAIR}$")
_FIRST_OF_SPACED = re.compile(r"[^\W\d_A-Z]|[A-Z]{2}")
_NEXT_OF_SPACED = re.compile(rf"{_PAIR}\.")
_UNIT = re.compile(r"\d\s?[^\W\d_]$")
_ORDINAL = re.compile(
    r"(?:(?P<german>\b(?:im|der|das|dem|den|des|vom|zum|zur|beim|seit|bis)\s)|(?<![\w.,]))"
    r"(?:\d{1,3}|[IVX]{1,5})$",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:\d{3,4}|[IVX]+)\s?(?:гг?|вв?)$")
_SHORT_OPENING = 16  # characters: "В 1950 г." opens a sentence more often than it is one
_NEAR = 40  # the patterns are slow on more


def may_end(before: str, after: str, following: str) -> bool:
    """Return whether a full stop between `before` and `after` ends a sentence.

    `before` is the sentence so far, or the end of it; `following` the first word after, empty
    where there is none.
    """
    last = before.rpartition(" ")[2]
    if len(last) > 3 and last.islower() and last.isalpha() and last not in _KNOWN:
        return True  # as most are
    near = before[-_NEAR:]
    if before.isdigit() and len(before) < 3:
        return not following  # the number of an item: "2. Second point."
    if _SPACED.search(near):
        ends_list = " ".join(near.split()[-2:]) in _LIST_ENDS
        return ends_list or not following or following.lower() in _OPENERS_ABROAD
    whole = near.split()[-1] if near.strip() else ""
    if (found := _LAST_WORD.search(whole)) is None:
        # The vowel signs of Indian scripts are no letters.
        return whole not in _ABROAD and not _is_ordinal(near, following)
    word = found[0]
    if following[:1].isdigit() and (word.lower() in _NUMBERED or len(word) == 1):
        return bool(_UNIT.search(near))
    if _FIRST_OF_SPACED.fullmatch(word) and _NEXT_OF_SPACED.match(after):
        return False
    if _YEAR.search(near):
        return len(before) > _SHORT_OPENING or not following
    if len(word) == 1 and word.islower() and _UNIT.search(near):
        return True
    return _may_end_word(word, following) and not _is_ordinal(near, following)


def _is_ordinal(near: str, following: str) -> bool:
    """Return whether a number before a stop says which: "am 3. Mai", "der 2. Platz"."""
    found = _ORDINAL.search(near)
    if found is None or not following or following.lower() in _OPENERS_ABROAD:
        return False
    german = found["german"] is not None and following[0].isalpha()
    return german or following.lower() in _ORDERED


def _may_end_word(word: str, following: str) -> bool:
    """Return whether a sentence ends after "`word`." when the next word is `following`."""
    lower = word.lower()
    if lower in _LIST_ENDS:
        return True
    if "." in word or lower in _OFTEN_LAST:
        return not following or following.lower() in _OPENERS_ABROAD
    # "DNA", "BP" are names.
    if lower in ABBREVIATIONS or (lower in _ABROAD and (len(word) == 1 or not word.isupper())):
        return not following or (lower == "no" and following.isalpha())
    if len(word) == 1 and "а" <= word <= "я":  # of one letter: "р. Волга"
        return not following or following.lower() in _OPENERS_ABROAD
    if len(word) == 1 and not word.islower():  # a capital, or of a script without capitals
        caseless = not word.isupper() and not following[:1].isdigit()
        return not following or (not caseless and following.lower() in _OPENERS - {"a", "i"})
    return True
