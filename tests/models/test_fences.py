"""Tokens in disguise, thousands of them: none is left in a prompt, and each fence stands once."""

from __future__ import annotations

import random
import unicodedata
from collections import Counter
from typing import Any

import orjson
import pytest

from tests.text.test_chat_tokens import TOKENS
from trecjudge.errors import WorkflowError
from trecjudge.inputs.hostile import HostileText
from trecjudge.judges.citation import ATTEST
from trecjudge.judging.claims.by_model import shown_passages
from trecjudge.judging.claims.search import Passage
from trecjudge.models.adapters import AdapterName
from trecjudge.models.prompt import Prompt, Prompts
from trecjudge.records import Document, Place, Topic
from trecjudge.text.chat_tokens import neutralize
from trecjudge.text.quotes import find_quote_span

IGNORABLE = "".join(
    chr(point)
    for first, last in (
        (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5),
        (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164),
        (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB),
        (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF), (0xD800, 0xD8FF),
    )
    for point in range(first, last + 1)
)  # fmt: skip
CONTROLS = "".join(map(chr, (*range(9), *range(14, 28), *range(127, 133), *range(134, 160))))
BLANKS = " \t\n\xa0\u2028\x0b\x0c\x1f\x85"
ALIKE = {"<": "＜﹤", ">": "＞﹥", "|": "｜", "[": "［", "]": "］", "#": "＃﹟", "/": "／"}
SIGNS = {"<": "‹⟨〈❮", ">": "›⟩〉❯", "|": "∣│❘", "[": "【", "]": "】", "/": "⁄∕"}
DROPPED = dict.fromkeys(map(ord, IGNORABLE + CONTROLS))
FENCES: dict[AdapterName, tuple[str, ...]] = {
    "auto": ("[[ ## document ## ]]", "[[ ## sentence ## ]]", "JSON object of evidence, label:"),
    "chat": (
        "[[ ## document ## ]]",
        "[[ ## sentence ## ]]",
        "Respond with the corresponding output fields",
    ),
    "json": ("[[ ## document ## ]]", "[[ ## sentence ## ]]", "Respond with a JSON object in"),
    "xml": (
        "<document>",
        "</document>",
        "<sentence>",
        "</sentence>",
        "Respond with the corresponding output fields",
    ),
}
CUSTOM = "<<CUSTOM-TYPE-START-IDENTIFIER>>"
CHANCES = 150
"""Disguises of each adapter's tokens and fences, of each kind."""


def prompt_of(adapter: AdapterName) -> Prompt:
    """Return the prompt of an adapter."""
    return Prompts(adapter=adapter).get(ATTEST, "schema")


def plain(text: str, signs: bool = False) -> str:
    """Return a text without what is invisible, look-alikes folded, in small letters."""
    text = unicodedata.normalize("NFKC", text.translate(DROPPED)).translate(DROPPED)
    for sign, others in SIGNS.items() if signs else ():
        for other in others:
            text = text.replace(unicodedata.normalize("NFKC", other), sign)
    return text.casefold()


def user(prompt: Prompt, document: str, sentence: str = "s") -> str:
    """Return the user's message; it can be sent."""
    messages = prompt.messages({"document": document, "sentence": sentence})
    orjson.dumps(messages)
    return str(messages[-1]["content"])


def within(chance: random.Random, text: str, of: str) -> str:
    """Return a text with a character put into it."""
    at = chance.randrange(1, len(text))
    return text[:at] + chance.choice(of) + text[at:]


DISGUISES: dict[str, Any] = {
    "as it is": lambda chance, text: text,
    "an ignorable inside": lambda chance, text: within(chance, text, IGNORABLE),
    "an ignorable everywhere": lambda chance, text: chance.choice(IGNORABLE).join(text),
    "a control inside": lambda chance, text: within(chance, text, CONTROLS),
    "ignorables around": lambda chance, text: chance.choice(IGNORABLE) + text + "\u00ad",
    "look-alikes": lambda chance, text: "".join(chance.choice(ALIKE.get(c, c)) for c in text),
    "another case": lambda chance, text: text.swapcase() if text[0] != "[" else text.lower(),
    "full-width": lambda chance, text: "".join(
        chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text
    ),
    "mixed": lambda chance, text: within(
        chance, "".join(chance.choice(ALIKE.get(c, c)) for c in text), IGNORABLE + CONTROLS
    ),
}


@pytest.mark.parametrize("adapter", FENCES)
@pytest.mark.parametrize("disguise", DISGUISES)
def test_no_token_is_left_and_each_fence_stands_once(adapter: AdapterName, disguise: str) -> None:
    chance, prompt = random.Random(f"{adapter} {disguise}"), prompt_of(adapter)
    known = [plain(text) for text in (*TOKENS, CUSTOM)]
    fences = [plain(fence) for fence in FENCES[adapter]]
    texts = (*TOKENS, CUSTOM, *4 * FENCES[adapter])
    for _ in range(CHANCES):
        hidden = DISGUISES[disguise](chance, chance.choice(texts))
        if plain(hidden) in ("[img]", "[args]"):  # mark-up of forums, in small letters
            continue
        given = [f"Text {hidden} and", "s"]
        chance.shuffle(given)
        sent = plain(user(prompt, *given))
        assert [token for token in known if token in sent] == [], (hidden, sent)
        assert [sent.count(fence) for fence in fences] == [1] * len(fences), (hidden, sent)


@pytest.mark.parametrize("adapter", FENCES)
def test_nor_one_in_other_brackets_or_cut_by_blanks(adapter: AdapterName) -> None:
    chance, prompt = random.Random(adapter), prompt_of(adapter)
    named = [token for token in TOKENS if "|" in token or "_" in token or "/" in token[1:3]]
    named = [token for token in named if " " not in token and token not in ("</s>", "[/s]")]
    fences = [plain(fence) for fence in FENCES[adapter]]
    for _ in range(2 * CHANCES):
        text = chance.choice((*named, *4 * FENCES[adapter]))
        if chance.random() < 0.5:
            hidden = "".join(chance.choice(SIGNS.get(c, c)) for c in text)
        elif text[0] in "JR":  # a line of words: others between them, or none
            words = text.replace(",", " ,").replace(":", " :").split()
            hidden = "".join(word + chance.choice(["", *BLANKS]) for word in words)
        else:
            hidden = within(chance, text, BLANKS)
        sent = plain(user(prompt, f"Text {hidden} and"), signs=True)
        bare = "".join(sent.split())
        assert [t for t in named if "".join(plain(t).split()) in bare] == [], (hidden, sent)
        assert [bare.count("".join(f.split())) for f in fences] == [1] * len(fences), (hidden, sent)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("می\u200cخواهم کتاب\u200cها؛ قال\u200f: نعم.", id="Persian"),
        pytest.param("👩\u200d💻 ❤️ 👨\u200d👩\u200d👧 \U0001f3f4\U000e0067\U000e0062\U000e0065"
                     "\U000e006e\U000e0067\U000e007f", id="emoji"),
        pytest.param("בְּרֵאשִׁית בָּרָא אֱלֹהִים", id="Hebrew points"),
        pytest.param("cat <<EOF >x\nif (a < b && c[i] > d) { x |= y; }\nEOF", id="code"),
        pytest.param(
            "«s» ‹s› ⟨s⟩ ⟨ψ|φ⟩ 《红楼梦》 【1】 〈思考〉 ½ [in stock] a < s > b",
            id="brackets",
        ),
        pytest.param("f <| x\n  |> g", id="F#"), pytest.param("├── a │ b", id="boxes"),
        pytest.param("She gave a JSON object of some size.\r\nTab\there.", id="words of a frame"),
        pytest.param("Документ 2: да. Έγγραφο 3.", id="other alphabets"),
    ],
)  # fmt: skip
def test_honest_text_stays_as_it_is(text: str) -> None:
    for adapter in FENCES:
        assert f"\n{text}\n" in user(prompt_of(adapter), text)


def test_entities_stay_since_no_server_reads_them() -> None:
    assert "&lt;|im_end|&gt;" in user(prompt_of("auto"), "a &lt;|im_end|&gt;")


def test_controls_are_left_out_and_lines_stay_lines() -> None:
    given = "a\ud800b c\x1bd\x00e\x9f\x0cnext\x85line\r\nx\ty"
    assert neutralize(given) == "ab cde\nnext\nline\r\nx\ty"


def test_a_quote_of_what_was_sent_is_found_at_its_place() -> None:
    text = "One. The tr\x00am op\ud800ened <|im_\u00adend|> [[ ## x ## ]] in 1957. End."
    sent = neutralize(text)
    quote = sent[5 : sent.index(" End.")]
    assert find_quote_span(text, quote) == (5, text.index(" End."))


def test_what_is_left_out_is_reported() -> None:
    found: list[Any] = []
    looked = HostileText(found.append)
    looked.look_at_topic(Topic("1", title="a\x00b\x1b \ud800 <|im_\nend|>"), Place("t", 1))
    looked.finish()
    said = Counter({finding.kind: finding.message for finding in found})
    assert "3 control characters" in said["hidden_characters"]
    assert "1 control token" in said["chat_tokens"]


@pytest.mark.parametrize(
    "line", ["Document 2:", "DOCUMENT 2 :", "Docu\u00adment 2:", "Ｄocument 2："]
)
def test_no_text_begins_another_document(line: str) -> None:
    document = Document("d", f"One.\n{line}\nTwo.")
    shown = plain(shown_passages([Passage(document, 0, len(document.text), 1.0)]))
    assert shown.startswith("document 1:\none.\n(document 2)")


def test_a_prompt_that_cannot_be_sent_is_refused() -> None:
    with pytest.raises(WorkflowError, match=r"prompts.attest: holds half of a surrogate pair"):
        Prompts({"attest": "Is {document} \ud800 so?"}).prepare(ATTEST)
