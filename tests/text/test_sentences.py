"""Text cut into sentences; those that state nothing, and those that only look like it."""

from __future__ import annotations

import pytest

from tests.steps import Counted
from trecjudge.text import sentences
from trecjudge.text.sentences import split_sentences, states_nothing

# "|" marks the places at which the text is cut.
CASES = [
    pytest.param("One ends.| Two ends!| Three?", id="plain stops"),
    pytest.param("Really?!| Yes…| No...| Right.", id="several stops"),
    pytest.param("Dr. Smith met Mr. Jones vs. Mrs. Hall.| All left.", id="titles"),
    pytest.param("It has pets, e.g. cats, i.e. Felis catus.| Dogs, too.", id="e.g."),
    pytest.param("See Fig. 3 and No. 5 of vol. 2.| It shows it.", id="numbered parts"),
    pytest.param("Smith et al. (2020) found it.| Others did not.", id="et al."),
    pytest.param("Pens, ink, etc.| The rest was lost.", id="etc. at the end"),
    pytest.param("He lives in the U.S. Senate district.| It is big.", id="initialism inside"),
    pytest.param("He lives in the U.S.| The house is big.", id="initialism at the end"),
    pytest.param("J. R. R. Tolkien wrote it.| C. S. Lewis read it.", id="initials"),
    pytest.param("It costs $3.50 or 1.5 times more.| Fine.", id="decimals"),
    pytest.param("At 5 p.m. John left.| At 6 a.m. he came back.", id="time of day"),
    pytest.param("Visit example.com now.| Thanks.", id="host name"),
    pytest.param('He said "stop."| Then he left.', id="quote after the stop"),
    pytest.param("He said “stop.”| Then (he left.)| End.", id="curly quote, bracket"),
    pytest.param('"Really?" she asked.| Yes.', id="quoted question goes on"),
    pytest.param("It rose.[1]| It fell.[2][3]| End.", id="citation marks"),
    pytest.param("It rose. [1]| It fell. [2, 3]| End. [4-6]", id="citation marks after a space"),
    pytest.param("It rose [1].| Then [2] fell.", id="citation marks inside"),
    pytest.param("Made by Acme Inc. [1]| It sold.", id="citation settles an abbreviation"),
    pytest.param("A heading\n\n|Some text.", id="empty line"),
    pytest.param("Signed by J.\n\n|Next page.", id="empty line after an initial"),
    pytest.param("Wrapped\nline goes on.| Next.", id="line break inside"),
    pytest.param("Needs:\n|- one\n|- two", id="list items"),
    pytest.param("今日は晴れ。|明日は雨！|本当？", id="Japanese"),
    pytest.param("他说：“好。”|她走了。[1]|完", id="Chinese quote and citation"),
    pytest.param("هل هذا صحيح؟| نعم.| شكرا", id="Arabic"),
    pytest.param("यह सच है।| वह गया।", id="Hindi"),
    pytest.param("Он уехал.| Она осталась.", id="Russian"),
    pytest.param("no stop at all", id="no stop"),
    pytest.param("Er fährt, z. B. Busse, u. a. Züge, d. h. alles.| Gut.", id="German"),
    pytest.param("Am 3. Mai, im 19. Jahrhundert, der 1. Preis.| Gut.", id="German ordinals"),
    pytest.param("Dr. Ing. Weiß ist ca. 30, lt. S. 5.| Er lebt usw.| Er isst.", id="German titles"),
    pytest.param("Het is bijv. Utrecht, o.a. Delft, blz. 5.| Het is zo.", id="Dutch"),
    pytest.param("En 50 av. J.-C. Rome, p. ex. Lyon.| M. Le Pen, env. 300.| Il va.", id="French"),
    pytest.param("Es, p. ej. Lugo, de EE. UU.| La Sra. Paz, pág. 5.", id="Spanish"),
    pytest.param("Ad es. Roma, del sig. Rossi, ecc.| La città è sua.", id="Italian"),
    pytest.param("Это, т. е. Москва, см. стр. 5, и т. д.| Она росла.", id="Russian lists"),
    pytest.param(
        "В 1950 г. Сталин жил.| Он жил там до 1953 г.| Умер он там же.", id="Russian years"
    ),
    pytest.param("To np. Kraków, ul. Długa nr 5 itd.| To jest.", id="Polish"),
    pytest.param("To je např. Praha, č. 5, tzv. Karlův.| Je.", id="Czech"),
    pytest.param("Det är t. ex. Umeå, bl.a. Lund, kl. 9.| Det är så.", id="Swedish"),
    pytest.param("Se on esim. Oulu, n. 300 metriä.| Se on.", id="Finnish"),
    pytest.param("Bu, örn. Ankara, II. Dünya Savaşı.| Bu iyi.", id="Turkish"),
    pytest.param("قال د. أحمد ذلك.| نعم.", id="Arabic title"),
    pytest.param("डॉ. सिंह ने कहा।| वह गया।", id="Hindi title"),
    pytest.param("One.| 2. Two.| 3. Three.", id="numbers of items"),
    pytest.param("It is on p. 14 of it.| It is 5 m.| 3 boats came.", id="page, unit"),
    pytest.param("真的吗?|我不知道!|好[1].|她来3.5次.", id="Chinese with Latin stops"),
    pytest.param("ស្ពាន។| រថយន្ត។", id="Khmer"),
    pytest.param("တံတား။| ကား။", id="Burmese"),
    pytest.param("ཟམ་པ། །|མི་རྣམས།", id="Tibetan"),
    pytest.param("เปิดในปี 1931 [1]| มีรถผ่านวันละหนึ่งหมื่นคัน [2] และ [3]", id="Thai, marks"),
    pytest.param(
        "สะพานนี้เปิดใช้งานโดยนายกเทศมนตรี| สะพานนี้มีรถผ่านวันละหนึ่งหมื่นคัน และค่าซ่อมแพงมาก ดี", id="Thai, spaces"
    ),
]


@pytest.mark.parametrize("marked", CASES)
def test_split(marked: str) -> None:
    assert split_sentences(marked.replace("|", "")) == [part.strip() for part in marked.split("|")]


@pytest.mark.parametrize("text", ["", "  \n ", "\n\n"], ids=["empty", "spaces", "lines"])
def test_no_sentence(text: str) -> None:
    assert split_sentences(text) == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("...a. [1] b!\n\n- c\n 1) d.” [2]e。」f\u3000g.", id="stops of all kinds"),
        pytest.param("\n\n . . .\n- \n!", id="only stops"),
        pytest.param("x" + " " * 20_000 + "y", id="long run of spaces"),
        pytest.param("." * 20_000, id="long run of stops"),
        pytest.param("ก [1] " * 9_000, id="much Thai"),
    ],
)
def test_nothing_but_white_space_is_lost(text: str) -> None:
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())


@pytest.mark.parametrize("stops", [".", "!", "?!", "…"])
def test_several_stops_in_a_row_are_tried_once(stops: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    monkeypatch.setattr(sentences, "_BOUNDARY", Counted(sentences._BOUNDARY, tried.append))
    text = f"Causes{stops * 500}5 Effects{stops * 500}9"
    assert split_sentences(text) == [text]
    assert len(tried) == 2


def test_nothing_is_stated() -> None:
    cases = [
        "Here is a summary in 132 words:",
        "Here's a summary in 132 words:",
        "Here is a brief summary of the provided passages:",
        "Sure! Here is a concise summary in 50 words or less:",
        "Based on the provided documents, here is an answer to your question:",
        "Below is a summary of the article in 100 words.",
        "Here is a summary of the news article about the ferry within 147 words:",
        "The following is a list:",
        "I hope this helps!",
        "Let me know if you have any other questions.",
        "In conclusion,",
        "**2.",
        "### Lung Cancer Mortality",
        "**Benefits:**",
        "## Overview",
        "Certainly!",
        "Word count: 132",
        "(132 words)",
        "Here is a 132-word summary of the passage:",
        "**Key Findings**",
        "Thank you for reading.",
        "***",
        "Here are the key points:",
        "Here is a summary in 132 words: [1]",
        "There are three main reasons:",
        "Key factors include:",
        "The causes of the decline were as follows:",
        "```python\nx = 1\n```",
    ]
    wrong = [sentence for sentence in cases if not states_nothing(sentence)]
    assert not wrong


def test_something_is_stated() -> None:
    cases = [
        "Here is where Napoleon died:",
        "Here is a list of kings who died in 1745:",
        "Lyon was founded in 43 BC:",
        "The committee approved three measures:",
        "Napoleon died in exile:",
        "### Napoleon died in exile",
        "**The drug is unsafe**",
        "Overall, rents rose.",
        "In conclusion, the drug works.",
        "In summary, sales fell.",
        "Here is the church that was burned in 1745.",
        "This is a summary offence under the act.",
        "The summary was written by Quill.",
        "## 12 people died",
        "43 BC.",
        "1987",
        "I hope the minister resigns.",
        "The following is true: rents rose.",
        "This is the answer of the minister: no.",
        "Here are three ferries built in Gdansk:",
        "There are two bridges:",
        "There are two reasons for 12 deaths:",
        "The risks:  none.",
        "```\nThe bridge fell.\n```",
        "Paris.",
        "This is a list of the dead that Quill signed.",
    ]
    wrong = [sentence for sentence in cases if states_nothing(sentence)]
    assert not wrong
