"""Run events and transcripts to Rich; untrusted text is neutralized here."""
