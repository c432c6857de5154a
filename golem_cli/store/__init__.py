"""What lives on disk: conversation files, journal, locks, settings, paths."""
