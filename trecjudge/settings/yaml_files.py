"""YAML files read strictly, with their place in every message."""

from __future__ import annotations

from pathlib import Path

from trecjudge.errors import WorkflowError, why
from trecjudge.settings.strict_yaml import YamlDocument, YamlFault, read_yaml, yaml_text


def read_yaml_file(path: Path, what: str) -> YamlDocument:
    """Return what a file holds; `what` it should be, for messages. Raises WorkflowError."""
    try:
        text = yaml_text(path)
    except OSError as error:
        raise WorkflowError(f"{path}: cannot be read: {why(error)}") from error
    except UnicodeDecodeError as error:
        raise WorkflowError(f"{path}: is no {what}: not text in UTF-8") from error
    try:
        return read_yaml(text)
    except YamlFault as error:
        place = f"{path}:{error.line}" if error.line else path
        raise WorkflowError(f"{place}: {error}") from error
