"""One call for a request among all processes that share a cache: the one that claims it asks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from trecjudge.models.asking import Asking, FormFault
from trecjudge.models.cache.leases import AskedElsewhere, Leases
from trecjudge.models.prompt import Prompt
from trecjudge.models.requests import KeptReply, Replies, Request

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SingleFlight:
    """The claims of a client on its requests.

    `is_over`: nothing is asked any more, so nothing is waited for either.
    """

    replies: Replies
    leases: Leases
    is_over: Callable[[], bool]

    def look(self, request: Request) -> None:
        """Raise AskedElsewhere while another process asks: what only waits must take no place."""
        # With `refresh` no other's reply is taken.
        if self.replies.refresh or self.is_over():
            return
        if self.leases.is_elsewhere(request.key):
            raise AskedElsewhere

    def claim(self, request: Request) -> None:
        """Claim a request that is about to be sent.

        Raises AskedElsewhere if another process asks it, or has asked it since it was looked for.
        """
        # A batch is noted in the cache, request by request.
        is_ours = self.replies.requests.settings.batch or self.leases.claim(request.key)
        if self.replies.refresh:
            return
        if not is_ours:
            raise AskedElsewhere
        if self.replies.kept(request):
            raise AskedElsewhere

    async def released_after(self, request: Request, work: Callable[[], Awaitable[T]]) -> T:
        """Return the result of work, and release the request in any case."""
        try:
            return await work()
        finally:
            self.leases.release(request.key)

    def release(self, request: Request) -> None:
        """Let other processes ask a request."""
        self.leases.release(request.key)

    async def of_another(self, asking: Asking) -> KeptReply | None:
        """Return the reply that another process is asking for, None where none came.

        Raises FormFault where it was found out meanwhile that another form is to be asked for.
        """
        await self.leases.freed(asking.request.key)
        if found := self.replies.kept(asking.request):
            self._learn_form(asking)
            return found
        prompt, form = asking.request.prompt, self._learn_form(asking)
        if isinstance(prompt, Prompt) and form not in (None, prompt.form):
            raise FormFault("another process found that another form is needed")
        return None

    def _learn_form(self, asking: Asking) -> str | None:
        """Return the form that another process has found out, and let others ask in it."""
        if asking.turn is None:
            return None
        form = self.replies.learned_form(asking.request.prompt.program)
        if form is not None:
            asking.turn.end()
        return form
