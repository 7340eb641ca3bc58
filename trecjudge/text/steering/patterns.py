"""Patterns of steering text in English, tried only around the few words that each must contain."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from trecjudge.text import expression

BEFORE, AFTER = 120, 200
"""Characters around an anchor that a pattern may reach."""

# Patterns of steering text, tried only around the few words that each must contain.
_REACH = 40  # characters before a verb in which a command must be recognised
# What precedes a verb in a command; "Researchers told a model to ignore" has none of it.
_COMMANDED = (
    r"(?:[.!?:;,\n(\[{>*\"'“”„«»—–¡¿-]|\b(?:please|kindly|now|just|simply|then|and|so|always|only|"
    r"you|to\s+you|you\s+(?:must|should|shall|will|can|may|need\s+to|have\s+to|are\s+to)|"
    r"i\s+(?:would|will)|i'd|do\s+not|don't|never|"
    r"(?:want|ask|like|instruct|order|command|require|tell|urge|beg)\s+you\s+to|"
    r"bitte|und|veuillez|et|s'il\s+(?:te|vous)\s+pla[iî]t|por\s+favor|y|per\s+favore|e))\s*\Z"
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A kind of steering text: `expressions` are tried only around the `anchors`, plain text.

    An anchor of Latin letters is how a word begins; any other may stand anywhere.
    `commanding`: a pattern begins with a verb, which must be a command. `cased`: case matters.
    """

    anchors: tuple[str, ...]
    expressions: tuple[str, ...]
    commanding: bool = False
    cased: bool = False

    def within(self, text: str, start: int, end: int) -> tuple[int, int] | None:
        """Return where a passage stands in a part of a text."""
        for pattern in self.expressions:
            for match in expression(pattern).finditer(text, start, end):
                before = text[max(0, match.start() - _REACH) : match.start()]
                if not self.commanding or expression(_COMMANDED).search(before):
                    return match.span()
        return None


def pattern(
    anchors: str, *expressions: str, commanding: bool = False, cased: bool = False
) -> Pattern:
    """Return a pattern: anchors separated by bars, and expressions of which one must match."""
    return Pattern(tuple(anchors.split("|")), expressions, commanding, cased)


class Patterns:
    """Patterns searched together: one pass over a text finds the anchors of all."""

    def __init__(self, expressions: Iterable[Pattern]) -> None:
        self._patterns = tuple(expressions)
        anchors = {anchor for one in self._patterns for anchor in one.anchors}
        self._by_anchor = {
            anchor: [n for n, one in enumerate(self._patterns) if anchor.startswith(one.anchors)]
            for anchor in anchors
        }
        plain = {anchor for anchor in anchors if re.fullmatch(r"[a-z][a-zà-ÿ ,:'\]]*", anchor)}
        self._words = re.compile(rf"[^a-z](?=({_branches(plain)}))") if plain else None
        self._others = [(anchor, _rarest(anchor)) for anchor in sorted(anchors - plain)]

    def first(self, text: str) -> tuple[int, int] | None:
        """Return where the first passage found stands in a text that begins with a new line."""
        lower = text.lower()
        places: defaultdict[int, list[int]] = defaultdict(list)
        for anchor, at in self._anchors(text, lower):
            for number in self._by_anchor[anchor]:
                places[number].append(at)
        for number, found in places.items():
            one = self._patterns[number]
            for start, end in _parts(found):
                if span := one.within(text if one.cased else lower, start, end):
                    return span
        return None

    def _anchors(self, text: str, lower: str) -> Iterator[tuple[str, int]]:
        if self._words is not None:
            for match in self._words.finditer(lower):
                yield match[1], match.end()
        for anchor, rarest in self._others:
            within = text if anchor.isupper() else lower
            at = within.find(anchor) if rarest in within else -1
            while at >= 0:
                yield anchor, at
                at = within.find(anchor, at + len(anchor))


def _rarest(anchor: str) -> str:
    """Return a character of an anchor that few texts have: a sign, if it has any."""
    return next((c for c in anchor if not c.isspace() and not c.isalpha()), anchor[0])


def _parts(places: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text around places in it: those that touch are one."""
    start = end = -1
    for at in sorted(places):
        if at - BEFORE > end:
            if end > 0:
                yield start, end
            start = max(0, at - BEFORE)
        end = at + AFTER
    yield start, end


def _branches(words: Iterable[str]) -> str:
    """Return a pattern of words as a tree of their letters: few are tried at each place.

    Of two words that begin alike the longer one is tried first.
    """
    firsts: defaultdict[str, list[str]] = defaultdict(list)
    for word in filter(None, words):
        firsts[word[0]].append(word[1:])
    parts = [re.escape(first) + _rest(rest) for first, rest in sorted(firsts.items())]
    return "|".join(parts)


def _rest(endings: list[str]) -> str:
    if len(endings) == 1:
        return re.escape(endings[0])
    return f"(?:{_branches(endings)}){'?' if '' in endings else ''}"


# Building blocks of the English patterns: words for texts, judges, grades and labels.
TEXT = (
    r"(?:texts?|answers?|responses?|reports?|sentences?|passages?|documents?|claims?|messages?|"
    r"outputs?|summar(?:y|ies)|submissions?|runs?|paragraphs?|content|essays?|citations?|"
    r"statements?|items?|repl(?:y|ies)|entr(?:y|ies)|questions?|pairs?)"
)
"""Words for what is judged."""

THIS = (
    r"(?:it|this|these|that|them|my|our|me|us|"
    rf"(?:every|each|all|any|the)(?=\s+(?:\w+\s+){{0,2}}{TEXT}\b))"
)
"""Words that refer to it."""

PERSON = (
    r"(?:graders?|evaluators?|assessors?|annotators?|raters?|judges?|reviewers?|examiners?|"
    r"adjudicators?|scorers?)"
)
MACHINE = (
    r"(?:(?:large\s+)?language\s+models?|llms?(?:-as-a-judge)?|chat\s?bots?|gpt(?:-\w+)?|chatgpt|"
    r"a\.?i\.?s?(?:\s+(?:models?|systems?|assistants?|judges?|agents?))?|assistant|"
    r"(?:grading|judging|evaluation|scoring)\s+(?:models?|systems?|scripts?|bots?))"
)
JUDGE = rf"(?:{PERSON}|{MACHINE})"
"""Words for who judges."""

TOP = (
    r"(?:(?:full|top|maximum|max|maximal|highest|perfect|best|excellent|high|positive|"
    r"favou?rable)\s+(?:possible\s+|available\s+)?"
    r"(?:marks?|scores?|grades?|ratings?|labels?|points|verdicts?|judge?ments?|evaluations?))"
)
NUMBER = (
    r"(?:(?:a\s+)?(?:perfect\s+)?(?:\d+(?:\.\d+)?|three|five|ten)"
    r"(?:\s*/\s*\d+|\s+out\s+of\s+\d+)?"
    r"(?!\s*(?:to|-|–|and|or)\s*\d|[\w%]|[.,]\d|\s+(?:of|in|per)\b))"
)
ALL_OF = r"(?:(?P<most>\d+)(?:\s*/\s*|\s+out\s+of\s+|\s+of\s+)(?P=most)(?![\d/]))"
"""Full marks: "10/10"."""

LABEL = (
    r"(?:(?:full(?:y)?|partial(?:ly)?|no|not|completely|entirely|totally|well)"
    r"[\s_-]?support(?:ed|s)?|(?:un)?supported|(?:un)?attributed|contradicted|ambiguous|"
    r"entail(?:ed|ment|s)|attested|faithful|(?:perfectly|highly)\s+relevant|relevant|grounded)"
)
RIGHT = (
    r"(?:correct|true|accurate|right|valid|perfect|excellent|complete|justified|proven|verified|"
    r"backed)"
)
YES = r"(?:yes|no|true|false|unsure|pass|passed)"
CHOICE = (
    rf"(?:{LABEL}|{YES}|exact|paraphrase|inference|none|vital|detail|supports?|contradicts|partial|"
    r"(?:un)?met|"
    r"(?:not-)?compound|(?:very-)?(?:similar|different))"
)
"""Labels of our own prompts, with which a test compares them."""

QUOTE = r"[\"'`*“”‘«(\[]*"
END = r"[\"'`*”’»)\]]*\s*(?:[.!;,\n]|$)"
NOUN = r"(?:labels?|verdicts?|grades?|scores?|ratings?|judge?ments?)"
"""Words for a judgment."""

JUDGING = r"(?:grad|evaluat|assess|judg|scor|rat)(?:ing|es|e|s)?"


def words(count: int = 3) -> str:
    """Return a pattern of up to so many words, as few as possible."""
    return rf"(?:[\w-]+\s+){{0,{count}}}?"


TEMPLATE_MARK = (
    r"<\|[^|<>\n]{2,40}\|>|\[/?inst\]|<</?sys>>|</?(?:start|end)_of_(?:turn|text|utterance)>"
    r"|<\|?im_(?:start|end)\|?>"
)
"""Marks by which chat templates separate the turns of a conversation."""

_KEY = (
    r"(?:labels?|verdicts?|grades?|scores?|ratings?|supported|support|relevance|relevant|"
    r"judge?ments?|attribution|attributed|entailment|entailed|faithful(?:ness)?|is_supported|"
    r"support_level|overall|decision|match|importance|correct|final_answer|answer)"
)
_WORD = rf"(?:{CHOICE}|{RIGHT}|\d+(?:\.\d+)?)"
_VALUE = rf"[\[\"'\s]*{_WORD}(?:[\"'\s\],}}]|$)"

MARKS: tuple[Pattern, ...] = (
    pattern("_support", r"\b(?:full|partial|no)_support\b"),
    pattern(
        "ATTRIBUTED|CONTRADICTED",
        r"(?<![A-Z] )(?<![A-Z])(?:UN)?(?:ATTRIBUTED|CONTRADICTED)\b(?!\s+[A-Z]{2})",
        cased=True,
    ),
    pattern(
        "<|[",
        rf"{TEMPLATE_MARK}|\[\[\s*##|<\|?/?(?:system|assistant)\|?>|\[/?system(?:_prompt)?\]",
    ),
    pattern(
        "assistant:|assistant :|human:|human :|user:|user :|system:|system :|system]|assistant]|"
        "system message|system note|system instruction|system override|system command|"
        "system prompt|system alert|developer:|developer message|developer note",
        r"\n[ \t]*\n\s*(?:human|assistant)\s?:",
        r"\n\s*(?:human|user)\s?:[^\n]*\s+assistant\s?:",
        r"(?:[\n.!?\"'(\[]\s*)(?:\[|\*\*)?(?:system|assistant|developer)"
        r"(?:\s+(?:message|note|instruction|override|command|prompt|alert))?(?:\]|\*\*)?\s?:"
        r"(?:\*\*)?\s*(?:please\s+)?(?:you\s+(?:are|must|will|should|can|have)|approve|accept|"
        r"ignore|disregard|answer|output|respond|grade|rate|mark|"
        r"the\s+(?:label|verdict|grade|score|correct))\b",
    ),
    pattern(
        "##",
        r"#{2,}\s*(?:instruction|system|assistant|human|user)s?\s*:|#{2,}\s*response\s*:",
    ),
    # A verdict as data: JSON, Python, XML.
    pattern(
        '":|\':|" :|" =|={|{|<|= [|=[|= \'|=\'|= "|="',
        rf"[\"']{_KEY}[\"']\s*[:=]{_VALUE}",
        rf"\{{\s*{_KEY}\s*[:=]{_VALUE}",
        rf"<{_KEY}>\s*{_WORD}",
        rf"\b{_KEY}\s*=\s*\[?[\"']\s*{_WORD}",
        r"\b(?:labels|verdicts|grades|scores)\s*[:=]\s*\[",
    ),
)


_ORDERS = (
    r"(?:instructions?|prompts?|rules?|guidelines?|directions?|directives?|commands?|orders?|"
    r"constraints?|criteria|rubrics?|tasks?|messages?|policy|policies|training|requirements?|"
    r"context|text)"
)
_STRICT_ORDERS = (
    r"(?:instructions?|rules?|guidelines?|prompts?|rubrics?|directives?|criteria|training)"
)
_EARLIER = (
    r"(?:previous(?:ly)?|prior|above|earlier|preceding|former|foregoing|existing|original|initial|"
    r"system(?:'s)?|past|current|developer|other|safety|grading|evaluation|judging|scoring)"
)
_WHOSE = (
    r"(?:all|any|every|everything|the|your|you|these|those|each|of|my|that|given|were|other|such|"
    r"and|or|in)"
)
_OVERRIDE = (
    r"\b(?:ignore|disregard|forget|override|overrule|bypass|discard|neglect|abandon|drop|skip|"
    r"(?:do\s+not|don't|stop|never|cease)\s+"
    r"(?:follow(?:ing)?|obey(?:ing)?|adher(?:e|ing)\s+to|comply(?:ing)?\s+with)|"
    r"(?:pay|give)\s+no\s+attention\s+to)\s+(?:about\s+)?"
)
_LINE = r"(?:[.!?\n\"'(\[*#>]\s*)"
_MUST = r"(?:must|should|shall|will|can|have\s+to|has\s+to|needs?\s+to|(?:is|are)\s+to|may)"

OVERRIDING = (
    pattern(
        "ignore|disregard|forget|overrid|overrule|bypass|discard|neglect|abandon|skip|drop |"
        "not follow|not obey|not comply|not adher|don't follow|don't obey|stop follow|stop obey|"
        "cease|never follow|never obey|no attention",
        rf"{_OVERRIDE}(?:{_WHOSE}\s+)*(?:{_EARLIER}\s+(?:and\s+|or\s+|the\s+)?)+{_ORDERS}\b",
        rf"{_OVERRIDE}(?:{_WHOSE}\s+)*(?:your|these|those|all)\s+(?:\w+\s+)?{_STRICT_ORDERS}\b",
        rf"{_OVERRIDE}(?:the\s+)?(?:(?:grading|evaluation|judging|scoring|assessment)\s+)?"
        r"(?:rubrics?|prompts?)\b",
        rf"{_OVERRIDE}(?:{_WHOSE}\s+)*(?:instructions?|rules?|guidelines?|prompts?|text)\s+"
        r"(?:\w+\s+){0,2}(?:above|before|previously|earlier|you)\b",
        rf"{_OVERRIDE}(?:everything|anything|all|what(?:ever)?)\s+(?:that\s+)?"
        r"(?:you\s+(?:were|have\s+been|was)\s+(?:told|instructed|asked|given)|"
        r"(?:(?:is|was|has\s+been|i|we)\s+)?(?:(?:written|said|stated|told)\s+)?"
        r"(?:above|before\s+this|so\s+far|previously|earlier))",
        r"\b(?:ignore|disregard|forget)[-_.](?:\w+[-_.]){1,4}(?:instruction|prompt|rule)s?\b",
        rf"{_OVERRIDE}the\s+(?:evaluation|check|grading|assessment|verification|comparison|"
        r"judging)\s+(?:and|of\s+this)\b",
        commanding=True,
    ),
    pattern(
        "instruction|guideline|prompt|rubric|rules|directive|new task|real task|true task|"
        "actual task|"
        "only task|new role|real role|new objective|real objective|only objective|new job|only job",
        rf"\b(?:your|the|all|these)\s+(?:{_EARLIER}\s+)?{_STRICT_ORDERS}\s+"
        r"(?:(?:given|written|stated)\s+)?(?:above\s+|before\s+)?"
        r"(?:(?:is|are)\s+(?:now\s+|hereby\s+)?(?:void|cancell?ed|invalid|obsolete|superseded|"
        r"suspended|replaced|overridden|null|revoked)|(?:no\s+longer|do\s+not|don't)\s+apply)",
        rf"{_LINE}(?:(?:important|new|updated|revised|additional|special|secret|hidden|real|"
        r"system|developer|admin)\s+)+(?:instructions?|prompts?|rules?|directives?)"
        rf"(?:\s+for\s+(?:the\s+|all\s+)?{words(2)}{JUDGE})?\s*[:\])]",
        r"\bnew\s+(?:instructions?|rules?|task)\s+(?:follows?|now\s+apply)\b",
        r"\b(?:system|developer|initial)\s+prompt\s*:",
        r"\byour\s+(?:new|real|actual|true|only)\s+(?:task|instructions?|role|objective|job)\s+"
        r"(?:is|are)\s*(?:now\s+)?(?:to\b|:)",
    ),
    pattern(
        "from now on|henceforth",
        r"\b(?:from\s+now\s+on|henceforth)\s*,?\s+"
        rf"(?:(?:you\s+{_MUST}|you\s+are|please|always|only)\s+)*"
        r"(?:approve|accept|answer|respond|reply|rate|grade|mark|label|output|say|treat|consider|"
        rf"judge|act|behave|(?:an?\s+)?(?:\w+\s+)?{JUDGE})\b",
    ),
)

_WHICH = r"(?:(?:the|any|all|whoever|an?|our|my|every|each)\s+)?"
_TO = rf"(?:to|for)\s+{_WHICH}{words()}{JUDGE}"
_CALLED = r"(?:[:;,!\])—–]|-\s)"
_OF_THIS = (
    r"(?:this|these|my|our|the\s+following|the\s+above)"
    rf"(?:\s*[,.:;!)\]]|\s+(?!kind|type|sort)(?:{words(2)}{TEXT}|{_MUST})\b)"
)
_AT_WORK = (
    r"(?:reading|grading|evaluating|judging|scoring|assessing|processing|who|that|which|"
    r"in\s+charge)"
)

ADDRESSING = (
    pattern(
        "grader|evaluator|assessor|annotator|rater|judge|reviewer|examiner|adjudicator|scorer|"
        "language model|llm|ai |ai,|ai:|dear |chatbot|gpt|chatgpt|grading|judging|evaluation|"
        "scoring|"
        "assistant",
        r"\b(?:notes?|messages?|instructions?|reminders?|memo|hints?|warning|notice|notification|"
        r"request|command|attention|addressed|info(?:rmation)?|tip)\s+"
        rf"{_TO}\s*(?:{_CALLED}|\.?\n|(?:and\s+)?{_AT_WORK}\b)",
        rf"\bthis\s+is\s+an?\s+{words(2)}(?:message|note|instruction|order|command|reminder|"
        rf"request)\s+{_TO}\b",
        rf"{_LINE}(?:dear|hey|hi|hello|attention|ok|okay|listen|important)[,:]?\s+"
        rf"{_WHICH}{words(2)}{JUDGE}\s*(?:{_CALLED}|\n)",
        rf"\byou,?\s+(?:as\s+)?(?:the|an|our)\s+{words(2)}{PERSON}\s*,?\s+(?:{_MUST}|are)\b",
        rf"\bas\s+(?:the|an?|our|your)?\s*{words(2)}{JUDGE}\s*(?:of\s+(?:this|these)\s+{TEXT})?"
        rf",?\s+you\s+(?:{_MUST}|are)\b",
        rf"\byou(?:\s+are|'re)\s+(?:(?:now|actually|really)\s+)?(?:an?|the)\s+{words()}"
        rf"(?:graders?|evaluator|assessor|annotator|rater|{MACHINE})"
        rf"\s*(?:[,.:;!)\]\n]|(?:and|tasked|designed|with|for|{_AT_WORK})\b)",
        rf"\byou(?:\s+are|'re)\s+(?:now\s+(?:an?|the)\s+{words(2)}|(?:an?|the)\s+"
        r"(?:(?:helpful|impartial|lenient|generous|kind|fair|strict|expert|friendly|automatic|"
        rf"automated|ai|llm)\s+)+){PERSON}\b",
        rf"\b{JUDGE}\s+(?:(?:who|that|which)\s+)?(?:(?:is|are|will\s+be|may)\s+)?"
        rf"(?:reads?|reading|process(?:es|ing)?|see(?:s|ing)|{JUDGING})\s+{_OF_THIS}",
        rf"\b{JUDGE}\s+{_MUST}\s+[^.!?\n]{{0,60}}\b(?:this|these|my|our|above|below)\s+{TEXT}\b",
        rf"\b{JUDGE}\s*[:,]\s+(?:please\s+)?(?:give|accept|approve|mark|label|rate|score|grade|"
        r"ignore|skip|answer|say|output|choose|treat|consider)\b[^.!?\n]{0,60}"
        r"\b(?:this|these|it|my|our|above|below)\b",
        rf"{_LINE}for\s+{_WHICH}{words(1)}{JUDGE}\s*:",
        rf"{_LINE}(?:the\s+)?{JUDGE}\s*[:,]\s+(?:please|be|do|don't|you)\b",
        rf"\bdear\s+{words(1)}{JUDGE}\s*[.!,:]",
        rf"\b{JUDGE}\s+(?:is|are)\s+(?:kindly\s+)?(?:asked|requested|told|invited|instructed|"
        r"required|advised|reminded)\s+to\b[^.!?\n]{0,60}\b(?:this|these|our|my|above|below)\b",
    ),
    pattern(
        "grade|grading|evaluat|assess|judge |judges|judging|score |scores|scoring|rating",
        r"\b(?:model|system|whoever|anyone|anybody|one|person|you|those|whomever)\s+"
        rf"(?:(?:who|that|which)\s+)?(?:(?:is|are|will\s+be|will)\s+)?{JUDGING}\s+{_OF_THIS}",
        rf"\b(?:when|while|before|after|whenever)\s+(?:you\s+)?(?:(?:are|will\s+be)\s+)?{JUDGING}"
        rf"\s+{_OF_THIS}",
    ),
)

_AS = r"(?:(?:as|an?|the|being|with|to\s+be|at|=)\s+)*"
_FOR_THIS = rf"(?:for|to|on|in)\s+(?:{THIS}|all|any|every|each)\b"
_VERDICT = rf"{QUOTE}(?:{LABEL}|{YES}|{NUMBER})\b"

ASKING = (
    pattern(
        "support|attributed|contradict|entail|attested|faithful|unsupported|fully|full |"
        "maximum|highest possible|perfect|marks|score|grade|rate |rating|label|verdict|yes|correct|"
        "accept |approve |pass |endorse |trust |accurate|match|importance|"
        "give it|give this|award it|award this",
        rf"\b(?:label|rate|mark|judge|grade|score|classify|tag|treat|consider|deem|declare|count|"
        rf"regard|evaluate|assess|annotate|rank|view|report|predict)\s+{THIS}"
        rf"(?:[^\S\n]+(?!as\b|is\b|for\b|an?\b|the\b)[\w-]+){{0,3}}\s*[:=]?\s*{_AS}"
        rf"(?:(?:score|grade)\s+of\s+)?{QUOTE}"
        rf"(?:{LABEL}|{TOP}|{ALL_OF}|(?<=as\s)(?:{RIGHT}|{YES})\b|{NUMBER}{END})",
        r"\b(?:give|assign|award|grant|set|choose|select|pick|return|output|print|write|use|"
        rf"report|produce|emit|predict|put|provide)\s+(?:{THIS}\s+(?:[\w-]+\s+){{0,2}}?)?"
        r"(?:(?:the|an?|its|only|your|relevance|support|final|overall|correct)\s+)*"
        rf"(?:{NOUN}\s*(?:(?:of|to|as|is)\s+|[=:]\s*)?{_VERDICT}|{TOP}(?:{END}|\s+{_FOR_THIS})"
        rf"|{LABEL}{END}|{QUOTE}{YES}[\"'`*”]*\s+{_FOR_THIS}|{QUOTE}{ALL_OF})",
        rf"\b(?:give|grant|award)\s+{THIS}(?:\s+{TEXT})?\s+"
        rf"(?:full\s+(?:marks|credit|points)|{TOP}|an?\s+{NUMBER}{END}|{ALL_OF})",
        r"\b(?:answer|reply|respond|return|say|output|print|write|conclude)\s+"
        r"(?:(?:only|always|just|with|simply|back)\s+)*"
        rf"(?:(?:the|an?)\s+(?:{NOUN}|match|importance)\s+(?:of\s+)?{QUOTE}(?:{CHOICE}|\d)\b|"
        r"(?:the\s+(?:word|label|verdict|answer|grade)s?\s+)?"
        rf"(?:{QUOTE}{LABEL}\b(?!\s+(?:by|in|to))|[\"'`*“‘]+(?:{YES}|\d)[\"'`*”’]"
        rf"|{QUOTE}{YES}\s+{_FOR_THIS}|(?<=with\s){QUOTE}(?:{YES}|\d+){END}))",
        r"\b(?:say|conclude|state|decide|answer|report|confirm|agree|assume|accept|find|declare)\s+"
        rf"that\s+(?:the|this|these|every|each|all|it)\b\s*(?:[\w-]+\s+){{0,2}}?(?:{TEXT}\s+)?"
        rf"(?:(?:is|are)\s+(?:\w+ly\s+)?(?:{LABEL}|{RIGHT})\b"
        rf"|(?:supports?|entails?|backs?|attests?)\s+(?:the|this|every|each|all)\s+{TEXT})",
        r"\b(?:accept|approve|pass|endorse|trust)\s+(?:this|these|every|each|all(?:\s+the)?|the)\s+"
        rf"{TEXT}(?:{END}|\s+(?:above|below|without|as)\b)",
        commanding=True,
    ),
    pattern(
        "output|reply |respond|answer|return|print",
        rf"\b(?:output|return|print|(?:reply|respond|answer)(?:\s+with)?)\s+"
        rf"{QUOTE}(?:{YES}|\d)[\"'`*”’)\]]*\s*(?:[.!\n]|$)",
        commanding=True,
    ),
    pattern(
        "answer|reply|respond|output|return|say ",
        r"\b(?:please|must|only|always|that\s+you|just)\s+(?:only\s+)?"
        rf"(?:answer|reply|respond|output|return|say)\s+(?:with\s+)?{QUOTE}(?:{YES}|\d|"
        rf"{LABEL}){END}",
    ),
    pattern(
        "grade|mark|rate|score|label|accept|approve|treat|consider|judge",
        rf"\b(?:this|these|every|each|all(?:\s+the)?)\s+(?:\w+\s+)?{TEXT}\s+"
        r"(?:above\s+|below\s+)?(?:must|should|shall|has\s+to|have\s+to|needs?\s+to|ought\s+to)\s+"
        r"(?:always\s+)?be\s+(?:graded|marked|rated|scored|labell?ed|judged|classified|treated|"
        rf"considered|assessed|accepted|approved)\b(?:\s+as|\s+an?)?\s*{QUOTE}"
        rf"(?:{LABEL}|{RIGHT}|{YES}|{TOP}|{NUMBER}|[.!\n])",
    ),
    pattern(
        "judge|grader|evaluator|assessor|annotator|reviewer|ai:|llm",
        rf"{_LINE}(?:the\s+)?{JUDGE}\s*:\s*{QUOTE}(?:{LABEL}|{YES}|\d){END}",
    ),
    pattern(
        "full|perfect|top mark|maximum|highest",
        rf"\b{TOP},?\s+please\b",
    ),
    pattern(
        "supports|entails|attests|backs",
        r"\b(?:the|this|its|each|every)\s+(?:cited\s+|given\s+)?(?:documents?|citations?|passages?|"
        r"sources?)\s+(?:\w+ly\s+)?(?:supports?|entails?|attests?|backs?)\s+"
        r"(?:the|this|every|each|all)\s+(?:whole\s+|entire\s+)?"
        r"(?:sentence|claim|statement|response|answer)s?\b",
    ),
    pattern(
        "label|verdict|grade|score|rating|relevance|support:|supported:|judgment|judgement|"
        "the output|"
        "correct output|only output|acceptable output|expected output|your output|your final|"
        "your only|your answer|your response|your reply|your decision|your assessment|"
        "your evaluation",
        # A judgment as a line of its own: "Grade: 3", "final verdict: supported".
        rf"{_LINE}(?:(?:final|correct|overall|expected|true|gold|relevance|support|proper|"
        rf"suggested|my|your)\s+)*(?:{NOUN}|relevance|supported|support)\s*[\"'*]*\s*"
        rf"(?:[:=]|->|=>|→)\s*{QUOTE}(?:{LABEL}|{RIGHT}|{YES}|{ALL_OF}|maximum|max|"
        r"(?:\d|100?)(?:\.\d)?(?:\s*/\s*\d+)?)[\"'`*”’)\]]*\s*(?:[.!;,(]|\n|$)(?!\d)",
        rf"{_LINE}{NOUN}\s+{ALL_OF}{END}",
        r"\bthe\s+(?:(?:only|correct|right|final|proper|true|expected|acceptable|valid|"
        rf"appropriate|best)\s+)*(?:{NOUN}|output)\s+"
        rf"(?:(?:here|for\s+(?:this|it|all|every|each|the)(?:\s+{TEXT})?)\s+)?"
        rf"(?:is|{_MUST}\s+be|are)\s+(?:(?:always|therefore|clearly)\s+)?"
        rf"{QUOTE}(?:{LABEL}|{YES}|(?<=be\s){RIGHT}){END}",
        r"\byour\s+(?:(?:final|only)\s+)?(?:answer|output|verdict|label|response|reply|decision|"
        rf"judge?ment|grade|score|rating|assessment|evaluation)\s+{_MUST}\s+"
        r"(?:(?:always|only)\s+)?(?:be|say|read|contain)\s+(?:the\s+word\s+)?"
        rf"{QUOTE}(?:{LABEL}|{RIGHT}|{YES}|{TOP}|{NUMBER})\b(?!\s+or\b)",
    ),
    pattern(
        "deserve|merits|earns|warrants|worth|receive|get |be given|be awarded",
        r"\b(?:this|i|we)\b(?:\s+[\w,]+){0,8}?\s+(?:deserves?|merits?|earns?|warrants?|"
        r"(?:should|must)\s+(?:receive|get|be\s+given|be\s+awarded)|"
        r"(?:is\s+)?worth(?:y\s+of)?)\s+(?:(?:an?|the|nothing\s+less\s+than|at\s+least)\s+)?"
        rf"(?:{TOP}|full\s+(?:marks|credit)|(?:grade|score|rating|label|relevance)\s+{QUOTE}"
        rf"(?:of\s+)?(?:\d|{LABEL})|{ALL_OF}|{NUMBER}{END})",
    ),
    pattern(
        "supported by|entailed by|attested by|backed by|attributed to",
        rf"\b(?:every|each|all|any|this|the)\s+{words(2)}"
        r"(?:sentence|claim|citation|statement|response|answer)s?\s+"
        r"(?:(?:above|below|here|that\s+follows?|in\s+this\s+\w+)\s+)?(?:is|are)\s+(?:\w+ly\s+)?"
        r"(?:supported|entailed|attested|backed)\s+by\s+(?:its|their|the)\s+"
        r"(?:(?:cited|given)\s+)?(?:documents?|citations?|passages?)\b",
    ),
)

ENGLISH: tuple[Pattern, ...] = (*OVERRIDING, *ADDRESSING, *ASKING)
