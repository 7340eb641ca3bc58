"""LangChain, LangGraph and LangSmith: messages, states and runs of chains and agents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypedDict
from uuid import UUID

from langchain.agents import create_agent
from langchain.tools import tool
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.load import dumps
from langchain_core.messages import AIMessage, messages_to_dict
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough
from langchain_core.tracers.context import collect_runs
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langsmith import Client, evaluate
from langsmith.run_trees import RunTree
from langsmith.schemas import Example, Run

Records = list[dict[str, Any]]


class Chat(GenericFakeChatModel):
    """A model that says what it is told to, also with tools."""

    def bind_tools(self, *_: Any, **__: Any) -> Chat:
        """Return the model: it knows what to call."""
        return self


class Known(BaseRetriever):
    """Finds what a record has."""

    texts: list[str]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return _documents(self.texts)


class State(TypedDict):
    """The state of a graph that answers."""

    question: str
    context: list[Document]
    answer: str


def _documents(texts: list[str]) -> list[Document]:
    return [Document(t, metadata={"source": f"{n}.md"}) for n, t in enumerate(texts)]


def _agents(records: Records) -> Iterator[dict[str, Any]]:
    """Yield the last state of an agent that searched and answered."""
    for record in records:

        @tool(response_format="content_and_artifact")
        def search(query: str, texts: tuple[str, ...] = tuple(record["contexts"])) -> Any:
            """Search."""
            return "\n\n".join(texts), _documents(list(texts))

        call = {"name": "search", "args": {"query": "it"}, "id": "1"}
        said = iter([AIMessage("", tool_calls=[call]), AIMessage(record["answer"])])
        agent = create_agent(Chat(messages=said), tools=[search], system_prompt="Be short.")
        yield agent.invoke({"messages": [("user", record["question"])]})


def _graphs(records: Records) -> Iterator[Any]:
    """Yield the snapshot of the state of a graph that searched and answered."""
    for record in records:
        graph = StateGraph(State)
        graph.add_node("search", lambda _, r=record: {"context": _documents(r["contexts"])})
        graph.add_node("answer", lambda _, r=record: {"answer": r["answer"]})
        graph.add_edge(START, "search")
        graph.add_edge("search", "answer")
        graph.add_edge("answer", END)
        whole = graph.compile(checkpointer=InMemorySaver())
        of_thread = {"configurable": {"thread_id": "1"}}
        whole.invoke({"question": record["question"]}, of_thread)
        yield whole.get_state(of_thread)


def _runs(records: Records) -> Iterator[Any]:
    """Yield the run of a chain that searched and answered, with its child runs."""
    for record in records:
        chain = RunnablePassthrough.assign(
            context=(lambda given: given["question"]) | Known(texts=record["contexts"])
        ) | RunnablePassthrough.assign(
            answer=(lambda given: given["question"])
            | FakeListChatModel(responses=[record["answer"]])
        )
        with collect_runs() as collected:
            chain.invoke({"question": record["question"]})
        yield collected.traced_runs[0]


def _lines(path: Path, lines: Iterator[str] | list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def run_messages(records: Records, folder: Path) -> Path:
    """messages_to_dict() of an agent's messages"""
    states = _agents(records)
    lines = ({"messages": messages_to_dict(s["messages"])} for s in states)
    return _lines(folder / "messages.jsonl", (json.dumps(x, default=vars) for x in lines))


def run_list_of_messages(records: Records, folder: Path) -> Path:
    """messages_to_dict() of one agent, a file of a list"""
    said = [message for state in _agents(records) for message in state["messages"]]
    path = folder / "list.json"
    path.write_text(json.dumps(messages_to_dict(said), default=vars))
    return path


def run_agent(records: Records, folder: Path) -> Path:
    """dumps() of an agent's state"""
    return _lines(folder / "agents.jsonl", map(dumps, _agents(records)))


def run_state(records: Records, folder: Path) -> Path:
    """dumps() of a LangGraph state"""
    return _lines(folder / "states.jsonl", (dumps(s.values) for s in _graphs(records)))


def run_snapshot(records: Records, folder: Path) -> Path:
    """StateSnapshot._asdict() of LangGraph"""
    snapshots = (dumps(s._asdict()) for s in _graphs(records))
    return _lines(folder / "snapshots.jsonl", snapshots)


def run_dumped(records: Records, folder: Path) -> Path:
    """a LangGraph state, Document.model_dump()"""
    states = (json.dumps(s.values, default=lambda d: d.model_dump()) for s in _graphs(records))
    return _lines(folder / "dumped.jsonl", states)


def run_traced(records: Records, folder: Path) -> Path:
    """Run.model_dump_json() of collect_runs"""
    return _lines(folder / "runs.jsonl", (r.model_dump_json() for r in _runs(records)))


def _trees(records: Records) -> Iterator[tuple[RunTree, RunTree]]:
    """Yield the runs of a search and of the question and answer that it is part of."""
    client = Client(api_key="none", auto_batch_tracing=False)
    for record in records:
        root = RunTree(
            name="qa", inputs={"question": record["question"]}, client=client, run_type="chain"
        )
        child = root.create_child("search", run_type="retriever", inputs={"query": "it"})
        found = [{"page_content": t, "type": "Document"} for t in record["contexts"]]
        child.end(outputs={"documents": found})
        root.end(outputs={"answer": record["answer"]})
        yield child, root


def run_trees(records: Records, folder: Path) -> Path:
    """langsmith.RunTree as it is sent, a line a run"""
    runs = (run._get_dicts_safe() for pair in _trees(records) for run in pair)
    return _lines(folder / "trees.jsonl", (json.dumps(r, default=str) for r in runs))


def run_langsmith(records: Records, folder: Path) -> Path:
    """langsmith.schemas.Run.model_dump_json(), with child runs"""
    lines = []
    for child, root in _trees(records):
        inner = Run(**child._get_dicts_safe())
        whole = {**root._get_dicts_safe(), "child_runs": [inner]}
        lines.append(Run(**whole).model_dump_json())
    return _lines(folder / "langsmith.jsonl", lines)


def _experiment(records: Records) -> Any:
    """Return the results of an experiment of LangSmith that is not sent anywhere."""
    known = {r["question"]: r for r in records}
    examples = [
        Example(
            id=UUID(int=number + 1),
            dataset_id=UUID(int=99),
            inputs={"question": r["question"]},
            outputs={"answer": r["gold"]},
        )
        for number, r in enumerate(records)
    ]

    def answered(inputs: dict[str, Any]) -> dict[str, Any]:
        found = known[inputs["question"]]
        return {"answer": found["answer"], "context": _documents(found["contexts"])}

    def faithfulness(inputs: dict[str, Any]) -> float:
        return known[inputs["question"]]["score"]

    return evaluate(
        answered,
        data=examples,
        evaluators=[faithfulness],
        client=Client(api_key="none", auto_batch_tracing=False),
        upload_results=False,
    )


def run_experiment(records: Records, folder: Path) -> Path:
    """langsmith.evaluate().to_pandas().to_csv"""
    _experiment(records).to_pandas().to_csv(path := folder / "experiment.csv")
    return path


def scores_experiment(records: Records, folder: Path) -> Path:
    """langsmith.evaluate().to_pandas().to_csv"""
    _experiment(records).to_pandas().to_csv(path := folder / "experiment-scores.csv")
    return path
