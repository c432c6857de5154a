"""The index: a cache beside the conversation files that answers lists and searches. Never the truth."""
