"""Sentences that decline to answer, because the sources, or the answerer, lack it.

By structure, not by a list: a source that does not mention it; an answerer who cannot know it from
the sources; information that is not there. A statement about the world ("Nobody knows when",
"The law does not mention it") is a claim.
"""

from __future__ import annotations

import re

from trecjudge.judging.claims.declining_abroad import declines_abroad
from trecjudge.text.expressions import expression

_SOURCE = (
    r"(?:documents?|contexts?|sources?|passages?|references?|segments?|excerpts?|snippets?|"
    r"(?:search\s+)?results?|texts?|articles?|corpus|(?:source\s+)?materials?|"
    r"(?:background\s+)?information|evidence|data|reports?|collection|content)"
)
_SURELY = (
    r"(?:documents?|contexts?|sources?|passages?|references?|segments?|excerpts?|snippets?|"
    r"search\s+results?|texts?|articles?|corpus|source\s+materials?|information)"
)
"""Surely a source, without more words; a report or a material may be the subject."""

_GIVEN = (
    r"(?:provided|given|available|retrieved|supplied|cited|above|listed|search|source|accessible|"
    r"present|attached|returned|two|three|four|five|many|few)"
)
_HERE = (
    r"(?:provided|given|available|retrieved|supplied|at\s+hand|here|above|at\s+my\s+disposal|"
    r"(?:that\s+|which\s+)?(?:i|we)\s+(?:have|had|was\s+given|were\s+given|was\s+provided))"
)
MATERIAL = rf"(?:(?:the|these|those|any|all|my|your|this|our)\s+)?(?:{_GIVEN}\s+){{1,4}}{_SOURCE}"
"""The sources of an answer, called so."""

THE_MATERIAL = (
    rf"(?:{MATERIAL}|(?:the|these|those|this|my|our|its)\s+{_SURELY}(?:\s+{_HERE})?"
    rf"|(?:the|these|those|this)\s+{_SOURCE}\s+{_HERE})"
)
_ADVERB = r"(?:(?:\w+ly|also|even|in\s+fact|themselves|itself|at\s+all)\s+)?"
_NOT = (
    r"(?:(?:do|does|did|can|could|will|would)\s+not|don['’]t|doesn['’]t|didn['’]t|cannot|can['’]t|"
    r"couldn['’]t|won['’]t|never|fail(?:s|ed)?\s+to|neither)"
)
_SAY = (
    r"(?:seem\s+to\s+|appear\s+to\s+|directly\s+|explicitly\s+)?"
    r"(?:mention|contain|provide|say|specify|include|address|state|give|discuss|answer|cover|have|"
    r"offer|indicate|explain|describe|detail|evaluate|list|tell|reveal|clarify|report|disclose|"
    r"identify|yield|allow|permit|elaborate|touch|speak|name|define|mention|refer|respond|note)"
)
_SAYS = rf"{_SAY}(?:e?s|d|ed)?"
_LACKING = (
    r"(?:information|infos?|details?|answers?|data|mention|context|specifics|indication|"
    r"explanation|reference|facts|knowledge|clues?|discussion|description)"
)
_KIND = (
    r"(?:(?:relevant|specific|further|additional|direct|clear|explicit|reliable|exact|useful)\s+)*"
)
_FIND_OUT = (
    r"(?:answer|determine|say|tell|know|respond|reply|find|establish|conclude|confirm|verify|"
    r"identify|ascertain|decide|state|provide|give|locate|judge|assess|address|infer|draw)"
)
_TOLD = (
    r"(?:specified|mentioned|given|provided|stated|included|available|discussed|covered|addressed|"
    r"detailed|found|contained|described|listed|explained|present|indicated|reported|disclosed|"
    r"answered|clear|said|named|identified|documented)"
)
_FOUND_OUT = (
    r"(?:answered|determined|found|verified|established|known|told|inferred|ascertained|located|"
    r"confirmed)"
)
_NO_MORE = r"[.!\s]*$"
_THE_QUESTION = (
    r"(?:(?:to|for|on)\s+(?:this|the|your|that)\s+(?:\w+\s+)?(?:question|query|topic|request))"
)
# A source that does not mention it.
_SILENT = (
    rf"{THE_MATERIAL}\s+{_ADVERB}{_NOT}\s+{_ADVERB}{_SAY}\b",
    rf"{THE_MATERIAL}\s+{_ADVERB}(?:contain|offer|give|provide|make|have|includ|hold|yield|return)"
    r"\w*\s+(?:no|nothing|little|insufficient|not\s+enough|only\s+limited)\b",
    rf"{THE_MATERIAL}\s+(?:says?|said|tells?|reveals?|mentions?|states?)\s+(?:us\s+)?nothing\b",
    rf"{THE_MATERIAL}\s+(?:is|are|was|were|remains?)\s+{_ADVERB}(?:silent|mute|insufficient|"
    r"inadequate|not\s+(?:sufficient|enough|adequate|clear|specific|relevant)|unclear|irrelevant|"
    r"unrelated)\b",
    rf"{THE_MATERIAL}\s+(?:lacks?\s+(?:(?:the|any|this|that|such|enough|sufficient)\s+)?"
    rf"{_KIND}{_LACKING}|leaves?\s+(?:this|it|the\s+question)\s+(?:open|unanswered))\b",
    # Of a material not all verbs will do: much else can be stated of it.
    rf"\b(?:the|these|those)\s+materials?\s+{_NOT}\s+{_ADVERB}(?:mention|say|specify|address|state|"
    r"discuss|answer|tell|indicate|explain|describe)\b",
    rf"\b(?:none|neither|not\s+one|few)\s+of\s+(?:the|these|those|my|our)\s+(?:{_GIVEN}\s+)*"
    rf"{_SOURCE}(?:\s+{_HERE})?\s+(?:{_ADVERB}{_SAYS}|(?:is|are)\s+relevant)\b",
    rf"\b(?:no|neither)\s+(?:{_GIVEN}\s+|single\s+)*{_SURELY}(?:\s+{_HERE})?\s+{_ADVERB}{_SAYS}\b",
    rf"\b(?:nothing|nowhere|no\s+{_LACKING})\s+(?:\w+\s+){{0,4}}?(?:in|within|of|from)\s+"
    rf"{THE_MATERIAL}",
    rf"\bno\s+(?:[\w-]+\s+){{1,4}}?(?:is|are|was|were)\s+{_TOLD}\s+(?:in|by|from|within)\s+"
    rf"{THE_MATERIAL}",
    rf"\b(?:not|never|nowhere|n['’]t)\s+(?:\w+ly\s+)?(?:be\s+)?{_TOLD}\s+(?:anywhere\s+)?"
    rf"(?:in|by|from|within)\s+{THE_MATERIAL}",
    r"\b(?:information|answer|details?|data)\b[^.;]{0,40}\b(?:missing|absent|lacking|not\s+in)\b"
    rf"[^.;]{{0,10}}{THE_MATERIAL}",
)
# Who answers is not able to, or nobody is by these sources.
_CANNOT = r"(?:cannot|can['’]t|can\s+not|could\s+not|couldn['’]t|not)"
_UNABLE = (
    r"\b(?:i|we)(?:['’]m|['’]re)?\s+(?:do\s+not|don['’]t|did\s+not|didn['’]t|cannot|can['’]t|"
    r"can\s+not|could\s+not|couldn['’]t|(?:am|are|was|were)\s+(?:not\s+able|unable)|not\s+able|"
    r"unable|have\s+(?:no|insufficient|not\s+enough|too\s+little)|lack|found\s+no|find\s+no|"
    r"have\s+not\s+found|haven['’]t\s+found)\b"
    r"(?=.{0,60}\b(?:know|answer|information|details?|access|determine|provide|say|tell|locate|"
    r"help|assist|confirm|verify|respond|sure|enough|idea|knowledge|"
    r"(?:find|found)\s+(?:this|that|it|any|the|an)\b))",
    rf"^(?:(?:unable|not\s+able|impossible|not\s+possible)\s+to|{_CANNOT})\s+{_FIND_OUT}\b",
    rf"^(?:this|it|that)\s+{_CANNOT}\s+be\s+answered\b",
    r"\b(?:is|it['’]s|was)\s+(?:not\s+possible|impossible|unclear|unknown|not\s+clear|difficult)\b"
    rf"[^.;]{{0,60}}\b(?:from|by|in|with|using|on)\s+{THE_MATERIAL}",
    rf"^(?:based|relying|judging|going|from|with|given|using|considering)\b[^,;]{{0,30}}"
    rf"{THE_MATERIAL}[^,;]{{0,30}},?\s+[^.;]{{0,40}}\b(?:"
    rf"(?:{_CANNOT}|(?:not\s+possible|impossible|difficult)\s+to|unable\s+to|no\s+way\s+to)\s+"
    rf"(?:be\s+)?(?:\w+ly\s+)?(?:{_FIND_OUT}|{_FOUND_OUT})\b|(?:is|it['’]s)\s+(?:unclear|"
    rf"unknown)\b)",
    rf"\b{_CANNOT}\s+be\s+{_FOUND_OUT}\b(?=.{{0,40}}\b(?:{THE_MATERIAL}|{_SURELY})\b)",
    r"\b(?:this|the|your)\s+question\s+(?:is\s+unanswerable|remains\s+unanswered|"
    rf"{_CANNOT}\s+be\s+answered)\b",
)
# Information that is not there.
_IS = r"(?:is|was|are|were)"
_TOO_LITTLE = r"(?:no|not\s+(?:any|enough|sufficient)|insufficient|inadequate|too\s+little)"
_ABSENT = (
    rf"\bthere\s*(?:{_IS}|['’]s)\s*(?:{_TOO_LITTLE}|n['’]t\s+(?:any|enough))\s+{_KIND}"
    rf"(?:information|answers?(?!\s+to\s+(?!this|the\s+question|your|that\s+question))|details?|"
    rf"context|"
    rf"(?:mention|reference|indication|discussion)\b[^.;]{{0,60}}{THE_MATERIAL})\b",
    rf"\bthere\s+{_IS}\s+nothing\b[^.;]{{0,30}}\b(?:in|from|within|among)\s+{THE_MATERIAL}",
    rf"\bthere\s+{_IS}\s+{_TOO_LITTLE}\s+(?:\w+\s+)?(?:{_SURELY}|data|evidence)\s+"
    r"(?:(?:that|which|to)\s+)?(?:answers?|address(?:es)?|respond|mention)\b",
    rf"^{_TOO_LITTLE}\s+{_KIND}(?:{_LACKING}|evidence)\b(?:{_NO_MORE}"
    rf"|(?=.{{0,60}}\bto\s+(?:answer|respond|say|tell)\b)"
    rf"|[^.;]{{0,40}}\b(?:in|from|within)\s+{THE_MATERIAL})",
    rf"^{_TOO_LITTLE}\s+{_KIND}{_LACKING}\b[^.;]{{0,40}}?\b"
    r"(?:found|available|provided|given|located|identified|retrieved)\b(?!\s+by\b)",
    r"^(?:the\s+)?(?:(?:requested|required|necessary|needed|relevant)\s+)?"
    rf"(?:answer|information|question|date|details?)\s+(?:{_THE_QUESTION}\s+)?"
    rf"(?:{_IS}|could|can)\s*(?:not|n['’]t)\s+(?:be\s+)?"
    rf"(?:available|known|located|determined|answerable|answered|{_TOLD}){_NO_MORE}",
    r"^(?:(?:the\s+)?(?:answer|information|question)\s+)?(?:is\s+)?(?:unknown|unanswerable|n/?a|"
    rf"not\s+(?:known|answerable|{_TOLD})|cannot\s+be\s+{_FOUND_OUT}){_NO_MORE}",
    rf"^{_TOO_LITTLE}\s+{_KIND}(?:information|details?|"
    rf"context)\s+(?:\w+\s+){{0,3}}?to\s+{_FIND_OUT}\b",
    rf"^no\s+{_KIND}(?:(?:search|matching)\s+)?{_SOURCE}\s+(?:{_IS}\s+|could\s+be\s+)?"
    rf"(?:found|retrieved|provided|available|returned|given)(?:{_NO_MORE}|\s+(?:for|on|about|"
    rf"that)\b)",
    r"^(?:the|my|our)\s+search\s+(?:has\s+)?(?:returned|found|gave|yielded|produced)\s+"
    rf"(?:nothing{_NO_MORE}|no\s+{_KIND}(?:results?|documents?|passages?|sources?|information|"
    rf"matches)\b)",
    rf"\b(?:evidence|information|data|context)\s+{_IS}\s+(?:insufficient|inadequate|too\s+\w+|"
    r"not\s+(?:sufficient|enough|adequate))\s+to\s+(?:answer|respond)\b",
    rf"^(?:more|further|additional)\s+(?:information|context|details?)\s+(?:{_IS}|would\s+be)\s+"
    r"(?:needed|required|necessary)\s+to\s+(?:answer|respond)\b",
)
_DECLINES = "|".join((*_SILENT, *_UNABLE, *_ABSENT))
_APOLOGY = re.compile(
    r"^(?:(?:i['’]m|i\s+am|we\s+are|we['’]re)\s+)?(?:(?:very|so)\s+)?"
    r"(?:sorry|afraid|unfortunately|apologies|regrettably|sadly)\b[,!.:]?\s*(?:(?:but|that)\s+)?",
    re.IGNORECASE,
)
# None of the above is possible without one of these; most sentences have none.
_LACK = re.compile(
    r"\b(?:no|not|none|neither|nothing|nowhere|never|cannot|unable|insufficient|inadequate|lack|"
    r"lacks|"
    r"lacking|silent|mute|omits?|missing|absent|un(?:known|clear|answerable|answered)|impossible|"
    r"fail(?:s|ed)?|n/?a|more|further|additional|unrelated|little|few|difficult|limited|too|"
    r"leaves?|irrelevant)\b|n['’]t\b",
    re.IGNORECASE,
)
# With a model that finds no claim, less will do: a denial, and a word of sources or of answering.
_ABOUT_ANSWERING = re.compile(
    rf"\b(?:{_SOURCE}|{_LACKING}|answer\w*|question|query|asked|request\w*|i|we)\b",
    re.IGNORECASE,
)


def declines(sentence: str) -> bool:
    """Return whether a sentence, or a part of one, states that an answer is lacking."""
    if _LACK.search(sentence):
        plain = _APOLOGY.sub("", sentence)
        if expression(_DECLINES, re.IGNORECASE).search(plain):
            return True
    return declines_abroad(sentence)


def may_decline(sentence: str) -> bool:
    """Return whether a sentence in which a model found no claim can be read as declining."""
    return bool(_LACK.search(sentence) and _ABOUT_ANSWERING.search(sentence)) or declines(sentence)
