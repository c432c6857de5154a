"""The kept list of secrets that can be told by their form: one row for each kind.

Sources, looked up in December 2026: GitHub's list "Supported secret scanning patterns"
(docs.github.com/en/code-security/reference/secret-security/supported-secret-scanning-patterns), the default
rules of gitleaks (github.com/gitleaks/gitleaks, config/gitleaks.toml), AWS "IAM identifiers"
(docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html), GitLab "Token overview"
(docs.gitlab.com/security/tokens), Slack "Tokens" (docs.slack.dev/authentication/tokens), RFC 7519 (JWT),
RFC 7468 (PEM), RFC 6750 (bearer tokens) and RFC 3986 (userinfo in addresses).

A row is looser than its source where a service has changed lengths before: a key that is missed costs more
than a line too many. Every expression begins at a fixed marker and is bounded, so that a search is linear.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """One kind of secret. `kind` is what people read after "what looks like".

    `markers` are fixed strings, one of which stands where a match of `expression` begins. The group `secret`
    is the part to hide, the whole match where there is no such group. With `attached` the marker may follow
    a letter or digit directly. `opaque` asks that the secret looks random: its form alone says too little.
    `in_context` are those that what stands before them tells; where they begin and end is less sure.
    """

    kind: str
    markers: tuple[str, ...]
    expression: str
    attached: bool = False
    opaque: bool = False
    in_context: bool = False

    @property
    def regex(self) -> re.Pattern[str]:
        """The expression, compiled when it is first needed."""
        return _compiled(self.expression)


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


def _prefixed(kind: str, *prefixes: str, tail: str, opaque: bool = False) -> Pattern:
    """A token that begins with one of `prefixes`."""
    start = "|".join(map(re.escape, prefixes))
    return Pattern(kind=kind, markers=prefixes, expression=f"(?:{start}){tail}", opaque=opaque)


def _spellings(*names: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(s for name in names for s in (name, name.upper(), name.capitalize())))


_WORD: Final = r"[A-Za-z0-9]"
_URLSAFE: Final = r"[A-Za-z0-9_-]"
_ASSIGNED: Final = r"""[A-Za-z_-]{0,20}["']?[ \t]{0,8}(?:[:=]|=>|:=)[ \t]{0,8}["']?"""

PATTERNS: Final = (
    # Models
    _prefixed("an Anthropic key", "sk-ant-", tail=_URLSAFE + "{16,}"),
    _prefixed("an OpenRouter key", "sk-or-", tail=_URLSAFE + "{16,}"),
    _prefixed("an OpenAI key", "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-", tail=_URLSAFE + "{16,}"),
    _prefixed("an API key (sk-…)", "sk-", tail=_URLSAFE + "{20,}", opaque=True),
    _prefixed("a Google API key", "AIza", tail=_URLSAFE + "{30,}"),
    _prefixed("a Google OAuth token", "ya29.", "GOCSPX-", "1//0", tail=_URLSAFE + "{20,}"),
    _prefixed("a Groq key", "gsk_", tail=_WORD + "{20,}"),
    _prefixed("an xAI key", "xai-", tail=_WORD + "{20,}"),
    _prefixed("a Perplexity key", "pplx-", tail=_WORD + "{20,}"),
    _prefixed("a Fireworks key", "fw_", tail=_WORD + "{20,}", opaque=True),
    _prefixed("a Cerebras key", "csk-", tail=_WORD + "{20,}", opaque=True),
    _prefixed("a Together key", "tgp_v1_", tail=_URLSAFE + "{20,}"),
    _prefixed("an NVIDIA key", "nvapi-", tail=_URLSAFE + "{20,}"),
    _prefixed("a Replicate token", "r8_", tail=_WORD + "{20,}", opaque=True),
    _prefixed("a Hugging Face token", "hf_", "api_org_", tail=_WORD + "{20,}", opaque=True),
    # Code and packages
    _prefixed("a GitHub token", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", tail=_WORD + "{30,}"),
    _prefixed("a GitHub token", "github_pat_", tail="[A-Za-z0-9_]{20,}"),
    _prefixed(
        "a GitLab token",
        *("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-"),
        tail=r"[A-Za-z0-9_.-]{18,}",
    ),
    _prefixed("an npm token", "npm_", tail=_WORD + "{30,}"),
    _prefixed("a PyPI token", "pypi-AgE", tail=_URLSAFE + "{40,}"),
    _prefixed("a Docker token", "dckr_pat_", "dckr_oat_", tail=_URLSAFE + "{20,}"),
    # Clouds and services
    _prefixed("an AWS access key", "AKIA", "ASIA", "ABIA", "ACCA", tail=r"[A-Z2-7]{16}(?![A-Za-z0-9])"),
    Pattern(
        kind="an AWS secret key",
        markers=("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "SecretAccessKey", "secretAccessKey"),
        expression=r"[A-Za-z_]{15,24}" + _ASSIGNED + r"(?P<secret>[A-Za-z0-9/+]{40})",
        attached=True,
    ),
    Pattern(
        kind="an Azure key",
        markers=("AccountKey=", "SharedAccessKey="),
        expression=r"[A-Za-z]{10,15}=(?P<secret>[A-Za-z0-9+/]{40,}={0,2})",
        attached=True,
    ),
    _prefixed("a DigitalOcean token", "dop_v1_", "doo_v1_", "dor_v1_", tail="[a-f0-9]{40,}"),
    _prefixed("a Databricks token", "dapi", tail="[a-f0-9]{32}(?:-[0-9])?(?![A-Za-z0-9])"),
    _prefixed(
        "a Slack token",
        *("xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"),
        tail=r"[A-Za-z0-9.%-]{10,}",
    ),
    Pattern(
        kind="a webhook address",
        markers=("hooks.slack.com/", "discord.com/api/webhooks/"),
        expression=r"(?:hooks\.slack\.com/(?:services|workflows|triggers)|discord\.com/api/webhooks)/"
        r"(?P<secret>[A-Za-z0-9_/-]{20,200})",
    ),
    _prefixed("a Stripe key", "sk_live_", "sk_test_", "rk_live_", "rk_test_", tail=_WORD + "{16,}"),
    _prefixed("a webhook secret", "whsec_", tail="[A-Za-z0-9+/=]{20,}"),
    _prefixed("a SendGrid key", "SG.", tail=_URLSAFE + r"{16,80}\." + _URLSAFE + "{16,}"),
    _prefixed("a Shopify token", "shpat_", "shpca_", "shppa_", "shpss_", tail="[A-Fa-f0-9]{32}"),
    _prefixed("a Notion token", "ntn_", tail=_WORD + "{30,}"),
    _prefixed("a Linear key", "lin_api_", tail=_WORD + "{30,}"),
    _prefixed("a Vault token", "hvs.", "hvb.", tail=_URLSAFE + "{20,}"),
    _prefixed("a Tailscale key", "tskey-", tail="[A-Za-z0-9-]{16,}"),
    _prefixed("an age secret key", "AGE-SECRET-KEY-1", tail="[A-Z0-9]{30,}"),
    # Forms of many services
    Pattern(
        kind="a private key",
        markers=("-----BEGIN ",),
        expression=r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:[^-\"]|-(?!----)){0,20000}+-{5,6}END [A-Z0-9 ]{0,60}-----"
        r"|(?:[\s>|]{0,80}+[A-Za-z0-9+/=]{16,}+)*+)",
        attached=True,
    ),
    Pattern(
        kind="a JSON Web Token",
        markers=("eyJ",),
        expression=rf"eyJ{_URLSAFE}{{8,600}}+\.eyJ{_URLSAFE}{{8,}}+(?:\.{_URLSAFE}*+)?",
    ),
    Pattern(
        kind="a password in an address",
        in_context=True,
        markers=("://",),
        expression=r"""://[^\s:@/"'<>\\]{0,100}+:(?P<secret>[^\s@/"'<>\\]{1,256}+)@""",
        attached=True,
    ),
    Pattern(
        kind="a bearer token",
        in_context=True,
        markers=("Bearer ", "bearer ", "BEARER "),
        expression=r"[A-Za-z]{6} {1,4}(?P<secret>[A-Za-z0-9._~+/=-]{16,})",
        opaque=True,
    ),
    Pattern(
        kind="a password in a header",
        in_context=True,
        markers=("Basic ", "basic "),
        expression=r"[A-Za-z]{5} {1,4}(?P<secret>[A-Za-z0-9+/]{12,}={0,2})",
        opaque=True,
    ),
    Pattern(
        kind="a key or password by its name",
        in_context=True,
        markers=(
            *_spellings("api_key", "apikey", "api-key", "secret", "token", "passwd", "password"),
            *("apiKey", "ApiKey"),
        ),
        expression=r"(?i:api[_-]?key|secret|token|passwd|password)"
        + _ASSIGNED
        + r"""(?P<secret>[A-Za-z0-9!#$%&*+./:=?@^_~-]{12,200})""",
        attached=True,
        opaque=True,
    ),
)
"""Every kind; of two that match the same text the earlier row wins."""
