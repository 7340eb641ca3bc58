"""What a judge reads of a prediction."""

from __future__ import annotations

import copy
import pickle

import pytest

from trecjudge.models.model import Prediction
from trecjudge.records import ModelCall, Usage

CALL = ModelCall("p", [], "", Usage(False, 7, 3, 0.5))
PREDICTION = Prediction({"label": "full", "reason": "so", "call": "me"}, CALL)


def test_its_fields_are_attributes() -> None:
    assert (PREDICTION.label, PREDICTION.reason) == ("full", "so")
    assert {"label", "reason", "fields"} <= set(dir(PREDICTION))


def test_what_it_has_itself_comes_first() -> None:
    assert PREDICTION.call is CALL
    assert PREDICTION.fields["call"] == "me"


@pytest.mark.parametrize("name", ["labl", "score", "_private"])
def test_a_missing_one_says_which_there_are(name: str) -> None:
    with pytest.raises(AttributeError, match=f"{name!r}; .*there are: call, label, reason"):
        getattr(PREDICTION, name)
    assert not hasattr(PREDICTION, name)


def test_it_can_be_copied() -> None:
    assert copy.deepcopy(PREDICTION) == PREDICTION == pickle.loads(pickle.dumps(PREDICTION))
