"""Judge the output of retrieval-augmented generation systems in batch: the command line."""

from trecjudge.cli.main import app, cli, repeated

__all__ = ["app", "cli", "repeated"]

if __name__ == "__main__":
    cli()
