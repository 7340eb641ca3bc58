"""Blocks: what goes in comes out, by topic."""

from __future__ import annotations

import base64
import random
import tracemalloc
import zlib
from pathlib import Path
from typing import Any

import orjson
import pytest

from trecjudge.show.html.blocks import Block, Blocks, Packed


def unpacked(packed: bytes | Packed) -> Any:
    """Return what a browser makes of a block."""
    text = packed if isinstance(packed, bytes) else b"".join(packed)
    assert len(text) == len(packed)
    return orjson.loads(zlib.decompress(base64.b64decode(text), -zlib.MAX_WBITS))


@pytest.mark.parametrize("entries", [[], [1], [{"a": "é\u202e</script>"}, None, [2.5]]])
def test_a_block_holds_its_entries(entries: list[Any]) -> None:
    block = Block()
    for entry in entries:
        block.add(entry)
    assert (block.size, unpacked(block.pack())) == (len(entries), entries)


def test_entries_go_by_kind_and_number_of_the_topic() -> None:
    blocks = Blocks(["b", "a"])
    blocks.add("topic", "a", 1)
    blocks.add("topic", "b", 2)
    blocks.add("topic", "a", 3)
    blocks.add("findings", None, 4)
    blocks.add("topic", "unknown", 5)
    found = {name: unpacked(block) for name, block in blocks.pack().items()}
    assert found == {"topic-1": [1, 3], "topic-0": [2], "findings": [4]}


def test_repeated_text_costs_next_to_nothing() -> None:
    once, often = Block(), Block()
    text = " ".join(map(str, range(2000)))
    once.add(text)
    for _ in range(20):
        often.add(text)
    assert len(often.pack()) < 2 * len(once.pack())


def test_blocks_wait_in_their_spool_and_not_in_memory(tmp_path: Path) -> None:
    chance = random.Random(0)
    topics = list(map(str, range(20)))
    with (tmp_path / "spool").open("w+b") as spool:
        blocks = Blocks(topics, spool, most=200_000)
        tracemalloc.start()
        for number in range(400):
            blocks.add("topic", topics[number % 20], chance.randbytes(5_000).hex())
        packed = blocks.pack().values()
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 1_000_000 < sum(map(len, packed))
        assert [len(unpacked(block)) for block in packed] == [20] * 20
