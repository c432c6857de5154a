"""What `normalize` and `sanitize` do to a transcript: read, clean, report, deliver."""
