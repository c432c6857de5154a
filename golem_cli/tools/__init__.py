"""Tools that a model may call: file, fetch, shell."""
