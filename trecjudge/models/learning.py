"""What a reply teaches of an endpoint: the form that it takes, and the tokens that it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from trecjudge.models.asking import HINT, Asking
from trecjudge.models.prompt import Prompt
from trecjudge.models.requests import Replies
from trecjudge.models.settings import LlmSettings


@dataclass(frozen=True, slots=True)
class HabitLearner:
    """Notes what replies teach, for the requests after them and for later jobs."""

    replies: Replies
    notify: Callable[[str], None]
    _looping: set[str] = field(default_factory=set)

    @property
    def _settings(self) -> LlmSettings:
        return self.replies.requests.settings

    def form(self, asking: Asking) -> None:
        """Note the form that an endpoint takes, and the one that all of them do."""
        prompt, habits = asking.request.prompt, asking.endpoint.habits
        if not isinstance(prompt, Prompt) or self._settings.structured != "auto":
            return
        name, form, shared = asking.program, prompt.form, self.replies.habits.forms
        # A reply by markers proves nothing of an endpoint that was not asked for a schema.
        if habits.forms.get(name) == form or (form == "chat" and self._may_take_schema(asking)):
            return
        habits.forms[name] = form
        if form == "chat" or name not in shared:
            shared[name] = form
        self.replies.keep_habits()

    def _may_take_schema(self, asking: Asking) -> bool:
        return asking.program not in asking.endpoint.no_schema

    def needed(self, asking: Asking) -> None:
        """Note what a good reply needed: a higher limit of tokens, or a penalty."""
        self._limit(asking)
        # Not kept for other requests: their replies must not depend on which came first.
        if asking.looped and asking.program not in self._looping:
            self._looping.add(asking.program)
            self.notify(
                f"replies of {asking.program} repeat themselves until they are cut: each such is"
                f" asked for once more ({HINT})"
            )

    def _limit(self, asking: Asking) -> None:
        habits = self.replies.habits
        if not asking.cuts or habits.limits.get(asking.program, 0) >= asking.max_tokens:
            return
        habits.limits[asking.program] = asking.max_tokens
        asking.endpoint.habits.limits[asking.program] = asking.max_tokens
        self.replies.keep_habits()
        self.notify(
            f"replies of {asking.program} are cut at {self._settings.max_tokens} tokens:"
            f" up to {asking.max_tokens} are asked for from now on (llm.max_tokens)"
        )
