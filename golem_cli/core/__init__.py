"""The pure heart: contract, codec, history passes, ports, run loop; no file, no screen, no network."""
