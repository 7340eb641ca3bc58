"""What a text claims, by rules: the clauses that stand alone, without what is no claim."""

from __future__ import annotations

import re
from typing import Literal

from trecjudge.text.clauses import clauses
from trecjudge.text.sentences import CITATION, split_sentences
from trecjudge.text.tokens import scripts, tokenize
from trecjudge.text.verbs import FINITE

NoClaim = Literal["question", "heading", "opinion", "about_the_answer", "abstention", "too_short"]

_MARK = re.compile(rf"\s*{CITATION}")
_LAYOUT = re.compile(r"^\s*(?:#{1,6}\s+|[-*•‣]\s+|\d{1,3}[.)]\s+|>\s*)+")
_EMPHASIS = re.compile(r"\*{1,3}|__|`")
# What is left where citations of another kind were taken out: "], and so on,,."
_LEFT_OVER = re.compile(r"^[\],;:.)\s]+|(?<![\s,])(?:\s*,)+(?=\s*[.,;]|$)")
_HEADING_MARK = re.compile(r"^\s*(?:#{1,6}\s|(\*\*|__)[^*_]+\1\s*:?\s*$)")
_QUESTION = re.compile(r"[?？؟]['\"”’»)\]]*$")
_STOPPED = re.compile(r"[.!。！．۔।…]['\"”’»)\]』」]*$")
_HEADING_WORDS = 8
# Some runs have a heading and what follows it as one sentence.
_LONGEST_HEADING = 12
_OPINION = re.compile(
    r"^(?:(?:personally|honestly|frankly),?\s|in\s+(?:my|our)\s+(?:opinion|view)\b|"
    r"(?:i|we)\s+(?:(?:would|strongly|personally)\s+)?"
    r"(?:think|believe|feel|hope|guess|suggest|recommend|prefer|wish|doubt|suspect)\b)",
    re.IGNORECASE,
)
_MATERIAL = (
    r"(?:(?:the|these|those|any|all|my|your|this)\s+)?(?:of\s+the\s+)?"
    r"(?:(?:provided|given|available|retrieved|supplied|cited|above|listed|search|source)\s+){1,4}"
    r"(?:documents?|contexts?|sources?|information|passages?|references?|segments?|texts?|results?|"
    r"articles?|materials?|excerpts?|data|evidence)"
)
_LEAD_IN = re.compile(
    rf"^(?:based\s+on|according\s+to|from|as\s+per)\s+{_MATERIAL}\s*,\s*", re.IGNORECASE
)
_ABOUT_THE_ANSWER = re.compile(
    r"^(?:(?:this|the)\s+(?:answer|response|report|summary|overview|essay|section)\s+"
    r"(?:is|was|will|does|covers?|provides?|aims?|has|cannot|may|might|should|summari[sz]es|"
    r"describes|discusses|focuses|examines|explores|outlines)\b"
    r"|(?:here|below|above|following)\s+(?:is|are)\b"
    r"|(?:i\s+hope|let\s+me|please\s+(?:note|let|provide|consult|see|refer)|feel\s+free|"
    r"as\s+an\s+(?:ai|language)|sure[,!]|certainly[,!]|of\s+course[,!]|sorry|thank\s)"
    r"|(?:i|we)\s+(?:will|shall|can|am\s+going\s+to)\s+"
    r"(?:summari[sz]e|describe|discuss|explain|answer|outline)\b)",
    re.IGNORECASE,
)
# Each says that the answer, or what it was given, lacks what was asked for.
_ABSTENTION = re.compile(
    r"\b(?:i|we)\s+(?:do\s+not|don['’]t|did\s+not|didn['’]t|cannot|can['’]t|can\s+not|"
    r"could\s+not|couldn['’]t|am\s+not\s+able|am\s+unable|are\s+unable|was\s+unable|"
    r"were\s+unable|have\s+no)\b"
    r"(?=.{0,60}\b(?:know|find|answer|information|data|details?|evidence|access|determine|provide|"
    r"say|tell|locate|help|assist|confirm|verify|respond|sure|enough|idea)\b)"
    rf"|{_MATERIAL}\s+(?:(?:do|does|did)\s+not|don['’]t|doesn['’]t|didn['’]t|cannot|contains?\s+no|"
    r"(?:is|are)\s+(?:not|in)\s*(?:sufficient|enough)|lacks?|offers?\s+no|gives?\s+no|provides?\s+no)"
    r"|\b(?:there\s+(?:is|was)|there['’]s)\s+(?:no|not\s+enough|insufficient)\s+"
    r"(?:information|data|evidence|answer|detail)\b.{0,60}"
    r"\b(?:documents?|context|sources?|passages?|provided|given|available|question|answer|topic)\b"
    r"|^(?:no|insufficient|not\s+enough)\s+(?:relevant\s+)?(?:information|data|answer|evidence)\b"
    r"(?:.{0,40}\b(?:found|available|provided|given)\b|[.!\s]*$)"
    r"|^(?:(?:the\s+)?(?:answer|information|question)\s+)?(?:is\s+)?(?:unknown|unanswerable|n/?a|"
    r"not\s+(?:available|known|found|answerable)|cannot\s+be\s+(?:answered|determined|found))[.!\s]*$"
    r"|我(?:没有|無法|无法|不知道|找不到|不能)|(?:无法|無法|不能)(?:回答|确定|確定|提供|找到)"
    r"|(?:没有|沒有|未)(?:提供|找到|包含)?(?:相关|相關|足够|足夠)?(?:的)?(?:信息|資訊|资料|資料)"
    r"|(?:у\s+меня|в\s+(?:предоставленных|данных)\s+\w+)\s+нет\b|(?:я\s+)?не\s+(?:знаю|могу\s+ответить)"
    r"|недостаточно\s+(?:информации|данных)|нет\s+(?:такой\s+)?информации"
    r"|لا\s+(?:أملك|أعرف|أعلم|تتوفر|توجد|يوجد|يمكنني|أستطيع)(?=.{0,40}(?:معلوم|جواب|إجابة|الإجابة|بيانات|$))"
    r"|ليس(?:ت)?\s+لدي|"
    r"\bich\s+(?:habe\s+keine|wei(?:ß|ss)\s+(?:es\s+)?nicht|kann\s+\w*\s*(?:frage|das)?\s*nicht)"
    r"|\bje\s+(?:ne\s+sais\s+pas|n['’]ai\s+pas|ne\s+peux\s+pas)|\bno\s+(?:tengo|hay)\s+(?:esa\s+)?informaci",
    re.IGNORECASE,
)


def statements(text: str) -> list[str]:
    """Return the claims of a text in order: sentences, cut where a part surely stands alone.

    What is no claim is left out (see `no_claim`), and so are citation marks and the signs of
    layout. Pronouns stay as they are, but where a clause is cut off its subject.
    """
    return [
        claim
        for sentence in split_sentences(text)
        if no_claim(sentence) is None
        for claim in clauses(_LEAD_IN.sub("", bare(sentence)))
    ]


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
    for kind, pattern in _BY_PATTERN:
        if pattern.search(plain):
            return kind
    count = len(tokenize(plain))
    if count < 2:
        return "too_short"
    return "heading" if _is_bare_heading(plain, count) else None


_BY_PATTERN: tuple[tuple[NoClaim, re.Pattern[str]], ...] = (
    ("opinion", _OPINION),
    ("about_the_answer", _ABOUT_THE_ANSWER),
)


def abstains(text: str) -> bool:
    """Return whether a response declines to answer: it says so, and claims nothing else."""
    kinds = [no_claim(sentence) for sentence in split_sentences(text)]
    return "abstention" in kinds and None not in kinds


def _is_bare_heading(plain: str, count: int) -> bool:
    """Tell a few words without stop and verb; of scripts whose verbs are not known, never."""
    if count > _HEADING_WORDS or _STOPPED.search(plain) or scripts(plain) != {"latin"}:
        return False
    return FINITE.isdisjoint(plain.lower().split()) and not any(
        word.endswith("ed") for word in plain.split()
    )
