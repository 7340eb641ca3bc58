"""A sentence as single statements: its clauses, appositions, members of lists, when and by whom.

Only what surely is said of the same subject is cut off; where that is open, nothing is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trecjudge.judging.claims.clauses import (
    AUXILIARIES,
    FINITE,
    PREDICATES,
    WORDS,
    capitalise,
    clauses,
    end_clause,
    is_participle,
    subject_of,
    takes_object,
)

_PREPOSITIONS, _DETERMINERS = WORDS["prepositions"], WORDS["determiners"]
_OPEN, _NESTED = WORDS["open"], WORDS["nested"]
_STOPS = ".!"
_LONGEST_SUBJECT = 8
_LONGEST_MEMBER = 6
_FEWEST_MEMBERS = 3
_DENYING = re.compile(r"\b(?:no|not|never|without|none|hardly|cannot)\b|n['’]t\b", re.IGNORECASE)
# What stands in quotation marks, after a colon or between dashes is not ours to cut.
_CLOSED = re.compile(r"[\"“”«»:;—–\[\]{}]| - |(?<!\w)['‘]|\([^)]*(?:,| and )[^)]*\)")
_BARE_YEAR = re.compile(r"\d[\d,.]*%?")


def single_statements(sentence: str) -> list[str]:
    """Return a sentence as statements of one thing each; one that cannot be cut safely as it is.

    Cut are: clauses that can stand alone; what is set beside a subject between commas; the members
    of a list, each with the words before it; and "in 1931 by Ilse Brandt".
    """
    stop = sentence.rstrip()[-1:]
    plain = sentence.rstrip()
    known = stop in _STOPS and not plain.endswith("..") and re.search("[a-z]", plain)
    if not known or _CLOSED.search(plain):
        return clauses(sentence)
    main, *asides = _without_asides(*_without_last_aside(plain.rstrip(stop)))
    found = [one for whole in (main, *asides) for one in clauses(f"{whole}{stop}")]
    texts = [text for clause in found for text in _parts(clause.rstrip(stop))]
    return [end_clause(capitalise(text), stop) for text in texts] if len(texts) > 1 else found


def _parts(clause: str) -> list[str]:
    """Return the parts of a clause: both of two, when and by whom, or the members of a list."""
    both = [part for one in _of_both(clause) for part in _when_and_by_whom(one)]
    return [part for one in both for part in _members(one)]


# What is set beside a subject between commas: "X, a town, has", "X, built in 1900, has".
_LAST = re.compile(
    r"(?P<main>[^,]* (?:by|in|at|near) (?P<name>[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*)), "
    r"(?P<aside>an? [^,]+)"
)


def _without_last_aside(sentence: str) -> list[str]:
    """Return a sentence without what is said of a name at its end, then that as a sentence."""
    found = _LAST.fullmatch(sentence)
    if found is None or subject_of(found["main"]) is None:
        return [sentence]
    first, *words = found["aside"].split()[1:]
    opens = sentence.split()[0].lower() in _PREPOSITIONS | WORDS["openers"]
    doing = any(word in FINITE or word.endswith("ed") for word in words)
    if opens or doing or first in WORDS["events"] or {"and", "or"} & set(words):
        return [sentence]
    return [found["main"], f"{found['name']} is {found['aside']}"]


def _without_asides(sentence: str, *before: str) -> list[str]:
    """Return a sentence without what is set beside its subject, then that as sentences."""
    subject, *rest = _joined_dates(sentence.split(", "))
    if opened := _opened_by_participle(subject, rest):
        return [*opened, *before]
    asides = 0
    while asides < len(rest) and _is_aside(rest[asides]):
        asides += 1
    if not 0 < asides < len(rest) or not _is_name_of_one(subject):
        return [sentence, *before]
    verb = rest[asides].split()[0]
    main = ", ".join(rest[asides:])
    if not _opens_with_verb(main.split()):
        return [sentence, *before]
    told = (_told_of(subject, aside, verb) for aside in rest[:asides])
    return [f"{subject} {main}", *told, *before]


def _opens_with_verb(words: Sequence[str]) -> bool:
    """Return whether words after what is set beside a subject go on with the verb of it."""
    first, *rest = words
    after = "".join(rest[:1])
    if first.endswith("ed") and after and after not in _PREPOSITIONS:
        return True
    if first in FINITE or (first in WORDS["active"] and after in _PREPOSITIONS):
        return after != "by"  # "X, a town, led by Z, has"
    others = {"and", "or", "of"}  # "X, a town, shops of wood"
    by_form = (
        first.islower() and first.endswith("s") and first not in WORDS["openers"] | _PREPOSITIONS
    )
    by_form = by_form and not after.endswith(",") and after not in others
    return takes_object(first, after) or (
        by_form and PREDICATES.isdisjoint(rest) and len(first) > 3
    )


def _joined_dates(pieces: Sequence[str]) -> list[str]:
    """Return pieces between commas, with "May 3", "1900" as one."""
    found = list(pieces[:1])
    for piece in pieces[1:]:
        date = re.match(r"\d{4}\b", piece) and re.search(r"[A-Z][a-z]+ \d{1,2}$", found[-1])
        if date:
            found[-1] += f", {piece}"
        else:
            found.append(piece)
    return found


def _opened_by_participle(opener: str, rest: Sequence[str]) -> list[str] | None:
    """Return "Built in 1900, X has" as two sentences."""
    first, *words = opener[:1].lower() + opener[1:], *opener.split()[1:]
    first = first.split()[0] if first.split() else ""
    takes = first in WORDS["opening"] and words[:1] and words[0] in _PREPOSITIONS
    if not (takes and rest) or len(words) > _LONGEST_SUBJECT:
        return None
    main = ", ".join(rest)
    subject = subject_of(main)
    if subject is None or "," in subject or not _is_name_of_one(subject):
        return None
    verb = main[len(subject) :].split()[0]
    told = _told_of(subject, opener[:1].lower() + opener[1:], verb)
    return [main, told]


def _is_name_of_one(subject: str) -> bool:
    """Return whether words can only be one thing that something is said of.

    "The Ode of Tarn" and "the lighthouse at Orm" are; of "the author of the book" either may be
    meant.
    """
    words = subject.split()
    first = words[0].lower() if words else ""
    if (
        not 0 < len(words) <= _LONGEST_SUBJECT
        or first in _PREPOSITIONS | WORDS["openers"] | _NESTED
    ):
        return False
    if first.endswith("ly") or (first.endswith("ing") and len(words) > 1):
        return False
    small = [word for word in words[1:] if word.islower()]
    doing = any(word in FINITE or word.endswith("ed") for word in small)
    if doing or not _NESTED.isdisjoint(small) or "and" in small or "or" in small:
        return False
    places = [i for i, word in enumerate(words) if i and word in _PREPOSITIONS]
    after = words[places[0] + 1 :] if places else []
    return all(word[0].isupper() or word in ("the", *_PREPOSITIONS) for word in after) and (
        not places or bool(after)
    )


def _is_aside(piece: str) -> bool:
    """Return whether a piece between commas says something of what is before it."""
    words = piece.split()
    if len(words) < 2 or not PREDICATES.isdisjoint(words[:1]):
        return False
    if words[0] in ("which", "who"):
        return words[1] in FINITE or takes_object(words[1], "".join(words[2:3]))
    later = words[0].endswith("ly") or words[0] in ("first", "also", "once")
    done = words[1:] if later else words
    if len(done) > 1 and is_participle(done[0]) and done[1] in {"each", "every"} | _PREPOSITIONS:
        return done[0] not in WORDS["apart"]
    if words[0] not in ("a", "an", "the", "one"):
        return False
    open_ = FINITE.isdisjoint([words[-1], *words[2:3]]) and PREDICATES.isdisjoint(words)
    return open_ and words[1] not in ("same", "latter", "former", "more", "less")


_PRESENT = {"are", "have", "do", "don't"} | (WORDS["modals"] - {"did", "could", "would"})


def _told_of(subject: str, aside: str, verb: str) -> str:
    """Return what is set beside a subject as a sentence; `verb` is that of the sentence."""
    first, *rest = aside.split()
    if first in ("which", "who"):
        return f"{subject} {' '.join(rest)}"
    several = subject.split()[-1]
    many = several.islower() and several.endswith("s") and not several.endswith(("ss", "us"))
    many = (many and not verb.endswith("s")) or verb in ("are", "were", "have", "do", "don't")
    now = verb in _PRESENT or (verb.endswith("s") and verb != "was")
    done = is_participle(first) or (rest and is_participle(rest[0]))
    lasts = not done or first in WORDS["lasting"] or (bool(rest) and rest[0] in WORDS["lasting"])
    past = not now or (done and not lasts)
    return f"{subject} {('were' if many else 'was') if past else ('are' if many else 'is')} {aside}"


# When and by whom: "was cooked in 1931 by Ilse Brandt".
_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
)
_DATE = (
    r"(?:in|on|around|about|circa|before|after|since) (?:the )?(?:early |late |mid[- ])?"
    rf"(?:(?:spring|summer|autumn|winter) (?:of )?)?(?:{_MONTH} )?(?:\d{{1,2}},? )?(?:{_MONTH} )?"
    r"(?:\d{3,4}s?|\d{1,2}(?:st|nd|rd|th) century)(?: (?:BCE?|AD|CE))?"
)
_AGENT = (
    r"by (?!\w+ing\b)(?:(?:[A-Z]|(?:the|an?|its|his|her|their|two|three) )[^,]*|[a-z]+s(?= |$))"
)
_DONE = re.compile(
    r"(?P<done>.{2,}? (?:was|were|is|are|been)(?: (?:first|also|\w+ly))? (?P<participle>\w+)) "
    rf"(?:(?P<when>{_DATE}) (?P<who>{_AGENT})|(?P<who_first>{_AGENT}) (?P<when_last>{_DATE}))"
)


def _when_and_by_whom(clause: str) -> list[str]:
    found = _DONE.fullmatch(clause)
    if found is None or not is_participle(found["participle"]) or _DENYING.search(clause):
        return [clause]
    who, when = found["who"] or found["who_first"], found["when"] or found["when_last"]
    small = [word for word in who.split()[1:] if word.islower()]
    if (
        who.split()[-1] in WORDS["no_agents"]
        or re.search(" and [a-z]", who)
        or not (_PREPOSITIONS - {"of"}).isdisjoint(small)
        or not _NESTED.isdisjoint(small)
    ):
        return [clause]
    told = [f"{found['done']} {when}", f"{found['done']} {who}"]
    return told if found["when"] else told[::-1]


# Members of a list: "contains beans, wine, and thyme", "has a tower and a bell".
_ADJECTIVE = re.compile(
    r"\w+(?:ed|en|al|ic|ous|ive|ful|less|ary|able|ible|ish|ian|ese|ent|ant|ar|ing|y)"
)


def _members(clause: str) -> list[str]:
    """Return a clause with a list at its end as one for each member; itself where it is open."""
    if " and " not in clause or _DENYING.search(clause):
        return [clause]
    before, _, two = clause.rpartition(" both ")
    if before and not before.endswith(",") and _is_said_of_each(before):
        return [f"{before} {one}" for one in _of_two(two, before.split())] or [clause]
    subject = subject_of(clause)
    if subject is None or "," in subject or not _is_said_of_each(clause[len(subject) :]):
        return [clause]
    verb, _, done = clause[len(subject) :].strip().partition(" ")
    if verb in ("is", "are", "was", "were") and (events := _done_in_row(done)):
        return [f"{subject} {verb} {event}" for event in events]
    stem, rest = _stem(clause[len(subject) :].split())
    if not stem or not rest:
        return [clause]
    # "Is found in A, B, and C": only what is no place, which may be "Paris, France".
    after_preposition = stem[-1] in _PREPOSITIONS
    members = _listed(" ".join(rest), stem, after_preposition)
    start = f"{subject} {' '.join(stem)}"
    return [f"{start} {member}" for member in members] if members else [clause]


def _done_in_row(text: str) -> list[str]:
    """Return "burned in 1640", "rebuilt in 1700", "sold in 1850"; nothing if one is otherwise."""
    members = re.split(r",? and |, ", text)
    read = [member.split() for member in members]
    done = all(len(own) > 2 and is_participle(own[0]) and own[1] in _PREPOSITIONS for own in read)
    return members if done and len(members) >= _FEWEST_MEMBERS else []


def _is_said_of_each(text: str) -> bool:
    words = {word.strip(",.").lower() for word in text.split()}
    return (
        words.isdisjoint(WORDS["together"])
        and words.isdisjoint(_OPEN)
        and words.isdisjoint(_NESTED)
    )


def _stem(predicate: list[str]) -> tuple[list[str], list[str]]:
    """Return the words before the first member of a list, and the rest; nothing if it is open."""
    place = 0
    being = False
    while place < len(predicate) and (
        predicate[place] in AUXILIARIES or predicate[place] in ("be", "been")
    ):
        being = predicate[place] in ("is", "are", "was", "were", "be", "been")
        place += 1
        while place < len(predicate) and _is_adverb(predicate[place]):
            place += 1
    auxiliary = predicate[place - 1 : place]
    words = predicate[place:]
    if being:
        said = words[:1] and words[0].isalpha() and words[0] not in _DETERMINERS
        up = words[1:3] == ["up", "of"]
        if len(words) > 2 and said and (up or words[1] in _PREPOSITIONS):
            if words[1] == "to" and words[0] not in WORDS["before_to"]:
                return [], []
            place += 3 if up else 2
        return predicate[:place], predicate[place:]
    if words and words[0] in WORDS["infinitive"]:  # "helps reduce costs, waste, and noise"
        return [], []
    own = auxiliary in (["has"], ["have"], ["had"])
    if (own and words and is_participle(words[0])) or not own:
        place += 1
    if place and predicate[place - 1 : place] and predicate[place - 1].endswith(","):
        return [], []
    if predicate[place : place + 1] and predicate[place] in _PREPOSITIONS:
        if predicate[place] == "to" and predicate[place - 1] not in WORDS["before_to"]:
            return [], []
        place += 1
    return predicate[:place], predicate[place:]


def _is_adverb(word: str) -> bool:
    return word in WORDS["adverbs"] or (word.endswith("ly") and word.islower())


def _listed(text: str, stem: Sequence[str], after_preposition: bool) -> list[str]:
    """Return the members of a list; none where it is not sure that it is one of like members."""
    pieces = text.split(", ")
    last = pieces.pop()
    if last.startswith("and "):
        members = [*pieces, last.removeprefix("and ")]
    elif last.count(" and ") == 1 and " and " not in text[: -len(last)]:
        members = [*pieces, *last.split(" and ")]
    else:
        return []
    if not all(map(_may_be_member, members)) or not _are_alike(members):
        return []
    # "Can prevent damages, reduce costs, and promote peace": verbs of their own.
    if stem[0] in WORDS["modals"] and any(map(_may_open_with_verb, members[1:])):
        return []
    own = [_has_own_determiner(member) for member in members]
    if len(members) < _FEWEST_MEMBERS:
        plain = not any(word in _PREPOSITIONS - {"of"} for one in members for word in one.split())
        return members if all(own) and plain and not after_preposition else []
    if all(own):
        return members
    if own[0]:
        return _with_article(members)
    capitals = after_preposition and any(member[0].isupper() for member in members)
    # "Eats fish, a staple, and rice": one in the middle may say what is before it.
    return [] if capitals or any(own[:-1]) else _bare(members)


def _may_open_with_verb(member: str) -> bool:
    first, *rest = member.split()
    return bool(rest) and not (_has_own_determiner(member) or _is_adjective(first))


def _with_article(members: list[str]) -> list[str]:
    """Return "a singer", "writer", "actor" with an article each; nothing if that is open."""
    article, *noun = members[0].split()
    single = len(noun) == 1 and all(len(one.split()) == 1 for one in members[1:])
    if article not in ("a", "an") or not single or any(map(_is_adjective, (noun[0], *members[1:]))):
        return []
    if any(one.endswith("s") or one[0].isupper() for one in members[1:]):
        return []
    return [members[0], *(f"{'an' if one[0] in 'aeiou' else 'a'} {one}" for one in members[1:])]


def _bare(members: list[str]) -> list[str]:
    """Return members without determiners; nothing if the last may have what is of all of them."""
    words = [[word for word in one.split() if not word.endswith("ly")] for one in members]
    if any(not _PREPOSITIONS.isdisjoint(own) for own in words) or not all(words):
        return []
    *before, last = words
    if len(last) > 1 and any(len(own) == 1 for own in before):
        singles = [own[0] for own in before if len(own) == 1]
        several = all(one.endswith("s") and not one.endswith("ss") for one in singles)
        itself = _is_adjective(last[0]) and not any(map(_is_adjective, singles))
        if not (several or itself):  # "health, education, and housing services"
            return []
    return members


def _are_alike(members: Sequence[str]) -> bool:
    """Return whether members are of one kind: all doings ("baking bread"), or none."""
    doing = [member.partition(" ")[0].endswith("ing") and " " in member for member in members]
    return all(doing) or not any(doing)


def _may_be_member(member: str) -> bool:
    words = member.split()
    most = _LONGEST_MEMBER + 2 * _has_own_determiner(member)
    opener = not words or words[0] in _PREPOSITIONS or words[0] in ("and", "but", "to")
    if opener or len(words) > most or _BARE_YEAR.fullmatch(member):
        return False
    small = {word.strip(",") for word in words}
    return small.isdisjoint(PREDICATES - {"means"}) and small.isdisjoint(_OPEN | _NESTED)


def _has_own_determiner(member: str) -> bool:
    first, *rest = member.split() or [""]
    return bool(rest) and (first in _DETERMINERS or first == "the" or first[0].isdigit())


def _is_adjective(word: str) -> bool:
    return word in WORDS["adjectives"] or (word.islower() and bool(_ADJECTIVE.fullmatch(word)))


# Two of which something is said of each: "both tea and coffee".
def _of_two(text: str, stem: Sequence[str]) -> list[str]:
    one, joined, other = text.partition(" and ")
    words = other.split()
    # "Household and workplace accidents" are accidents both; "likes both to sing and to dance".
    core = one.split()[_has_own_determiner(one) :]
    alone = len(core) == 1 and not one.endswith("s")
    shared = alone and len(words) > 1 and not _has_own_determiner(other)
    shared |= one.endswith("ing") or is_participle(one.partition(" ")[0])
    single = joined and " and " not in other and "," not in text
    if not single or shared or "between" in stem or not _PREPOSITIONS.isdisjoint(words[1:]):
        return []
    if not (_may_be_member(one) and _may_be_member(other)):
        return []
    bare = _has_own_determiner(one) and not (_has_own_determiner(other) or one[0].isdigit())
    return [one, f"{one.split()[0]} {other}" if bare and other[0].islower() else other]


_ONE_OF_TWO = {"are": "is", "were": "was", "have": "has", "do": "does"}


def _of_both(clause: str) -> Iterator[str]:
    """Yield "Both tea and coffee contain caffeine" as one statement of each."""
    subject = subject_of(clause) or _before_plain_verb(clause)
    two = _of_two(subject[5:], ()) if subject and clause.startswith("Both ") else []
    predicate = clause[len(subject or "") :].strip()
    if not two or not _is_said_of_each(predicate) or _DENYING.search(predicate):
        yield clause
        return
    verb, _, rest = predicate.partition(" ")
    for one in two:
        yield capitalise(f"{one} {_of_one(verb)} {rest}".strip())


def _before_plain_verb(clause: str) -> str | None:
    """Return the subject of "Both A and B contain": the two words around "and"."""
    found = re.match(r"Both (?:the |a |an )?[\w-]+ and (?:the |a |an )?[\w-]+(?= [a-z]+ )", clause)
    return found[0] if found else None


def _of_one(verb: str) -> str:
    if verb in _ONE_OF_TWO or verb in AUXILIARIES or verb.endswith(("ed", "s")):
        return _ONE_OF_TWO.get(verb, verb)
    if verb in FINITE:
        return verb
    if verb.endswith(("sh", "ch", "x", "z", "o")):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if re.search(r"[^aeiou]y$", verb) else f"{verb}s"
