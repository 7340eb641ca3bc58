"""Tries all commands on spoiled files: `python -m tests.fuzz --seconds 300`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.fuzz.campaign import Campaign
from tests.fuzz.kit import make


def main() -> int:
    """Run a campaign; print its counts and what is wrong; return 1 where anything is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300, help="for all cases together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--command", default="", help="one command only, such as gate")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--cases", type=int, help="so many cases at most")
    parser.add_argument("--keep", type=Path, help="the folder of cases with faults")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as made:
        kit = Path(made) / "kit"
        kit.mkdir()
        make(kit)
        campaign = Campaign(kit, given.keep or Path(made) / "cases", given.seed)
        campaign.run(given.seconds, given.command, given.first, given.cases)
    print(*campaign.faults, sep="\n")
    print(f"{campaign.counts.total()} cases of {len(campaign.counts)} commands")
    print("ended with", dict(sorted(campaign.statuses.items())))
    print(f"slowest {campaign.slowest:.1f} s, largest {campaign.largest >> 20} MB more")
    print(f"{len(campaign.faults)} faults")
    return bool(campaign.faults)


if __name__ == "__main__":
    sys.exit(main())
