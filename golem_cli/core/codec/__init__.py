"""Transcripts to bytes and back: strict about meaning, kind about bytes."""
