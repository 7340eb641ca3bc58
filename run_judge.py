"""Judge the output of retrieval-augmented generation systems in batch: the command line."""

import signal

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # while it starts, Ctrl-C ends it without a trace

from trecjudge.cli.main import app, cli

__all__ = ["app", "cli"]

if __name__ == "__main__":
    cli()
