"""`anonymise`: codes in the place of the names of runs and teams, and the names back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trecjudge.cli.exits import print_errors
from trecjudge.cli.flags import PrintFlags
from trecjudge.cli.parameters import argument, command_with, option, several, switch
from trecjudge.cli.printing import FindingPrinter, print_json
from trecjudge.findings import plural
from trecjudge.inputs.anonymous import Anonymised, Key, anonymise, name_again


class AnonymiseFlags(PrintFlags):
    """The files, and the key that leads back."""

    files: Sequence[Path] = argument("Run files, or folders of them; with --back any files.")
    out_dir: Path = option("The folder of the new files.", ..., metavar="DIR")
    key: Path = option("The file of the codes, for you only; made where there is none.", ...)
    back: bool = switch("Put the names back, in runs and in what jobs wrote.", "--back")
    word: Sequence[str] = several(
        "Replace this name in texts too, though it may be a word; else only in fields."
    )


@command_with(AnonymiseFlags)
def anonymise_files(flags: AnonymiseFlags) -> int:
    """Give runs and teams codes in the place of names, and the names back.

    They are for judges and people who must not know whose a run is. --back restores runs byte by
    byte, and names in what was made of them.
    """
    printer = FindingPrinter(flags.quiet)
    key = Key.read(flags.key, make=not flags.back)
    if flags.back:
        done = Anonymised(name_again(flags.files, flags.out_dir, key), {})
    else:
        done = anonymise(flags.files, flags.out_dir, key, flags.word, printer)
        key.write(flags.key)
    printer.close()
    if flags.as_json:
        print_json([{"files": list(map(str, done.files)), "left_in_texts": dict(done.left)}])
    elif not flags.quiet:
        print_errors([f"{plural(len(done.files), 'file')}: {flags.out_dir}"])
        if done.left:
            names = ", ".join(f"{name} ({count})" for name, count in sorted(done.left.items()))
            print_errors([f"note: may be words, and stay in texts (--word replaces them): {names}"])
    return printer.status()
