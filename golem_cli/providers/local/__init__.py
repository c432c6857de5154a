"""The embedded model: weights from a package, an engine in a child process, a model that knows its window."""

from golem_cli.providers.local.gguf import check_gguf
from golem_cli.providers.local.model import LocalModel
from golem_cli.providers.local.weights import (
    SMOLLM2,
    Progress,
    Weights,
    default_weights,
    have_weights,
    weights_path,
)

__all__ = [
    "SMOLLM2",
    "LocalModel",
    "Progress",
    "Weights",
    "check_gguf",
    "default_weights",
    "have_weights",
    "weights_path",
]
