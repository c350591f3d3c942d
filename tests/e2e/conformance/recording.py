"""Holding a conversation, and comparing it with the one that was recorded.

`recorded/` has what kube-apiserver 1.36.3 said, one answer in each line; `make e2e` asks a real cluster again.
"""

import asyncio
import importlib
import json
from pathlib import Path

from gpuyard_kube.servers import Server
from tests.e2e.conformance.conversation import CHECKS, JSON, conversation

HERE = Path(__file__).parent
for area in HERE.glob("check_*.py"):
    importlib.import_module(f"tests.e2e.conformance.{area.stem}")  # which enters its checks in `CHECKS`


async def record_of(server: Server, name: str, turn: asyncio.Semaphore) -> list[JSON]:
    """What a server says in one check."""
    label = name.replace("_", "-")[:40].rstrip("-")
    async with turn, conversation(server, label) as talk:
        await CHECKS[name](talk)
        return talk.record


async def records_of(server: Server, at_once: int) -> dict[str, list[JSON]]:
    """What a server says in all checks, so many of them side by side: none knows of another."""
    turn = asyncio.Semaphore(at_once)
    records = await asyncio.gather(*(record_of(server, name, turn) for name in CHECKS))
    return dict(zip(CHECKS, records, strict=True))


def recorded(name: str) -> list[JSON]:
    """What kube-apiserver said."""
    return [json.loads(line) for line in _file(name).read_text().splitlines()]


def write(name: str, record: list[JSON]) -> None:
    """Make this the record."""
    _file(name).write_text("".join(json.dumps(entry, sort_keys=True) + "\n" for entry in record))


def differing(record: list[JSON], other: list[JSON]) -> list[int]:
    """The numbers of the answers that are not the same."""
    asked = [(entry.get("asked"), entry.get("watched")) for entry in record]
    assert asked == [(entry.get("asked"), entry.get("watched")) for entry in other], (
        "other questions: record anew"
    )
    pairs = enumerate(zip(record, other, strict=True))
    return [at for at, (one, two) in pairs if json.loads(json.dumps(one)) != two]


def _file(name: str) -> Path:
    return HERE / "recorded" / f"{name}.jsonl"
