"""History passes: plain functions, list in, list and report out."""
