"""The Anthropic adapter: Messages, whole and streamed, and its count of tokens."""

from golem_cli.providers.anthropic.client import AnthropicModel

__all__ = ["AnthropicModel"]
