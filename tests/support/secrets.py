"""Strings that look like secrets, put together here so that no file holds one."""

from __future__ import annotations

from typing import Final

TAIL: Final = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6" * 3
HEX: Final = "0a1b2c3d4e5f60718293a4b5c6d7e8f9" * 4
BASE32: Final = "ABCDEFGH234567JK"
PEM_BODY: Final = "MIIEpAIBAAKCAQEA7bq0c1d2e3f4g5h6i7j8k9l0\nm1n2o3p4q5r6s7t8u9v0w1x2y3z4A5B6"

EXAMPLES: Final[dict[str, tuple[str, str]]] = {
    "an Anthropic key": ("sk-ant-api03-" + TAIL[:80], ""),
    "an OpenRouter key": ("sk-or-v1-" + HEX[:64], ""),
    "an OpenAI key": ("sk-proj-" + TAIL[:60], ""),
    "an API key (sk-…)": ("sk-" + HEX[:32], ""),
    "a Google API key": ("AIza" + TAIL[:35], ""),
    "a Google OAuth token": ("ya29." + TAIL[:40], ""),
    "a Groq key": ("gsk_" + TAIL[:52], ""),
    "an xAI key": ("xai-" + TAIL[:80], ""),
    "a Perplexity key": ("pplx-" + TAIL[:48], ""),
    "a Fireworks key": ("fw_" + TAIL[:24], ""),
    "a Cerebras key": ("csk-" + TAIL[:48], ""),
    "a Together key": ("tgp_v1_" + TAIL[:43], ""),
    "an NVIDIA key": ("nvapi-" + TAIL[:64], ""),
    "a Replicate token": ("r8_" + TAIL[:37], ""),
    "a Hugging Face token": ("hf_" + TAIL[:34], ""),
    "a GitHub token": ("ghp_" + TAIL[:36], ""),
    "a GitLab token": ("glpat-" + TAIL[:20], ""),
    "an npm token": ("npm_" + TAIL[:36], ""),
    "a PyPI token": ("pypi-AgEIcHlwaS5vcmc" + TAIL[:60], ""),
    "a Docker token": ("dckr_pat_" + TAIL[:27], ""),
    "an AWS access key": ("AKIA" + BASE32, ""),
    "an AWS secret key": ("aws_secret_access_key = {}", TAIL[:40]),
    "an Azure key": ("DefaultEndpointsProtocol=https;AccountKey={};", TAIL[:86] + "=="),
    "a DigitalOcean token": ("dop_v1_" + HEX[:64], ""),
    "a Databricks token": ("dapi" + HEX[:32], ""),
    "a Slack token": ("xoxb-123456789012-1234567890123-" + TAIL[:24], ""),
    "a webhook address": ("https://hooks.slack.com/services/{}", "T01234567/B01234567/" + TAIL[:24]),
    "a Stripe key": ("sk_live_" + TAIL[:24], ""),
    "a webhook secret": ("whsec_" + TAIL[:32], ""),
    "a SendGrid key": ("SG." + TAIL[:22] + "." + TAIL[:43], ""),
    "a Shopify token": ("shpat_" + HEX[:32], ""),
    "a Notion token": ("ntn_" + TAIL[:46], ""),
    "a Linear key": ("lin_api_" + TAIL[:40], ""),
    "a Vault token": ("hvs." + TAIL[:90], ""),
    "a Tailscale key": ("tskey-auth-" + TAIL[:20], ""),
    "an age secret key": ("AGE-SECRET-KEY-1" + BASE32 * 3, ""),
    "a private key": (f"-----BEGIN RSA PRIVATE KEY-----\n{PEM_BODY}\n-----END RSA PRIVATE KEY-----", ""),
    "a JSON Web Token": ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + TAIL[:43], ""),
    "a password in an address": ("postgres://bob:{}@db.example.com:5432/shop", "hunter2hunter2"),
    "a bearer token": ("Authorization: Bearer {}", TAIL[:40]),
    "a password in a header": ("Authorization: Basic {}", "Ym9iOmh1bnRlcjJodW50ZXIy"),
    "a key or password by its name": ('MISTRAL_API_KEY="{}"', TAIL[:32]),
}
"""Kind → a text that holds one, with `{}` for what of it is the secret, and that; "" when it is the text."""


def example(kind: str) -> tuple[str, str]:
    """Return the text that holds a secret of `kind`, and the secret."""
    text, secret = EXAMPLES[kind]
    return (text.replace("{}", secret), secret) if secret else (text, text)


def in_full_width(text: str) -> str:
    """`text` in the forms of ASCII that are as wide as East Asian letters (Unicode, block FF00)."""
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)
