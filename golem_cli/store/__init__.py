"""What lives on disk: conversation files, journal, locks, settings, paths."""

from golem_cli.store.paths import Paths, resolve_paths
from golem_cli.store.store import Store
from golem_cli.store.summary import Summary
from golem_cli.store.writer import ConversationWriter

__all__ = ["ConversationWriter", "Paths", "Store", "Summary", "resolve_paths"]
