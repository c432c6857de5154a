"""Secrets: key-shaped strings found in text, replaced by stable placeholders. Pure rules about text."""

from golem_cli.core.secrets.data import secrets_in_data
from golem_cli.core.secrets.find import Found, find_secrets
from golem_cli.core.secrets.redact import Doubt, Redacted, redact, survivor
from golem_cli.core.secrets.survey import kinds_in

__all__ = ["Doubt", "Found", "Redacted", "find_secrets", "kinds_in", "redact", "secrets_in_data", "survivor"]
