"""Patterns of steering text in English: orders, addresses to the judge, requested verdicts."""

from __future__ import annotations

from trecjudge.text.steering.rules import Pattern, pattern
from trecjudge.text.steering.words import (
    ALL_OF,
    CHOICE,
    END,
    JUDGE,
    JUDGING,
    LABEL,
    MACHINE,
    NOUN,
    NUMBER,
    PERSON,
    QUOTE,
    RIGHT,
    TEXT,
    THIS,
    TOP,
    YES,
    words,
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
