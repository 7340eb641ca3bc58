"""`python -m trecjudge`: the command line, as `run_judge.py` starts it."""

import signal

if __name__ == "__main__" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # while it starts, Ctrl-C ends it without a trace

from trecjudge.cli.main import cli

if __name__ == "__main__":
    cli()
