"""Small judges in the form that AutoJudge wants, for tests."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import urllib.error
import urllib.request
from typing import Any, ClassVar

from autojudge_base import (
    Leaderboard,
    LeaderboardBuilder,
    LeaderboardSpec,
    MeasureSpec,
    NuggetBanks,
    QrelRow,
    Qrels,
)
from autojudge_base.nugget_data import NuggetBank, NuggetQuestion

SPEC = LeaderboardSpec((MeasureSpec("WORDS"), MeasureSpec("KIND", str)))


def board(spec: LeaderboardSpec, rows: Any, **building: Any) -> Leaderboard:
    """Return a leaderboard of (report, values)."""
    builder = LeaderboardBuilder(spec)
    for report, values in rows:
        of = {"run_id": report.metadata.run_id, "topic_id": report.metadata.topic_id}
        builder.add(**of, values=values)
    return builder.build(**building)


class Words:
    """Counts words, and looks at one response at a time."""

    def judge(self, rag_responses: Any, rag_topics: Any, llm_config: Any, **kwargs: Any) -> Any:
        """Return the leaderboard."""
        print("counting words")
        found = [
            (r, {"WORDS": len(r.get_text().split()) * kwargs.get("times", 1), "KIND": "text"})
            for r in rag_responses
        ]
        return board(SPEC, found)


class Missing(Words):
    """Counts a topic without a response as 0 in the mean."""

    def judge(self, rag_responses: Any, rag_topics: Any, llm_config: Any, **kwargs: Any) -> Any:
        """Return the leaderboard."""
        topics = [topic.request_id for topic in rag_topics]
        found = [(r, {"WORDS": len(r.get_text().split()), "KIND": ""}) for r in rag_responses]
        return board(SPEC, found, expected_topic_ids=topics, on_missing="fix_aggregate")


class Compares:
    """Compares every response with all others on its topic; with one response it gives nothing."""

    SPEC = LeaderboardSpec((MeasureSpec("WINS"),))

    def judge(self, rag_responses: Any, rag_topics: Any, llm_config: Any, **kwargs: Any) -> Any:
        """Return the leaderboard."""
        reports = list(rag_responses)
        found = []
        for one in reports:
            others = [r for r in reports if r.metadata.topic_id == one.metadata.topic_id]
            if len(others) > 1:
                wins = sum(len(one.get_text()) > len(other.get_text()) for other in others)
                found.append((one, {"WINS": wins}))
        return board(self.SPEC, found)


class Keeps(Words):
    """Keeps what it has seen in its class, as careless code does."""

    seen: ClassVar[list[str]] = []

    def judge(self, rag_responses: Any, rag_topics: Any, llm_config: Any, **kwargs: Any) -> Any:
        """Return the leaderboard."""
        reports = list(rag_responses)
        self.seen.extend(report.metadata.run_id for report in reports)
        return board(SPEC, ((r, {"WORDS": len(self.seen), "KIND": ""}) for r in reports))


class Asks:
    """Asks a model about each response, and scores a failed call 0."""

    SPEC = LeaderboardSpec((MeasureSpec("YES"),))

    def judge(self, rag_responses: Any, rag_topics: Any, llm_config: Any, **kwargs: Any) -> Any:
        """Return the leaderboard."""
        return asyncio.run(self._judged(list(rag_responses), llm_config))

    async def _judged(self, reports: list[Any], config: Any) -> Any:
        found = [(report, {"YES": self._asked(report, config)}) for report in reports]
        return board(self.SPEC, found)

    def _asked(self, report: Any, config: Any) -> float:
        if not config.base_url or not os.environ.get("OPENAI_BASE_URL"):
            return 0.0
        content = report.get_text()
        body = {"model": config.model, "messages": [{"role": "user", "content": content}]}
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {config.api_key}"}
        url = f"{config.base_url}/chat/completions"
        request = urllib.request.Request(url, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request) as reply:
                answer = json.load(reply)
        except (urllib.error.URLError, OSError) as error:
            print(f"failed: {error}")
            return 0.0
        return float(answer["choices"][0]["message"]["content"] == "yes")


class Grades(Words):
    """Grades documents, and makes and uses nuggets."""

    SPEC = LeaderboardSpec((MeasureSpec("NUGGETS"), MeasureSpec("GRADED"), MeasureSpec("PLUS")))
    nugget_banks_type = NuggetBanks

    def create_qrels(self, rag_responses: Any, rag_topics: Any, **kwargs: Any) -> Any:
        """Return a grade for each document."""
        found = {(r.metadata.topic_id, d) for r in rag_responses for d in r.documents or ()}
        return Qrels([QrelRow(t, d, kwargs.get("grade", 1)) for t, d in sorted(found)])

    def judge(
        self,
        rag_responses: Any,
        rag_topics: Any,
        llm_config: Any,
        nugget_banks: Any = None,
        qrels: Any = None,
        *,
        plus: float,
        **kwargs: Any,
    ) -> Any:
        """Return the leaderboard."""
        banks = nugget_banks.banks if nugget_banks else {}
        found = []
        for r in rag_responses:
            bank = banks.get(r.metadata.topic_id)
            count = len(bank.nuggets_as_list()) if bank else 0
            graded = len(qrels.rows) if qrels else 0
            found.append((r, {"NUGGETS": count, "GRADED": graded, "PLUS": plus}))
        return board(self.SPEC, found)


class Makes:
    """Makes a bank for each topic."""

    nugget_banks_type = NuggetBanks

    def create_nuggets(self, rag_topics: Any, **kwargs: Any) -> Any:
        """Return banks of two nuggets."""
        return NuggetBanks.from_banks_list([self.bank(topic) for topic in rag_topics])

    def bank(self, topic: Any) -> NuggetBank:
        """Return a bank of two nuggets."""
        bank = NuggetBank(query_id=topic.request_id, title_query=topic.title)
        bank.add_nuggets([NuggetQuestion.from_lazy("", f"Why {n}?", ["Steam"]) for n in (1, 2)])
        return bank


class Lacks(Makes):
    """Makes a bank for the first topic only."""

    def create_nuggets(self, rag_topics: Any, **kwargs: Any) -> Any:
        """Return one bank."""
        return super().create_nuggets(list(rag_topics)[:1])


class Breaks:
    """Raises."""

    SPEC = SPEC

    def judge(self, **kwargs: Any) -> Any:
        """Raise an error."""
        raise ValueError(f"no luck in {threading.current_thread().name}")


class Odd:
    """Gives what is no number, and rows of nobody."""

    SPEC = LeaderboardSpec((MeasureSpec("A"), MeasureSpec("B")))

    def judge(self, rag_responses: Any, rag_topics: Any, llm_config: Any, **kwargs: Any) -> Any:
        """Return the leaderboard."""
        values = {"A": float("nan"), "B": 1}
        return board(self.SPEC, [(report, values) for report in rag_responses])
