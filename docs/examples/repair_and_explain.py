"""Repair a transcript and explain each change: `python docs/examples/repair_and_explain.py FILE`.

The repaired transcript goes to standard output, the explanation to standard error. `golem normalize` does
this and more; here is how an application of your own does it.
"""

import sys
from pathlib import Path

from golem_cli import TranscriptError, dump_messages, load_messages, normalize_history
from golem_cli.core.history import find_findings


def explain(path: Path) -> int:
    """Write the repaired transcript and say what was done; return an exit code."""
    try:
        history = load_messages(path.read_bytes())
    except (OSError, TranscriptError) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 3
    repaired, report = normalize_history(history)
    for finding in find_findings(history):
        print(f"message {finding.message}, {finding.rule}: {finding.text}", file=sys.stderr)
    print(f"{len(report.synthesized)} added, {len(report.dropped)} dropped", file=sys.stderr)
    sys.stdout.buffer.write(dump_messages(repaired))
    return 1 if report.changed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/examples/repair_and_explain.py FILE")
    sys.exit(explain(Path(sys.argv[1])))
