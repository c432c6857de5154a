"""Load, repair and save a long history: golem's codec beside the same contract as pydantic models.

Run as `python benchmarks/codec.py`; it prints Markdown. Each row is a process of its own that reads the same
file; the time is CPU time from bytes to bytes, the memory the peak of the whole process. Pydantic is needed
for the comparison only and is no dependency of golem.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = (1_000, 10_000, 100_000, 1_000_000)
COMPARED = 100_000
ROUNDS = 3
PREFIX = "0197f5c0-7e1a-7b3c-8d2e-"


def main() -> None:
    """Print both tables."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "history.json"
        compare(path)
        grow(path)


def compare(path: Path) -> None:
    """Both sides on the same file, in turns, so that a busy moment of the machine hits both."""
    each = write_history(path, COMPARED) / COMPARED
    rows: dict[str, list[dict[str, float]]] = {"golem": [], "pydantic": []}
    for _ in range(ROUNDS):
        for side, measured in rows.items():
            measured.append(measure(side, path))
    best = {side: min(measured, key=lambda row: row["total"]) for side, measured in rows.items()}
    print(f"Load + repair + save of {COMPARED:,} messages, {each:.0f} bytes each, best of {ROUNDS}:\n")
    print("| | load CPU s | repair CPU s | save CPU s | total CPU s | peak RSS MB |")
    print("| --- | --- | --- | --- | --- | --- |")
    for side, row in best.items():
        cells = [f"{row[key]:.2f}" for key in ("load", "repair", "save", "total")]
        print(f"| {side} | {' | '.join(cells)} | {row['peak']:.0f} |")
    ours, theirs = best["golem"], best["pydantic"]
    time_ratio, peak_ratio = ours["total"] / theirs["total"], ours["peak"] / theirs["peak"]
    print(f"| ratio | | | | **{time_ratio:.2f}** (≤ 0.33) | **{peak_ratio:.2f}** (≤ 0.60) |")


def grow(path: Path) -> None:
    """Golem alone at each size: the time for one message should not depend on it."""
    print("\nGrowth (golem):\n\n| messages | total CPU s | µs per message | peak RSS MB |")
    print("| --- | --- | --- | --- |")
    for count in SIZES:
        write_history(path, count)
        rounds = 1 if count > COMPARED else ROUNDS
        row = min((measure("golem", path) for _ in range(rounds)), key=lambda row: row["total"])
        each = row["total"] / count * 1e6
        print(f"| {count:,} | {row['total']:.3f} | {each:.2f} | {row['peak']:.0f} |")


def write_history(path: Path, count: int) -> int:
    """Write `count` messages as another program would, with every 50th batch broken; the file's size."""
    with path.open("w", encoding="utf-8") as file:
        for index in range(count):
            file.write("[" if index == 0 else ",")
            json.dump(message(index), file, separators=(",", ":"), ensure_ascii=False)
        file.write("]")
    return path.stat().st_size


def message(index: int) -> dict[str, Any]:
    """One message of about 280 bytes; every fifth calls a tool, every fifth is its result."""
    turn, step = divmod(index, 5)
    stamps = {"runId": f"{PREFIX}{turn:012x}", "conversationId": f"{PREFIX}1f2a3b4c5d6e"}
    if step == 1:
        args = {"item": turn, "query": "what is it and where does it come from", "limit": 10}
        call = {"id": f"call_{turn}", "name": "lookup", "args": args}
        return {"role": "assistant", "content": "Let me look.", "toolCalls": [call], **stamps}
    if step == 2:
        content = "The item was found in the third drawer of the cabinet. " * 2
        lost = turn % 50 == 0
        identity = {"toolCallId": f"call_{turn}{'_lost' if lost else ''}", "toolName": "lookup"}
        return {"role": "tool", "content": content, **identity, **stamps}
    role = "assistant" if step == 3 else "user"
    return {
        "role": role,
        "content": f"Turn {turn}: the next one please, in two short sentences. " * 3,
        **stamps,
    }


def measure(side: str, path: Path) -> dict[str, float]:
    """Run one side in a fresh process."""
    command = [sys.executable, __file__, side, str(path)]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    row: dict[str, float] = json.loads(result.stdout)
    return row


def run(
    path: Path,
    load: Callable[[bytes], list[Any]],
    repair: Callable[[list[Any]], list[Any]],
    save: Callable[[list[Any]], bytes],
) -> None:
    """Load, repair and save once; print the CPU seconds and the peak in megabytes."""
    data = path.read_bytes()
    start = time.process_time()
    messages = load(data)
    loaded = time.process_time()
    repaired = repair(messages)
    mended = time.process_time()
    written = save(repaired)
    end = time.process_time()
    assert len(written) > len(data) * 0.9
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    seconds = {"load": loaded - start, "repair": mended - loaded, "save": end - mended, "total": end - start}
    print(json.dumps({**seconds, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit}))


def run_golem(path: Path) -> None:
    """The codec and the repair of this project."""
    from golem_cli.core.codec import dump_messages, load_messages
    from golem_cli.core.history import repair

    run(path, load_messages, repair, dump_messages)


def run_pydantic(path: Path) -> None:
    """The contract as pydantic models, unknown fields kept, and the same repair over them."""
    from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
    from pydantic.alias_generators import to_camel

    class Record(BaseModel):
        model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="allow")

    class Part(Record):
        kind: str = ""
        url: str = ""
        data: str = ""
        media_type: str = ""

    class ThinkingBlock(Record):
        text: str = ""
        signature: str = ""
        redacted: str = ""

    class ToolCall(Record):
        id: str = ""
        name: str = ""
        args: Any = None
        signature: str = ""

    class Message(Record):
        role: str
        content: str = ""
        parts: list[Part] = Field(default_factory=list)
        thinking: list[ThinkingBlock] = Field(default_factory=list)
        tool_calls: list[ToolCall] = Field(default_factory=list)
        tool_call_id: str = ""
        tool_name: str = ""
        failed: bool = False
        interrupted: bool = False
        run_id: str = ""
        conversation_id: str = ""

    adapter = TypeAdapter(list[Message])

    def repair(messages: list[Message]) -> list[Message]:
        """Pair by call id in one walk: unknown results dropped, unanswered calls closed in place."""
        owner: dict[str, int] = {}
        answered: set[tuple[int, str]] = set()
        keep = []
        for index, entry in enumerate(messages):
            if entry.role == "assistant":
                owner.update((call.id, index) for call in entry.tool_calls if call.id)
            elif entry.role == "tool":
                at = owner.pop(entry.tool_call_id, None)
                if at is None:
                    continue
                answered.add((at, entry.tool_call_id))
            keep.append((index, entry))
        repaired: list[Message] = []
        for index, entry in keep:
            repaired.append(entry)
            for call in entry.tool_calls if entry.role == "assistant" else ():
                if call.id and (index, call.id) not in answered:
                    text = "Tool call was interrupted before execution; no result was produced."
                    closing = {
                        "role": "tool",
                        "content": text,
                        "tool_call_id": call.id,
                        "tool_name": call.name,
                    }
                    repaired.append(Message.model_validate(closing))
        return repaired

    run(
        path,
        adapter.validate_json,
        repair,
        lambda messages: adapter.dump_json(messages, by_alias=True, exclude_defaults=True),
    )


if __name__ == "__main__":
    if len(sys.argv) == 3:
        (run_golem if sys.argv[1] == "golem" else run_pydantic)(Path(sys.argv[2]))
    else:
        main()
