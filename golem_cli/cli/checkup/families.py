"""The table of checks, in the order in which they are shown."""

from __future__ import annotations

from typing import Final

from golem_cli.cli.checkup.check import Family
from golem_cli.cli.checkup.configuration import configuration
from golem_cli.cli.checkup.conversations import conversations, index, trash
from golem_cli.cli.checkup.folders import folders
from golem_cli.cli.checkup.installation import installation
from golem_cli.cli.checkup.services import services

FAMILIES: Final[dict[str, Family]] = {
    "installation": installation,
    "configuration": configuration,
    "providers": services,
    "folders": folders,
    "conversations": conversations,
    "trash": trash,
    "index": index,
}
