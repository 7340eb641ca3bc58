"""Sentences that state nothing, and those that only look like it."""

from __future__ import annotations

from trecjudge.text.sentences import states_nothing


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
