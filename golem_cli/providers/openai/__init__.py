"""The OpenAI-compatible adapter: chat completions, whole and streamed, for every service that speaks them."""

from golem_cli.providers.openai.client import OpenAIModel, list_models

__all__ = ["OpenAIModel", "list_models"]
