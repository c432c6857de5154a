"""Commands and exit codes: the composition root."""
