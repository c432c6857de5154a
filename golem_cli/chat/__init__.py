"""A session: conversation, agent and settings together; knows no terminal."""
