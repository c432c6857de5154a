"""The adapter for OpenAI's Responses API: reasoning models that work with tools, whole and streamed."""

from golem_cli.providers.openai_responses.client import ResponsesModel

__all__ = ["ResponsesModel"]
