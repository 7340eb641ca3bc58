"""What a text claims, by rules: the clauses that stand alone, without what is no claim."""

from __future__ import annotations

import re
from typing import Literal

from trecjudge.claims.clauses import clauses, subject_of
from trecjudge.text.sentences import CITATION, split_sentences
from trecjudge.text.tokens import scripts, tokenize

NoClaim = Literal["question", "heading", "opinion", "about_the_answer", "abstention", "too_short"]

_MARK = re.compile(rf"\s*{CITATION}")
_LAYOUT = re.compile(r"^\s*(?:#{1,6}\s+|[-*•‣]\s+|\d{1,3}[.)]\s+|>\s*)+")
_EMPHASIS = re.compile(r"\*{1,3}|__|`")
# What is left where citations of another kind were taken out: "], and so on,,."
_LEFT_OVER = re.compile(r"^[\],;:.)\s]+|(?<![\s,])(?:\s*,)+(?=\s*[.,;]|$)")
_HEADING_MARK = re.compile(r"^\s*(?:#{1,6}\s|(\*\*|__)[^*_]+\1\s*:?\s*$)")
_QUESTION = re.compile(r"[?？؟]['\"”’»)\]]*$")
_STOPPED = re.compile(r"[.!。！．۔।…]['\"”’»)\]』」]*$")
# Some runs have a heading and what follows it as one sentence.
_LONGEST_HEADING = 12
_LONGEST_BARE_HEADING = 8
_MINOR = frozenset("a an and as at by for from in into of on or the to vs via with".split())  # noqa: SIM905
_OPINION = re.compile(
    r"^(?:(?:personally|honestly|frankly),?\s+|in\s+(?:my|our)\s+(?:opinion|view),?\s+|"
    r"(?:i|we)\s+(?:(?:would|strongly|personally)\s+)?"
    r"(?:think|believe|feel|hope|guess|suggest|recommend|prefer|wish|doubt|suspect)\b(?:\s+that\b)?\s*)",
    re.IGNORECASE,
)
_THINGS = (
    r"(?:documents?|contexts?|sources?|passages?|references?|segments?|excerpts?|materials?|"
    r"(?:search\s+)?results?|texts?|articles?|information)"
)
_GIVEN = r"(?:provided|given|available|retrieved|supplied|cited|above|listed|search|source)"
_MATERIAL = rf"(?:(?:the|these|those|any|all|my|your|this)\s+)?(?:{_GIVEN}\s+){{1,4}}{_THINGS}"
_THE_MATERIAL = rf"(?:{_MATERIAL}|(?:the|these|those|this)\s+{_THINGS})"
# Openers that say nothing: the rest of the sentence may claim something.
_LEAD_IN = re.compile(
    rf"^(?:(?:based\s+on|according\s+to|from|as\s+per)\s+{_MATERIAL}\s*,\s*"
    r"|(?:please\s+)?note\s+that\s+|it\s+is\s+(?:important|worth)\s+(?:to\s+note|noting)\s+that\s+"
    r"|(?:certainly|sure|of\s+course|yes|no|sorry|unfortunately)[,!]\s+)",
    re.IGNORECASE,
)
_ABOUT_THE_ANSWER = re.compile(
    r"^(?:this\s+(?:answer|response|report|summary|overview|essay|section)\s+"
    r"(?:is|was|will|does|has|cannot|may|might|should)\b"
    r"|(?:this|the)\s+(?:answer|response|report|summary|overview|essay|section)\s+"
    r"(?:covers?|provides?|aims?|summari[sz]es|describes|discusses|focuses|examines|explores|outlines)\b"
    r"|(?:here|below|above|following)\s+(?:is|are)\b"
    r"|(?:i\s+hope\s+this|let\s+me|please\s+(?:let|provide|consult|see|refer)|feel\s+free|"
    r"as\s+an\s+(?:ai|language)|thank\s)"
    r"|(?:i|we)\s+(?:will|shall|am\s+going\s+to)\s+"
    r"(?:summari[sz]e|describe|discuss|explain|answer|outline)\b)",
    re.IGNORECASE,
)
# Each says that the answer, or what it was given, lacks what was asked for.
_ABSTENTION = re.compile(
    r"\b(?:i|we)\s+(?:do\s+not|don['’]t|did\s+not|didn['’]t|cannot|can['’]t|can\s+not|"
    r"could\s+not|couldn['’]t|(?:am|are|was|were)\s+(?:not\s+able|unable)|have\s+no)\b"
    r"(?=.{0,60}\b(?:know|answer|information|details?|access|determine|provide|say|tell|locate|help|"
    r"assist|confirm|verify|respond|sure|enough|idea|(?:find|found)\s+(?:this|that|it|any|the|an)\b))"
    rf"|{_THE_MATERIAL}\s+(?:(?:do|does|did)\s+not|don['’]t|doesn['’]t|didn['’]t)\s+(?:\w+ly\s+)?"
    r"(?:mention|contain|provide|say|specify|include|address|state|give|discuss|answer|cover|have|"
    r"offer|indicate|explain|describe|detail|evaluate|list|tell|reveal|clarify)\b"
    rf"|{_THE_MATERIAL}\s+(?:cannot\s+answer|contains?\s+no\s|offers?\s+no\s|gives?\s+no\s|"
    r"provides?\s+no\s|(?:is|are)\s+(?:insufficient|not\s+(?:sufficient|enough))|"
    r"lacks?\s+(?:the\s+|any\s+)?(?:information|details?|answer))"
    rf"|\b(?:is|are|was|were)\s+not\s+(?:\w+ly\s+)?(?:specified|mentioned|given|provided|stated|included|"
    r"available|discussed|covered|addressed|detailed|found|contained|described|listed|explained)\s+"
    rf"(?:anywhere\s+)?(?:in|by|from)\s+{_THE_MATERIAL}"
    rf"|\b(?:answer|information)\s+is\s+not\s+in\s+{_THE_MATERIAL}|{_THE_MATERIAL}\s+says?\s+nothing\b"
    r"|\bthere\s+(?:is|was)\s+(?:no|not\s+enough|insufficient)\s+(?:relevant\s+)?"
    r"(?:information|answer|details?)\b"
    rf"|\bcannot\s+be\s+(?:answered|determined|found|verified)\b(?=.{{0,40}}\b{_THINGS}\b)"
    r"|\b(?:this|the|your)\s+question\s+(?:is\s+unanswerable|cannot\s+be\s+answered)\b"
    r"|^(?:no|insufficient|not\s+enough)\s+(?:relevant\s+)?(?:information|answer)\b"
    r"(?:.{0,40}\b(?:found|available|provided|given)\b|[.!\s]*$)"
    r"|^(?:(?:the\s+)?(?:answer|information|question)\s+)?(?:is\s+)?(?:unknown|unanswerable|n/?a|"
    r"not\s+(?:available|known|found|answerable)|cannot\s+be\s+(?:answered|determined|found))[.!\s]*$"
    r"|^(?:抱歉|对不起|對不起)?[，,]?\s*我(?:没有.{0,12}(?:信息|資訊|资料|資料|答案)|不知道|找不到|"
    r"(?:无法|無法|不能)(?:回答|确定|確定|提供|找到))|(?:无法|無法|不能)回答(?:这个|這個|该|該|此)?(?:问题|問題)"
    r"|(?:提供|给定|給定|上述)的?(?:文档|文件|资料|資料|信息|上下文|内容|內容).{0,10}(?:没有|沒有|未)"
    r"|^(?:к\s+сожалению,?\s+)?(?:у\s+меня\s+нет|я\s+не\s+(?:знаю|могу\s+ответить|наш[её]л|располагаю))\b"
    r"|в\s+предоставленных\s+\w+\s+(?:нет|не\s+содержится|отсутству\w+)\b"
    r"|недостаточно\s+(?:информации|данных)\s+для\s+ответа"
    r"|^(?:عذرا[،,]?\s*)?(?:لا\s+(?:أملك|أعرف|أعلم|أستطيع|يمكنني)|ليس(?:ت)?\s+لدي)\b"
    r"|لا\s+(?:تتوفر|توجد)\s+(?:لدي\s+)?معلومات"
    r"|^(?:leider\s+)?ich\s+(?:habe\s+keine|wei(?:ß|ss)\s+(?:es\s+)?nicht|kann\s+\w*\s*(?:frage|das)?\s*nicht)"
    r"|^je\s+(?:ne\s+sais\s+pas|n['’]ai\s+pas|ne\s+peux\s+pas)|^no\s+(?:tengo|hay)\s+(?:esa\s+)?informaci",
    re.IGNORECASE,
)
_PART = re.compile(r"[,;:—]\s+(?:(?:but|and|however|although|though|while|so|yet),?\s+)?")
_SHORTEST_REST = 2
# What such a word opens hangs on the part before.
_HANGING = frozenset("or nor who whom whose which what when where why how whether if".split())  # noqa: SIM905


def statements(text: str) -> list[str]:
    """Return the claims of a text in order: sentences, cut where a part surely stands alone.

    What is no claim is left out (see `no_claim`), and so are citation marks, the signs of layout,
    and openers such as "Please note that". Of an opinion what it says of numbers and names is a
    claim, of an abstention what stands beside it ("While the texts do not say when, it rose").
    Pronouns stay as they are, but where a clause is cut off its subject.
    """
    found = []
    for sentence in split_sentences(text):
        kind, plain = no_claim(sentence), _LEAD_IN.sub("", bare(sentence))
        if kind == "abstention":
            found += clauses(_beside_abstention(plain))
        elif kind is None:
            found += clauses(_OPINION.sub("", plain))
    return found


def bare(sentence: str) -> str:
    """Return a sentence without citation marks, emphasis and the mark of a list item."""
    spaced = " ".join(sentence.split())  # first: expressions are slow on long runs of spaces
    plain = _EMPHASIS.sub("", _LAYOUT.sub("", _MARK.sub("", spaced)))
    return _LEFT_OVER.sub("", plain).strip()


def no_claim(sentence: str) -> NoClaim | None:
    """Return why a sentence claims nothing that could be held against a document; None if it does.

    Questions, headings, opinions, and what the answer says about itself or about what it lacks.
    """
    plain = bare(sentence)
    marked = _HEADING_MARK.match(" ".join(sentence.split())) or plain.endswith((":", "："))
    if marked and len(plain.split()) <= _LONGEST_HEADING:
        return "heading"
    if _QUESTION.search(plain):
        return "question"
    if _ABSTENTION.search(plain):
        return "abstention"
    if _ABOUT_THE_ANSWER.search(plain):
        return "about_the_answer"
    if _OPINION.search(plain) and not _is_checkable(_OPINION.sub("", plain)):
        return "opinion"
    if len(tokenize(plain)) < 2:
        return "too_short"
    return "heading" if _is_title(plain) else None


def abstains(text: str) -> bool:
    """Return whether a response declines to answer: it says so, and claims nothing else."""
    kinds = [no_claim(sentence) for sentence in split_sentences(text)]
    return "abstention" in kinds and not statements(text)


def _beside_abstention(sentence: str) -> str:
    """Return what a sentence says beside that something is lacking; empty if that is all."""
    parts = [part for part in _PART.split(sentence) if not _ABSTENTION.search(part)]
    rest = ", ".join(parts)
    words = rest.lower().split()
    hangs = not _HANGING.isdisjoint(words[:2])
    says = scripts(rest) != {"latin"} or subject_of(rest) is not None
    return rest if len(words) >= _SHORTEST_REST and says and not hangs else ""


def _is_checkable(opinion: str) -> bool:
    """Tell if an opinion is about a number or a name: it can be held against a document."""
    return any(c.isdigit() for c in opinion) or any(w[:1].isupper() for w in opinion.split())


def _is_title(plain: str) -> bool:
    """Tell a few words without a stop, each with a capital: a heading that no mark gives away."""
    words = [word for word in plain.split() if word.lower() not in _MINOR]
    few = 1 < len(words) <= _LONGEST_BARE_HEADING and not _STOPPED.search(plain)
    capitals = all(word[0].isupper() or not word[0].isalpha() for word in words)
    return few and capitals and not any(c.isdigit() for c in plain) and scripts(plain) == {"latin"}
