"""Examples of each command, and the flags of the main job that most people need first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

FIRST_FLAGS = (
    "--rag-responses",
    "--rag-topics",
    "--documents",
    "--nuggets",
    "--topic",
    "--run",
    "--judge",
    "--judgments-from",
    "--workflow",
    "--set",
    "--use-env-llm",
    "--plan",
    "--max-cost",
    "--out-dir",
    "--name",
    "--report",
    "--quiet",
    "--json",
    "--version",
    "--help-all",
    "--help",
)


@dataclass(frozen=True, slots=True)
class Example:
    """A command line, and what it is for."""

    what: str
    words: str
    """The words after the program's name."""


EXAMPLES: Mapping[str, tuple[Example, ...]] = {
    "": (
        Example(
            "Judge a folder of runs without a model",
            "--rag-responses runs/ --rag-topics topics.jsonl",
        ),
        Example(
            "Two judges on two topics, with a report to browse",
            "--rag-responses runs/ --judge support citation --topic 12 13 --report",
        ),
        Example(
            "What a model would cost, before it is asked",
            "--rag-responses runs/ --use-env-llm --plan",
        ),
    ),
    "judges": (Example("Which judges there are", "judges"),),
    "prompts": (Example("Which prompts there are for citations", "prompts --program attest"),),
    "prompts show": (
        Example("A prompt as it is sent", "prompts show trec_rag25 --program attest"),
        Example("A program's own, without a schema", "prompts show attest --form chat"),
    ),
    "formats": (Example("Which formats of runs are read", "formats"),),
    "stability": (
        Example(
            "What the judge without a model favours",
            "stability --rag-responses runs/ --judge citation",
        ),
        Example(
            "Flip rates of a model on 50 responses, within a budget",
            "stability --rag-responses runs/ --use-env-llm --responses 50 --max-calls 2000",
        ),
    ),
    "init": (
        Example("Write judge.yml for the runs of a folder", "init runs/"),
        Example("Another file, replaced if it exists", "init --output mine.yml --force"),
    ),
    "schema": (Example("The schema, with your own judges", "schema"),),
    "judgments": (
        Example(
            "Citations of one run whose document does not support the sentence",
            "judgments out/default --run mine --label none",
        ),
        Example(
            "All that is unjudged, as a table", "judgments out/default --unjudged --output open.csv"
        ),
    ),
    "provenance": (
        Example(
            "What of the answers is stale by the index, for a check that runs every night",
            "provenance runs/ --index docs.index --stale --fail-stale",
        ),
        Example("Which answers rest on a document", "provenance runs/ --document doc-7"),
    ),
    "rescore": (
        Example("Write the leaderboard again, in place", "rescore out/default"),
        Example(
            "Correct the means by labels of people, into another folder",
            "rescore out/default --human labels.jsonl --out-dir corrected",
        ),
    ),
    "merge": (
        Example("The parts that eight commands judged", "merge parts --out-dir out --name runs"),
    ),
    "pairs": (
        Example("Judge pairs without a model", "pairs pairs.jsonl --output verdicts.jsonl"),
        Example(
            "Name the fields of the file",
            "pairs facts.jsonl --field sentence=claim document=evidence",
        ),
    ),
    "calibrate": (
        Example(
            "Fit to labels on pairs, then judge with the weights",
            "calibrate --labels labels.jsonl --out calibration.json",
        ),
        Example(
            "Count only the words of the runs",
            "calibrate --rag-responses runs/ --out calibration.json",
        ),
    ),
    "check": (
        Example("Would the track accept these runs?", "check runs/ --rag-topics topics.jsonl"),
        Example("Write repaired copies", "check runs/ --rag-topics topics.jsonl --fix repaired/"),
    ),
    "report": (
        Example("One HTML file of a job", "report out/default"),
        Example(
            "With the judgments that differ from those of another job",
            "report out/a --compare out/b",
        ),
    ),
    "show": (Example("One response", "show out/default --run careful --topic 11"),),
    "compare": (
        Example("Two jobs on the same runs", "compare out/words out/model"),
        Example(
            "The runs of one job against one of them, by two measures",
            "compare out/default --against baseline --measure CITATION_SUPPORT AVG_CITATIONS",
        ),
    ),
    "gate": (
        Example(
            "No run may be below 0.8",
            "gate out/default --min CITATION_SUPPORT=0.8",
        ),
        Example(
            "No run may fall by more than 0.02 since the last release",
            "gate out/default --baseline old/default --max-drop 0.02 --junit gate.xml",
        ),
    ),
    "meta-evaluate": (
        Example(
            "How far a judge orders the runs as people do",
            "meta-evaluate out/default --truth assessors.leaderboard.txt",
        ),
        Example(
            "Two coefficients, with plots",
            "meta-evaluate out/default --truth people.txt --correlation kendall tauap_b --svg plot",
        ),
    ),
    "agree": (
        Example(
            "Labels of people against those of a job",
            "agree --truth labels.jsonl --predicted out/default",
        ),
    ),
    "audit": (
        Example(
            "Fail where the judge agrees with people by chance only",
            "audit labelled.jsonl --judge citation --use-env-llm --min kappa=0.4",
        ),
    ),
    "label-next": (
        Example(
            "The fifty items that would settle the ranking best",
            "label-next out/default --budget 50 --output to-label.jsonl",
        ),
    ),
    "optimize": (
        Example(
            "What the optimiser would ask, before anything is paid",
            "optimize --truth pairs.jsonl --with gepa --use-env-llm --plan",
        ),
        Example(
            "A prompt that agrees better with labels on runs, within 500 calls",
            "optimize --truth labels.jsonl --rag-responses runs/ --with mipro --use-env-llm"
            " --max-calls 500 --out attest.json",
        ),
    ),
    "convert": (
        Example("A table for a paper", "convert out/default board.tex --to latex"),
        Example("A leaderboard as CSV", "convert out/default board.csv --to csv"),
        Example(
            "Banks of nuggets for another tool",
            "convert banks/ banks.jsonl --to nuggetizer",
        ),
    ),
    "documents": (Example("What a colleague needs", "documents pack out/default -o pack.jsonl"),),
    "documents pack": (
        Example("One small file for a colleague", "documents pack out/default -o pack.jsonl.zst"),
        Example("All jobs of a season", "documents pack out/first out/second -o season.jsonl.zst"),
    ),
    "documents check": (
        Example("Are these the right documents?", "documents check runs/ --documents corpus/"),
        Example(
            "A pack first, then a service for what it lacks",
            "documents check runs/ --documents pack.jsonl.zst 'https://example.org/doc/{docid}'",
        ),
    ),
    "nuggets": (
        Example(
            "Banks from the documents that runs cite",
            "nuggets create banks.jsonl --from-documents --rag-responses runs/",
        ),
    ),
    "nuggets create": (
        Example(
            "Banks from the documents that runs cite, by their words",
            "nuggets create banks.jsonl --from-documents --rag-responses runs/",
        ),
        Example(
            "Banks from the topics, by a model",
            "nuggets create banks/ --from-topic --rag-topics topics.jsonl --use-env-llm",
        ),
    ),
    "nuggets edit": (
        Example("A table for people", "nuggets edit banks.jsonl --to-table nuggets.tsv"),
        Example("Take the changes back", "nuggets edit banks.jsonl --from-table nuggets.tsv"),
    ),
    "index": (
        Example("Index a folder of documents", "index corpus/ --to corpus.index"),
        Example("Add to it, and remove nothing", "index new.jsonl --to corpus.index --keep-others"),
        Example("Index what runs carry", "index --from-runs runs/ --to runs.index"),
        Example(
            "Add vectors of an endpoint",
            "index corpus/ --to corpus.index --vectors endpoint --use-env-llm",
        ),
    ),
    "search": (
        Example("What an index finds", 'search corpus.index "who paid for the dam"'),
        Example(
            "A run for other tools", "search corpus.index --rag-topics topics.jsonl --trec bm25.run"
        ),
        Example(
            "When to answer at all",
            "search corpus.index --calibrate answered.jsonl --against others.jsonl",
        ),
    ),
    "generate": (
        Example(
            "A run without a model, then its check",
            "generate --index docs.index --rag-topics topics.jsonl --format rag25",
        ),
        Example(
            "Answers by a model, looked at again once",
            "generate --index docs.index --rag-topics topics.jsonl --format ragtime26 --rounds 1"
            " --use-env-llm",
        ),
    ),
    "experiment": (
        Example(
            "Variants made, judged and compared, with a report", "experiment chunks.yml --report"
        ),
        Example("What they would ask of a model", "experiment chunks.yml --use-env-llm --plan"),
    ),
    "cache": (Example("What the cache holds", "cache info"),),
    "cache info": (Example("What the cache holds", "cache info"),),
    "cache export": (
        Example("A copy for others", "cache export shared-cache"),
        Example("Only one model's replies", "cache export shared-cache --model gpt-4o-mini"),
    ),
    "cache import": (Example("Add the replies of another cache", "cache import shared-cache"),),
    "cache verify": (Example("Check that a copy is whole", "cache verify shared-cache"),),
    "cache prune": (Example("Delete replies older than 90 days", "cache prune --older-than 90"),),
}
