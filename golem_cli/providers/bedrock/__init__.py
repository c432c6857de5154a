"""The Bedrock adapter: Converse, whole and streamed, and its count of tokens. Needs the extra `bedrock`."""

from golem_cli.providers.bedrock.client import BedrockModel

__all__ = ["BedrockModel"]
