"""What every wire format shares, as pure functions: no network, no files, no adapter."""
