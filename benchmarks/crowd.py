"""Two, then eight processes that add to and fork the same conversations for a minute each.

    python -m benchmarks.crowd [--seconds 60]

Ends with an error when an update is lost or doubled, or a file is torn. Prints Markdown.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from tests.support.crowds import crowd


def main() -> None:
    """Let them loose, check, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=60)
    seconds = parser.parse_args().seconds
    print("| processes | conversations | seconds | messages | forks | lost or doubled | torn |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for processes, conversations in ((2, 1), (8, 3)):
        with tempfile.TemporaryDirectory() as folder:
            added, forks = crowd(
                Path(folder), processes=processes, seconds=seconds, conversations=conversations
            )
        print(
            f"| {processes} | {conversations} | {seconds:.0f} | {added:,} | {forks:,} | 0 | 0 |", flush=True
        )


if __name__ == "__main__":
    main()
