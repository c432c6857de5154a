"""The Gemini adapter: generateContent, whole and streamed, and its count of tokens."""

from golem_cli.providers.gemini.client import GeminiModel

__all__ = ["GeminiModel"]
