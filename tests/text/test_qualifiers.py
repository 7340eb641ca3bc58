""""""

from __future__ import annotations

from trecjudge.text.qualifiers import said_of_keys


def test_keys_with_a_yes_or_no() -> None:
    expected = {
        '{"petFriendly": false, "bar": true}': [("petFriendly", False), ("bar", True)],
        "{'garage': False, 'street': None}": [("garage", False), ("street", False)],
        '{"WiFi": "no"}': [("WiFi", False)],
        '{"WiFi": u\'no\', "stars": 4}': [("WiFi", False)],
        "He said: no way, it is true.": [],
        "The bar: a true story": [],
    }
    assert {
        text: [(key, yes) for _, key, yes in said_of_keys(text)] for text in expected
    } == expected
